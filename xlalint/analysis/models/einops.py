"""What einops makes of tensors: as many dimensions as the right side of the pattern has (einops 0.8.1)."""

from __future__ import annotations

import re
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import as_tensor
from ..domain.operators import arithmetic_tensor
from ..domain.values import ApiObject, Array, Dependence, Sequence, Static, Structure, Tensor, Unknown, Value
from ..interpreter.contexts import NOT_TRACED
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel

_LAYERS: Final = tuple(
    f"einops.layers.{package}.{layer}" for package in ("keras", "tensorflow") for layer in ("Rearrange", "Reduce")
)
_AXIS: Final = re.compile(r"\([^()]*\)|\S+")


def _rearranged(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """`rearrange(x, "b (h w) c -> b h w c", h=8)`, `reduce`, `repeat`."""
    return _by_pattern(interpreter, frame, arguments.get(0, "tensor"), arguments.get(1, "pattern"))


def _layer(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    return ApiObject(_LAYERS[0], payload=arguments.get(0, "pattern"))


def _called(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    pattern = owner.payload if isinstance(owner, ApiObject) else None
    return _by_pattern(interpreter, frame, arguments.get(0, "inputs"), pattern)


def _by_pattern(interpreter: Interpreter, frame: Frame, given: Value | None, pattern: Value | None) -> Value | None:
    match given:
        case Sequence(items=(first, *_)):  # stacked first
            given = first
        case Sequence(element=element) if element is not None:
            given = element
    match given:
        case Array(dtype=dtype):
            return Array(dtype)
        case Unknown(names) if names and frame.context.kind not in NOT_TRACED:
            interpreter.confirm_tensor(frame, given)
            given = Tensor(Dependence.VALUE)  # what code that is traced is passed is no array
        case Structure():
            interpreter.confirm_tensor(frame, given)
            given = arithmetic_tensor(given)
    tensor = None if given is None else as_tensor(given, Dependence.STATIC)
    if tensor is None:
        return None
    rank = _rank(pattern.constant) if isinstance(pattern, Static) and isinstance(pattern.constant, str) else None
    return Tensor(tensor.dependence, tensor.dtype, rank, tensor.origin, carried=tensor.carried, varies=tensor.varies)


def _rank(pattern: str) -> int | None:
    """How many dimensions a pattern makes; None where it says not."""
    axes = _AXIS.findall(pattern.partition("->")[2])
    return None if "..." in axes else len(axes)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    **dict.fromkeys(("einops.rearrange", "einops.reduce", "einops.repeat"), _rearranged),
    **dict.fromkeys(_LAYERS, _layer),
}
METHODS: Final[dict[str, MethodModel]] = {f"{_LAYERS[0]}.__call__": _called}
