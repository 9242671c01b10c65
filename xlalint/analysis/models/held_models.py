"""Models that an object of the project holds which is a model itself: a generator and its discriminator, say."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Instance, Value
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
