"""What the branches of a conditional on a tensor leave that cannot be joined."""

from __future__ import annotations

from ..domain.values import NONE, Array, Dict, Sequence, Static, Tensor, Value
from .dtypes import dtype_of
from .ranks import rank_of


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


def _differ(first: str | int | None, second: str | int | None) -> bool:
    return first is not None and second is not None and first != second


def _is_known(value: Value) -> bool:
    return not isinstance(value, Static) or value.known


def _is_single(value: Value) -> bool:
    """Whether a value is one tensor, or becomes one."""
    return not isinstance(value, Static) or isinstance(value.constant, bool | int | float | complex | str | bytes)
