"""The batches that Keras's loops make of arrays: their sizes, and whether the last one is smaller."""

from __future__ import annotations

import math
from typing import Final

from ..domain.counts import Rows, fills_batches, is_multiple
from ..domain.kinds import options, rows_of
from ..domain.values import NONE, Array, Dict, Sequence, Static, Tensor, Value, Variation
from ..domain.varying_shapes import EVEN, GROWN, LAST, ROWS, rows_noted, sizes_of
from ..files.unit import Location
from .changing_numbers import decided_by
from .datasets import unless_one, usual_size

_DEFAULT: Final = 32


def batches_of(
    value: Value | None,
    batch_size: Value | None,
    split: Value | None,
    location: Location,
    *,
    called: Rows | None,
    likely: bool,
) -> list[Value]:
    """What a step is passed of arrays: pieces of one size, and what remains. `split`: the share at the end that is kept
    for validation; `called`: how many there are, by name; `likely`: there are many, so that it matters also where
    nobody knows how many."""
    if isinstance(batch_size, Array | Tensor | Sequence):
        return []  # another library's `fit`, or one of its own: Keras refuses it
    arrays = [array for option in options(value) if (array := _array(option)) is not None] if value is not None else []
    if arrays and (sized := decided_by(batch_size, 0, location)):
        return [Array(varies=sized)]
    size, doubt = _size(batch_size)
    found: list[Value] = []
    for array in arrays:
        count = called if array.length is None else array.length
        match split:
            case None | Static(0 | None):
                even = fills_batches(count) or (batch_size is not None and is_multiple(count, rows_of(batch_size)))
            case Static(float() as share) if isinstance(count, int):
                count, even = math.floor(count * (1 - share)), False
            case _:
                count, even = None, False
        if even:
            continue
        if not isinstance(count, int) or size is None:
            if likely and not any(each.kind == EVEN for each in array.varies):
                shapes = None if any(each.kind != GROWN for each in sizes_of(array)) else 2  # other rows each time
                found.append(Array(varies=(Variation(LAST, location, axis=0, shapes=shapes, detail=doubt),)))
        elif count > size and count % size:
            detail = f"{count} elements in batches of {size}"
            found.append(Array(varies=(Variation(LAST, location, axis=0, shapes=2, detail=detail),)))
    return found


def _array(value: Value) -> Array | None:
    """An array, or the first of several inputs; how long a tensor is, is noted where it was made of an array."""
    match value:
        case Array():
            return value
        case Tensor(varies=varies) if len(noted := rows_noted(varies)) == 1:
            [detail] = noted
            return Array(value.dtype, int(detail) if detail else None, tuple(v for v in varies if v.kind != ROWS))
        case Sequence(items=(first, *_)):
            return _array(first)
        case Sequence(kind="list", items=None, element=Array() as first):
            return first
        case Dict(entries, element):
            return next(filter(None, map(_array, (*entries.values(), *([] if element is None else [element])))), None)
        case _:
            return None


def _size(value: Value | None) -> tuple[int | None, str]:
    """How many rows a batch has, where that is known; and on what a smaller last one depends, if on a setting."""
    if value is None or value == NONE:
        return _DEFAULT, ""
    number, setting = usual_size(value)
    if number == 1 and setting:
        return None, unless_one(setting)
    return number or None, ""
