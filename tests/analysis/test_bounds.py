"""The axes of bounded dynamic shapes through arithmetic, products and subscripts."""

from __future__ import annotations

from typing import Any, cast

import pytest

from xlalint.analysis.domain.bounds import FIRST, Axes, broadcast, indexed, meeting, multiplied
from xlalint.analysis.domain.values import NONE, Dependence, Origin, Slice, Static, Tensor, Value

LAST = Static(-1)
REST = Static(Ellipsis)
ALL = Slice(NONE, NONE, NONE)
PLAIN = Tensor(Dependence.VALUE, "float", 2)


def bounded(rank: int | None, axes: Axes | None = FIRST) -> Tensor:
    return Tensor(Dependence.VALUE, "float", rank, bounded=Origin(cast(Any, None), "", axes=axes))


def axes_of(origin: Origin | None) -> set[int]:
    assert origin is not None
    assert origin.axes is not None
    return {*origin.axes}


@pytest.mark.parametrize("rank", [1, None])
def test_a_row_and_a_column_for_each_element(rank: int | None) -> None:
    rows, columns = indexed(bounded(rank), (ALL, NONE)), indexed(bounded(rank), (NONE, ALL))
    assert axes_of(rows) == {0}
    assert axes_of(columns) == {1}
    assert axes_of(broadcast(bounded(None, frozenset(axes_of(one))) for one in (rows, columns))) == {0, 1}


@pytest.mark.parametrize(
    ("rank", "index", "left"),
    [(2, (ALL, Static(0)), {0}), (2, (REST, Static(0)), {0}), (3, (NONE, ALL, ALL, ALL), {1}), (None, (ALL,), {0})],
)
def test_what_a_subscript_leaves(rank: int | None, index: tuple[Value, ...], left: set[int]) -> None:
    assert axes_of(indexed(bounded(rank), index)) == left


def test_a_number_takes_the_axis_away() -> None:
    assert indexed(bounded(2), (Static(0),)) is None
    assert indexed(bounded(1, None), (Static(0),)) is None


def test_lower_ranks_are_aligned_with_the_last_axes() -> None:
    assert axes_of(broadcast((bounded(1), PLAIN.with_(rank=3)))) == {2}


def test_products_keep_the_outer_axes() -> None:
    rows = bounded(2)
    assert multiplied(rows, rows, (False, True)) == frozenset((0, 1))
    assert multiplied(rows, rows, (True, False)) == frozenset()
    assert multiplied(rows, PLAIN) == frozenset((0,))
    assert multiplied(bounded(3), bounded(3), (False, True)) == frozenset((0,))


def test_which_items_of_a_subscript_meet_a_bounded_axis() -> None:
    assert list(meeting(bounded(2), (ALL, LAST))) == [ALL]
    assert list(meeting(bounded(2, frozenset((1,))), (ALL, LAST))) == [LAST]
    assert list(meeting(bounded(3, frozenset((2,))), (REST, LAST))) == [LAST]
    assert list(meeting(bounded(None, None), (LAST, ALL))) == [LAST]
