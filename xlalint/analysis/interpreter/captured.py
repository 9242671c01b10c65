"""Tensors that a trace captures: made before it, they have their values in it, and XLA gets them as arguments."""

from __future__ import annotations

from typing import Any, Final

from ..domain.kinds import as_tensor
from ..domain.values import Dependence, Function, Tensor, Value
from .contexts import NOT_TRACED, ContextKind
from .events import AssertOn, BranchOn, Event, IterateOver, LoopWhile, TruthOf
from .frames import Frame

_ALWAYS_PYTHON: Final = ("comprehension if",)  # forms of a condition that AutoGraph converts nowhere
_COUNTED: Final = ("for range", "range")
_LOGIC: Final = ("and", "or", "not")


def captured(frame: Frame, value: Value) -> Value:
    """What code sees of a value that the scope around it, a module or a class has: a tensor that was made eagerly."""
    if type(value) is not Tensor or value.variable or value.bounded is not None:
        return value
    if frame.context.kind is ContextKind.HOST:
        seen = min(value.dependence, Dependence.SHAPE) if value.dependence is Dependence.CAPTURED else value.dependence
        return value.with_(eager=False, dependence=seen) if value.eager else value
    if value.eager or value.dependence is Dependence.VALUE:
        return value
    return value.with_(eager=True, dependence=Dependence.CAPTURED)


def kept(frame: Frame, value: Value) -> Value:
    """What a constructor that runs eagerly keeps of a value."""
    if not isinstance(value, Tensor) or value.variable or frame.context.kind not in NOT_TRACED:
        return value
    if frame.function is None or not constructs(frame.function):
        return value
    return value.with_(eager=True, dependence=max(value.dependence, Dependence.CAPTURED))


def constructs(function: Function) -> bool:
    """Whether a function is a constructor, or a method that only the constructor of its class calls."""
    owner = function.owner
    if function.name == "__init__" or owner is None:
        return function.name == "__init__"
    return owner.callers_of(function.name) == {"__init__"}


def is_answered(frame: Frame, kind: type[Event], content: dict[str, Any]) -> bool:
    """Whether Python asks a tensor for its truth that has its value: AutoGraph does not come between them."""
    if issubclass(kind, AssertOn):
        return _has_value(content["test"])
    if issubclass(kind, BranchOn | LoopWhile):
        asked = not frame.context.converted or content.get("form") in _ALWAYS_PYTHON
        return asked and _has_value(content["test"])
    if issubclass(kind, IterateOver) and content["form"] in _COUNTED:
        return not frame.context.converted and _has_value(content["iterable"])
    if issubclass(kind, TruthOf) and content["form"] in _LOGIC and not frame.context.converted:
        operands = content["operands"]
        asked_for = operands if len(operands) == 1 else operands[:-1]
        return all(map(_has_value, asked_for))
    return False


def _has_value(value: Value) -> bool:
    tensor = as_tensor(value, Dependence.STATIC)
    return tensor is not None and tensor.eager
