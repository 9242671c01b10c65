"""Metrics that a layer's `call` updates: JAX's trainer takes their variables away before it calls the model."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Instance, Value
from ..interpreter.contexts import ContextKind
from ..interpreter.events import MutateInLoop
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel

_METRICS: Final = "keras.metrics."


def _updated(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`self.metric.update_state(..)` in `call`; one that `call` itself creates is no state of the model."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Attribute() as metric)) if _is_of_keras(owner) and _is_called(frame):
            target = frame.unit.code(metric)
            interpreter.emit(frame, MutateInLoop, node, form="update_state", inside="call", target=target)
    return None


def _is_of_keras(owner: Value) -> bool:
    return isinstance(owner, ApiObject) and owner.api.startswith(_METRICS)


def _is_called(frame: Frame) -> bool:
    """Whether `call` of a layer or model of the program runs, in a step of Keras's."""
    function, holder, context = frame.function, frame.bound, frame.context
    if function is None or function.name != "call" or not isinstance(holder, Instance):
        return False
    is_layer = any(map(holder.cls.is_keras, ("layer", "model")))
    return is_layer and context.kind is ContextKind.XLA and context.keras is not None


METHODS: Final[dict[str, MethodModel]] = {".update_state": _updated}
