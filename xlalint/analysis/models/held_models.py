"""What an object of the project holds which is a model: other models, a generator and its discriminator, say, and
what else its steps use."""

from __future__ import annotations

from typing import Final, TypeGuard

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.kinds import leaves
from ..domain.values import ApiObject, FunctionValue, Instance, OneOf, Unknown, Value
from ..files.unit import Location
from ..interpreter.frames import Frame
from ..interpreter.interface import Interpreter
from ..interpreter.setup_events import HoldModels
from ..library import api
from ..library.strategies import making_of

_OPTIMIZER: Final = "optimizer"
_PASSED: Final = (FunctionValue, ApiObject, Instance)


def report_parts(interpreter: Interpreter, frame: Frame, model: Value, node: cst.Call, kind: str) -> None:
    """Say which models, or optimizers, a model holds that is compiled or trained here, where strategies matter."""
    if not interpreter.strategies or not isinstance(model, Instance) or frame.module.is_test:
        return
    parts = [(name, part) for name, value in model.attributes.items() for part in leaves(value) if _is(part, kind)]
    if parts or (kind == _OPTIMIZER and model.cls.find("train_step") is not None):
        made = making_of(model, Location(frame.unit, node))
        interpreter.emit(
            frame,
            HoldModels,
            node,
            order=interpreter.order_of(node),
            keras=interpreter.keras_version(frame.module),
            keras_is_known=interpreter.said_keras(frame.module) is not None,
            cls=model.cls,
            made=made,
            parts=parts,
        )


def _is(value: Value, kind: str) -> TypeGuard[ApiObject]:
    return isinstance(value, ApiObject) and api.kind_of(value.api) == kind


def note_run(interpreter: Interpreter, frame: Frame, model: Value, node: cst.Call) -> None:
    """A model runs here: by now it holds all that its steps use."""
    pass_on(interpreter, model)
    report_parts(interpreter, frame, model, node, _OPTIMIZER)


def pass_on(interpreter: Interpreter, model: Value) -> None:
    """The steps that Keras runs use the functions and the objects, other models mostly, which the model was created or
    compiled with; who analyses the steps knows no one model."""
    if not isinstance(model, Instance):
        return
    shared = interpreter.canonical_instance(model.cls)
    for name, value in model.attributes.items():
        present = shared.attributes.get(name)
        if isinstance(value, _PASSED) and isinstance(present, (Unknown, OneOf, *_PASSED)):
            passed = value if isinstance(present, Unknown) else join(present, value)
            if passed != present:
                shared.attributes[name] = passed
                shared.version += 1
            interpreter.writes.restated.add(model.cls)
