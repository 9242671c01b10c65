"""What operators make of operands: folded constants, identity, and the dtype and rank that an operand brings."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

from ...syntax import nodes as cst
from .joins import element_of, join_all
from .kinds import as_tensor, options, perhaps_array, surely_tensor, united
from .values import (
    NONE,
    STATIC,
    Api,
    ApiObject,
    Array,
    Dependence,
    Member,
    OneOf,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)
from .varying_shapes import OF_SHAPE, padded, sizes_of

# Folding is for flags and small numbers: nothing here may take time or memory.
_FOLDED: Final[dict[type[object], Callable[[Any, Any], Any]]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
# Python's names for the comparisons, when they are called as methods.
COMPARED: Final[dict[str, cst.BaseCompOp]] = {
    "__eq__": cst.Equal(),
    "__ne__": cst.NotEqual(),
    "__lt__": cst.LessThan(),
    "__le__": cst.LessThanEqual(),
    "__gt__": cst.GreaterThan(),
    "__ge__": cst.GreaterThanEqual(),
}
_LARGEST_FOLDED: Final = 1 << 40
_LONGEST_FOLDED: Final = 1000


def arithmetic_tensor(value: Value) -> Tensor | None:
    """The tensor that an operand of an operator is: a nest in arithmetic is one."""
    if type(value) is Tensor:
        return value
    for option in options(value):
        match option:
            case Tensor():
                return as_tensor(value, Dependence.STATIC) or (option if option.dependence < Dependence.VALUE else None)
            case Structure(several=False):
                return option.tensor
            case ApiObject("tf.Variable"):
                return Tensor(Dependence.VALUE, variable=True)
    return None


def joined_structures(left: Value, right: Value) -> Value | None:
    """`left + right` where tuples of tensors may be joined; None where only numbers can be added."""
    for nest, other in ((left, right), (right, left)):
        if isinstance(nest, Structure) and isinstance(other, Structure | Unknown):
            return OneOf((nest.tensor.with_(varies=()), nest))  # a sum, or two tuples joined
    if (isinstance(left, Sequence) and isinstance(right, Sequence)) or surely_tensor(left) or surely_tensor(right):
        return None
    parts = [*options(left), *options(right)]
    nests = [part for part in parts if isinstance(part, Structure)]
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if not any(isinstance(part, Sequence) for part in parts) or not (nests or tensors):
        return None
    return nests[0] if nests else Structure(tensors[0].dependence, tensors[0].origin)


def as_sure_as(result: Tensor, left: Value, right: Value) -> Value:
    """The result of an operation that may have met a Python number where a helper returned one for a static shape, or
    NumPy data where one name stands for both."""
    if any(isinstance(side, OneOf) and perhaps_array(side) for side in (left, right)):
        return OneOf((result, Array()))
    if result.dependence is Dependence.VALUE or any(map(surely_tensor, (left, right))):
        return result
    return OneOf((result, STATIC))


def dtype_of(value: Value) -> str | None:
    match value:
        case Tensor(dtype=dtype) | Array(dtype):
            return dtype
        case Static(bool()):
            return "bool"
        case Static(float()):
            return "float"
        case _:
            return None  # a Python int takes the dtype of the tensor


def rank_of(value: Value) -> int | None:
    match value:
        case Tensor(rank=rank):
            return rank
        case Static(constant) if isinstance(constant, int | float):
            return 0
        case _:
            return None


def fold(sign: type[object], a: Any, b: Any) -> Static:
    plain = (bool, int, float, str)
    act = _FOLDED.get(sign)
    if isinstance(a, Member) and isinstance(b, Member) and sign in (cst.Equal, cst.NotEqual):
        return Static((a == b) is (sign is cst.Equal))
    if act is None or not isinstance(a, plain) or not isinstance(b, plain):
        return STATIC
    if any(isinstance(side, str) for side in (a, b)) and sign not in (cst.Add, cst.Equal, cst.NotEqual):
        return STATIC
    if any(isinstance(side, int | float) and abs(side) > _LARGEST_FOLDED for side in (a, b)):
        return STATIC
    if isinstance(a, str) and isinstance(b, str) and len(a) + len(b) > _LONGEST_FOLDED:
        return STATIC
    try:
        return Static(act(a, b))
    except (TypeError, ZeroDivisionError, OverflowError):
        return STATIC


def fold_sides(sign: cst.BaseCompOp, left: Value, right: Value) -> Value:
    if isinstance(left, Static) and isinstance(right, Static) and left.known and right.known:
        if left.constant is None or right.constant is None:
            return {
                cst.Equal: Static(left.constant is right.constant),
                cst.NotEqual: Static(left.constant is not right.constant),
            }.get(type(sign), STATIC)
        return fold(type(sign), left.constant, right.constant)
    return STATIC


def identity(left: Value, right: Value, positive: bool) -> Value:
    """`left is right`: decided against None, True, False and members of an enum, where the other side is known."""
    for value, other in ((left, right), (right, left)):
        if isinstance(other, Static) and isinstance(other.constant, bool | Member | None):
            match value:
                case Static(constant) if value.known:
                    same = type(constant) is type(other.constant) and constant == other.constant
                    return Static(same is positive)
                case OneOf() if other == NONE and (is_optional_library(value) or is_size(value)):
                    return Static(not positive)
                case Static() | Unknown() | OneOf() | Structure():
                    # A nest may be an optional input that was left out.
                    return STATIC
                case ApiObject(name, None) if name.startswith("tf.python."):
                    return STATIC  # what is no part of the API may be a function, whatever the case of its name
                case _:
                    return Static(not positive)
    return STATIC


def is_optional_library(value: OneOf) -> bool:
    """Whether a value is TensorFlow or Keras, or None where that is missing: there nothing is compiled."""
    return all(option in (NONE, Api("tf"), Api("keras")) for option in value.options)


def is_size(value: OneOf) -> bool:
    """Whether a value is what `keras.ops.shape` has for a dimension: a Python int, or a scalar where it is unknown."""
    match value.options:
        case (Static() as number, Tensor(dependence=Dependence.SHAPE, dtype="int", rank=0)) | (
            Tensor(dependence=Dependence.SHAPE, dtype="int", rank=0),
            Static() as number,
        ):
            return number == STATIC
        case _:
            return False


def indexes_a_tensor(base: Structure | Unknown, index: tuple[Value, ...]) -> bool:
    """Whether only a tensor takes this index: several dimensions, an ellipsis, a mask; a nest of them takes a slice."""
    if any(isinstance(item, Tensor) and item.is_mask and item.dtype == "bool" for item in index):
        return True
    bounds = [bound for item in index if isinstance(item, Slice) for bound in (item.start, item.stop) if bound]
    if any(as_tensor(bound, Dependence.STATIC) for bound in bounds):
        return True  # a list takes numbers only
    if isinstance(base, Unknown):
        return False
    return len(index) > 1 or any(isinstance(item, Tensor) or item == Static(...) for item in index)


def index_static(constant: tuple[Any, ...] | list[Any] | str, index: tuple[Value, ...]) -> Value:
    match index:
        case (Static(int(position)),) if -len(constant) <= position < len(constant):
            return Static(constant[position])
        case _:
            return STATIC


def shapes_met(tensors: Iterable[Tensor]) -> tuple[Variation, ...]:
    """What varies of the shape of what is computed of these element by element."""
    met: tuple[Variation, ...] = ()
    for tensor in tensors:
        met = united(met, tensor.varies)
    return tuple(each for each in met if each.kind != OF_SHAPE)


def concatenate(left: Sequence, right: Sequence) -> Sequence:
    if left.items is not None and right.items is not None:
        return Sequence(left.kind, left.items + right.items)
    elements = [element for element in (element_of(left), element_of(right)) if element is not None]
    varies = padded(left.varies, right.varies)
    varies = padded(right.varies, left.varies) if varies is None else varies
    varies = united(sizes_of(left), sizes_of(right)) if varies is None else varies
    return Sequence(left.kind, None, join_all(*elements) if elements else None, varies=varies)
