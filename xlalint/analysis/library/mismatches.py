"""What the branches of a conditional on a tensor leave that cannot be joined."""

from __future__ import annotations

from typing import Final

from ..domain import bounds
from ..domain.values import NONE, Array, Dict, Sequence, Static, Tensor, Value
from .dtypes import dtype_of
from .ranks import rank_of

BOUNDS: Final = "bounds"


def mismatch(first: Value, second: Value) -> str | None:
    """Why AutoGraph or XLA cannot join the two, if it is known. A number is made a tensor of its own dtype, whatever
    stands in the other branch (measured)."""
    match first, second:
        case (Tensor() | Static() | Array(), Tensor() | Static() | Array()):
            if first == NONE or second == NONE:
                return "structure" if _is_known(first) and _is_known(second) and first != second else None
            if not (_is_single(first) and _is_single(second)):
                return None
            if _differ(dtype_of(first), dtype_of(second)):
                return "dtype"
            return "rank" if _differ(rank_of(first), rank_of(second)) else None
        case Sequence(kind, tuple(left)), Sequence(other, tuple(right)) if kind == other:
            if len(left) != len(right):
                return "structure" if kind == "tuple" else None  # what made a list longer in a branch is said itself
            return next(filter(None, map(mismatch, left, right)), None)
        case Dict(left, None), Dict(right, None) if left.keys() == right.keys():
            return next(filter(None, (mismatch(left[key], right[key]) for key in left)), None)
        case _:
            return None


def unjoinable(first: Value, second: Value) -> str | None:
    """Why AutoGraph or XLA cannot join the two, which are all that branches leave."""
    return mismatch(first, second) or (BOUNDS if is_crossing(larger(first, second)) else None)


def is_crossing(*sides: frozenset[int]) -> bool:
    """Whether each of two branches has a larger one of the bounds."""
    return len(frozenset[int]().union(*sides)) > 1


def larger(first: Value, second: Value) -> frozenset[int]:
    """Which of two values has tensors of a larger bound than the other has in their places: 1, and -1 for the second.
    XLA joins branches only where one has all of the larger ones (measured)."""
    match first, second:
        case Tensor(), Tensor():
            return frozenset(filter(None, (bounds.larger(first.bounded, second.bounded),)))
        case Sequence(kind, tuple(left)), Sequence(other, tuple(right)) if kind == other and len(left) == len(right):
            return frozenset[int]().union(*map(larger, left, right))
        case Dict(left, None), Dict(right, None) if left.keys() == right.keys():
            return frozenset[int]().union(*(larger(left[key], right[key]) for key in left))
        case _:
            return frozenset()


def _differ(first: str | int | None, second: str | int | None) -> bool:
    return first is not None and second is not None and first != second


def _is_known(value: Value) -> bool:
    return not isinstance(value, Static) or value.known


def _is_single(value: Value) -> bool:
    """Whether a value is one tensor, or becomes one."""
    return not isinstance(value, Static) or isinstance(value.constant, bool | int | float | complex | str | bytes)
