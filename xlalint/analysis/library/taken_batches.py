"""The first batches of a dataset: whether the smaller last one is among them."""

from __future__ import annotations

from typing import Final

from ..domain.counts import Rows
from ..domain.values import Value
from ..domain.varying_shapes import LAST, UNLESS, filtered, variations_of, varied
from ..record import replace

MANY: Final = 1000  # batches: more than those of a program that only looks at a few


def among_first(element: Value, number: int | None = None, count: Rows | None = None) -> Value:
    """What the first `number` elements of a dataset of `count` are: the smaller last batch is not among them, unless
    they are known to be all; of so many that these may well be all, it perhaps is."""
    if number is not None and (number < 0 or (isinstance(count, int) and number >= count)):
        return element
    first = filtered(element, lambda variation: variation.kind != LAST)
    if number is None or number < MANY or isinstance(count, int):
        return first
    detail = f"{UNLESS}there are more than {number} batches"
    return varied(first, tuple(replace(each, detail=detail) for each in variations_of(element) if each.kind == LAST))
