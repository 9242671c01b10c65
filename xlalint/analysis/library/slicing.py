"""What `from_tensor_slices` and its relatives cut along the first dimension: how long that is, and what is cut off."""

from __future__ import annotations

from ..domain.counts import Rows
from ..domain.kinds import steps_of
from ..domain.values import Array, Dependence, Sequence, Static, Structure, Tensor, Value
from ..domain.varying_shapes import rows_noted


def length_of_sliced(value: Value | None) -> Rows | None:
    """The first dimension of what is sliced, where it is written."""
    match value:
        case Array(length=length):
            return length
        case Tensor(varies=varies) if len(noted := rows_noted(varies)) == 1 and noted[0]:
            return int(noted[0])
        case Static(list() | tuple() as constant):
            return len(constant)
        case Sequence(kind="list", items=tuple(items)):
            return len(items)
        case Sequence(kind="tuple", items=tuple(items)):
            return next((length for item in items if (length := length_of_sliced(item)) is not None), None)
        case None:
            return None
        case _:
            return steps_of(value) or None


def row_of(tensors: Value | None, unknown: Value) -> Value:
    """What is sliced along its first dimension, where that is one tensor."""
    match tensors:
        case Tensor() | Array():
            origin = unknown.origin if isinstance(unknown, Structure) else None
            return Tensor(Dependence.VALUE, tensors.dtype, origin=origin)
        case _:
            return unknown
