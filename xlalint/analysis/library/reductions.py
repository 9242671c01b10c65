"""Sums and means of all elements: what a result is one of, where that decides what a step under a strategy does."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import leaves
from ..domain.values import Dependence, Reduction, Static, Tensor, Value
from .call import Call

_SUMS: Final = frozenset(("keras.backend.sum", "keras.ops.sum", "tf.reduce_sum"))
_MEANS: Final = frozenset(("keras.backend.mean", "keras.ops.mean", "tf.reduce_mean"))
_KEEPING: Final = frozenset(("keras.ops.cast", "keras.ops.maximum", "tf.cast", "tf.identity", "tf.maximum"))
# What these make of the mean of a replica's part is as much one for each replica, of which the gradients are added up.
_OF_MEANS: Final = frozenset(
    f"{home}.{name}"
    for home in ("keras.backend", "keras.ops", "tf", "tf.math")
    for name in ("abs", "exp", "log", "log1p", "negative", "pow", "power", "sqrt", "square")
)
_ADDING: Final = frozenset(("keras.ops.add", "keras.ops.subtract", "tf.add", "tf.subtract"))
_ADDING_ALL: Final = "tf.add_n"
_MULTIPLYING: Final = frozenset(("keras.ops.multiply", "tf.multiply"))
_DIVIDING: Final = frozenset(("keras.ops.divide_no_nan", "tf.divide", "tf.math.divide_no_nan"))
_AVERAGING: Final = (None, Static("auto"), Static("sum_over_batch_size"))


def averages(reduction: Value | None) -> bool:
    """Whether a loss of Keras that is told this, or nothing, returns the mean of all elements."""
    return reduction in _AVERAGING


def reduction_of(call: Call, rank: int | None, dependence: Dependence) -> Reduction | None:
    """What the result of a call is, of this rank, which depends on data."""
    if rank != 0 or dependence is not Dependence.VALUE or call.location is None:
        return None
    if call.name in _SUMS or call.name in _MEANS:
        return Reduction(call.location, call.name in _MEANS)
    first, second = call.get("x", "x1", "input", "*0"), call.get("y", "x2", "*1")
    if call.name in _KEEPING:
        return first.reduction if isinstance(first, Tensor) else None
    if call.name in _OF_MEANS:
        return of_mean(first)
    if call.name in _ADDING:
        return total(first, second)
    if call.name == _ADDING_ALL:
        return total(*leaves(call.get("inputs", "*0")))
    if call.name in _MULTIPLYING:
        return weighted(first, second)
    if call.name in _DIVIDING:
        return quotient(first, second)
    return None


def of_mean(value: Value | None) -> Reduction | None:
    """What a function makes of a value that is a mean: the root of a sum is none of the whole batch's."""
    match value:
        case Tensor(reduction=Reduction(mean=True) as mean):
            return mean
        case _:
            return None


def quotient(left: Value | None, right: Value | None) -> Reduction | None:
    """What the quotient of two values is: of two sums, one of weights mostly, a mean. Who divides a mean may divide by
    the number of replicas."""
    match left, right:
        case Tensor(reduction=Reduction(location=location, mean=False)), Tensor(reduction=Reduction(mean=False)):
            return Reduction(location, True)
        case _:
            return None


def total(*parts: Value | None) -> Reduction | None:
    """What a sum or a difference is: what is added to a sum or a mean leaves it one."""
    found = _among(*parts)
    return next((it for it in found if it.mean), found[0]) if found else None


def weighted(left: Value | None, right: Value | None) -> Reduction | None:
    """What a product is: a number that stands there weights a sum or a mean, and leaves it one."""
    found = _among(left, right)
    by_number = any(isinstance(side, Static) and side.known for side in (left, right))
    return found[0] if found and by_number else None


def combined(sign: cst.BaseBinaryOp | cst.BaseAugOp, left: Value, right: Value) -> Reduction | None:
    """What arithmetic makes of sums and means."""
    match sign:
        case cst.Add() | cst.AddAssign() | cst.Subtract() | cst.SubtractAssign():
            return total(left, right)
        case cst.Multiply() | cst.MultiplyAssign():
            return weighted(left, right)
        case cst.Divide() | cst.DivideAssign():
            return quotient(left, right)
        case cst.Power() | cst.PowerAssign() if isinstance(right, Static):
            return of_mean(left)
        case _:
            return None


def _among(*sides: Value | None) -> list[Reduction]:
    return [side.reduction for side in sides if isinstance(side, Tensor) and side.reduction is not None]
