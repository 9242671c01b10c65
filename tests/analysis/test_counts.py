"""Numbers of rows: what is computed of them, and which of them fill whole batches."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable

import pytest

from xlalint.analysis.domain import counts
from xlalint.analysis.domain.counts import Count, Rows, named
from xlalint.syntax import nodes as cst

N, SIZE = named("n"), named("size")


def value(rows: Rows, n: int, size: int) -> int:
    """The number for these sizes."""

    def of(factor: str | counts.Quotient) -> int:
        if isinstance(factor, str):
            return {"n": n, "size": size}[factor]
        number, by = value(factor.number, n, size), value(factor.size, n, size)
        return -(-number // by) if factor.up else number // by

    if isinstance(rows, int):
        return rows
    total = 0
    for product, number in rows.terms:
        for factor in product:
            number *= of(factor)
        total += number
    return total


def made(sign: type[object], left: Rows, right: Rows) -> Rows:
    found = counts.computed(sign, left, right)
    assert found is not None
    return found


_PYTHONS: dict[type[object], Callable[[int, int], int]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}
WHOLE = made(cst.Multiply, made(cst.FloorDivide, N, SIZE), SIZE)
REST = made(cst.Modulo, N, SIZE)


def test_what_is_left_and_what_is_taken_are_all() -> None:
    assert made(cst.Subtract, N, REST) == WHOLE
    assert made(cst.Add, WHOLE, REST) == N
    assert made(cst.Subtract, N, N) == 0
    assert made(cst.FloorDivide, made(cst.Multiply, N, SIZE), SIZE) == N


@pytest.mark.parametrize(
    ("sign", "left", "right"),
    [
        (sign, left, right)
        for sign in _PYTHONS
        for left, right in itertools.product(
            (N, SIZE, 6, WHOLE, made(cst.Add, N, 5), made(cst.Subtract, 3, N)), (SIZE, 4)
        )
    ],
)
def test_each_operator_is_computed_as_python_does(sign: type[object], left: Rows, right: Rows) -> None:
    found = made(sign, left, right)
    act = _PYTHONS[sign]
    for n, size in itertools.product((0, 1, 7, 32, 70), (1, 3, 8)):
        assert value(found, n, size) == act(value(left, n, size), value(right, n, size))


def test_whole_batches() -> None:
    assert counts.is_multiple(WHOLE, SIZE)
    assert counts.is_multiple(made(cst.Multiply, 3, SIZE), SIZE)
    assert not counts.is_multiple(N, SIZE)
    assert not counts.is_multiple(made(cst.FloorDivide, N, SIZE), SIZE)
    assert counts.fills_batches(WHOLE)
    assert not counts.fills_batches(N)
    assert not counts.fills_batches(REST)
    assert counts.takes_rest(counts.negative(REST))


def test_what_counts_a_batch_that_is_not_full() -> None:
    through = counts.divided(N, SIZE)
    assert through is not None
    up, down = counts.rounded(through, up=True), counts.rounded(through, up=False)
    assert counts.rounds_up(up)
    assert not counts.rounds_up(down)
    assert down is not None
    assert counts.rounds_up(made(cst.Add, down, 1))
    assert counts.rounds_up(made(cst.FloorDivide, made(cst.Subtract, made(cst.Add, N, SIZE), 1), SIZE))
    negated = counts.negative(N)
    assert negated is not None
    assert counts.negative(made(cst.FloorDivide, negated, SIZE)) == up


def test_what_grows_too_long_is_not_followed() -> None:
    total: Rows | None = N
    for number in range(9):
        total = None if total is None else counts.plus(total, named(str(number)))
    assert total is None
    assert counts.computed(cst.Add, Count((), SIZE), 1) is None


@pytest.mark.parametrize(
    ("length", "lower", "upper", "taken"),
    [
        (400, 0, 400, 400),
        (400, 300, 1000, 100),
        (400, -90, 400, 90),
        (50, -90, 50, 50),
        (400, 0, -50, 350),
        (None, 0, 10, 10),
        (None, 0, -10, None),
        (400, 500, 400, 0),
    ],
)
def test_parts(length: int | None, lower: int | None, upper: int | None, taken: int | None) -> None:
    assert counts.between(length, lower, upper) == taken
