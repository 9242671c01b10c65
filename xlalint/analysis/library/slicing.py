"""What `from_tensor_slices` and its relatives cut along the first dimension: how long that is, and what is cut off."""

from __future__ import annotations

from ..domain.counts import Rows
from ..domain.kinds import steps_of
from ..domain.values import Array, Dependence, Dict, Sequence, Static, Structure, Tensor, Value
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
    """What is sliced along its first dimension, where that is one tensor, or there are texts among several."""
    origin = unknown.origin if isinstance(unknown, Structure) else None
    match tensors:
        case Tensor() | Array():
            return Tensor(Dependence.VALUE, tensors.dtype, origin=origin)
        case Sequence(kind="list") | Static() if _are_texts(tensors):
            return Tensor(Dependence.VALUE, "string", 0, origin=origin)
        case Sequence(kind="tuple", items=tuple(items)) if any(map(_are_texts, items)):
            return Sequence("tuple", tuple(row_of(item, unknown) for item in items))
        case Dict(entries, None) if any(map(_are_texts, entries.values())):
            return Dict({key: row_of(value, unknown) for key, value in entries.items()})
        case _:
            return unknown


def _are_texts(value: Value) -> bool:
    """Whether this is a list of texts: they are written, or paths that were found."""
    match value:
        case Static(list() as constants):
            return bool(constants) and all(isinstance(constant, str) for constant in constants)
        case Sequence(kind="list", items=(first, *others)):
            return _is_text(first) and all(map(_is_text, others))
        case Sequence(kind="list", items=None, element=element) if element is not None:
            return _is_text(element)
        case _:
            return False


def _is_text(value: Value) -> bool:
    return isinstance(value, Static) and (isinstance(value.constant, str) or value.local)
