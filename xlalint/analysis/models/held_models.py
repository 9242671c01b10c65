"""What an object of the project holds which is a model: other models, a generator and its discriminator, say, and
functions that its steps call."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.values import ApiObject, FunctionValue, Instance, OneOf, Unknown, Value
from ..files.unit import Location
from ..interpreter.events import HoldModels
from ..interpreter.frames import Frame
from ..interpreter.interface import Interpreter
from ..library import api
from ..library.strategies import making_of


def report_parts(interpreter: Interpreter, frame: Frame, model: Value, node: cst.Call) -> None:
    """Say which models a model holds that is compiled here, where strategies matter."""
    if not interpreter.strategies or not isinstance(model, Instance) or frame.module.is_test:
        return
    parts = {name: value for name, value in model.attributes.items() if _is_model(value)}
    if parts:
        made = making_of(model, Location(frame.unit, node))
        interpreter.emit(frame, HoldModels, node, order=interpreter.order_of(node), made=made, parts=parts)


def _is_model(value: Value) -> bool:
    return isinstance(value, ApiObject) and api.kind_of(value.api) == "model"


def pass_functions_on(interpreter: Interpreter, model: Value) -> None:
    """The steps that Keras runs call the functions which the model was created or compiled with; who analyses the steps
    knows no one model."""
    if not isinstance(model, Instance):
        return
    shared = interpreter.canonical_instance(model.cls)
    for name, value in model.attributes.items():
        present = shared.attributes.get(name)
        if isinstance(value, FunctionValue) and isinstance(present, Unknown | FunctionValue | OneOf):
            passed = value if isinstance(present, Unknown) else join(present, value)
            if passed != present:
                shared.attributes[name] = passed
                shared.version += 1
            interpreter.writes.restated.add(model.cls)
