"""How many rows there are, where no number is known: sums of products of what a program calls by a name, and of the
quotients of such. So `n // b * b` and `n - n % b` are as many, and fill batches of `b` rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ...syntax import nodes as cst
from ..record import Record

_MOST_TERMS: Final = 6
_MOST_FACTORS: Final = 4


class Quotient(Record):
    """A quotient that does not come out even as far as anybody knows, rounded down, or `up`."""

    number: Rows
    size: Rows
    up: bool = False


_Factor: TypeAlias = str | Quotient
_Product: TypeAlias = tuple[_Factor, ...]


class Count(Record):
    """A number that is not known: products, with how often each is taken. `over`: it is divided by that, and not
    rounded yet."""

    terms: tuple[tuple[_Product, int], ...]
    over: Rows | None = None


Rows: TypeAlias = int | Count


def named(name: str) -> Count:
    """The number that goes by a name."""
    return Count((((name,), 1),))


def rounded_up(name: str) -> Count:
    """A quotient of which nothing is known but that it is rounded up."""
    return Count((((Quotient(named(name), 0, up=True),), 1),))


def negative(rows: Rows) -> Rows | None:
    return times(rows, -1)


def plus(left: Rows, right: Rows) -> Rows | None:
    terms = _terms(left)
    for product, number in _terms(right).items():
        terms[product] = terms.get(product, 0) + number
    return _sum_of(terms)


def minus(left: Rows, right: Rows) -> Rows | None:
    taken = negative(right)
    return None if taken is None else plus(left, taken)


def times(left: Rows, right: Rows) -> Rows | None:
    terms: dict[_Product, int] = {}
    for product, number in _terms(left).items():
        for other, often in _terms(right).items():
            factors = tuple(sorted((*product, *other), key=repr))
            terms[factors] = terms.get(factors, 0) + number * often
    return _sum_of(terms)


def divided(left: Rows, right: Rows) -> Rows | None:
    """`n / b`, of which somebody asks for a whole number next; `n / -b` is `-n / b`."""
    if _is_negative(right):
        negated, size = negative(left), negative(right)
        return None if negated is None or size is None else Count(tuple(_terms(negated).items()), size)
    return Count(tuple(_terms(left).items()), right)


def rounded(rows: Rows, *, up: bool) -> Rows | None:
    """A whole number of what is divided: the parts that come out even, and the quotient of the others."""
    if isinstance(rows, int) or rows.over is None:
        return rows
    size, even, others = rows.over, dict[_Product, int](), dict[_Product, int]()
    for product, number in rows.terms:
        quotient = _without(product, number, size)
        if quotient is None:
            others[product] = number
        else:
            even[quotient[0]] = even.get(quotient[0], 0) + quotient[1]
    rest = _sum_of(others)
    if rest is None or size == 0:
        return None
    quotient_of: Rows
    if rest == 0:
        quotient_of = 0
    elif isinstance(rest, int) and isinstance(size, int):
        quotient_of = -(-rest // size) if up else rest // size
    elif isinstance(rest, int) or rest.terms[0][1] > 0:
        quotient_of = Count((((Quotient(rest, size, up),), 1),))
    else:  # `-(-n // b)` is a quotient that is rounded up
        negated = negative(rest)
        assert negated is not None
        quotient_of = Count((((Quotient(negated, size, not up),), -1),))
    whole = _sum_of(even)
    return None if whole is None else plus(whole, quotient_of)


def floor(left: Rows, right: Rows) -> Rows | None:
    quotient = divided(left, right)
    return None if quotient is None else rounded(quotient, up=False)


def rest(left: Rows, right: Rows) -> Rows | None:
    """`n % b`: what the whole batches leave."""
    whole = floor(left, right)
    taken = None if whole is None else times(whole, right)
    return None if taken is None else minus(left, taken)


_OPERATIONS: Final[Mapping[type[object], Callable[[Rows, Rows], Rows | None]]] = {
    **dict.fromkeys((cst.Add, cst.AddAssign), plus),
    **dict.fromkeys((cst.Subtract, cst.SubtractAssign), minus),
    **dict.fromkeys((cst.Multiply, cst.MultiplyAssign), times),
    **dict.fromkeys((cst.Divide, cst.DivideAssign), divided),
    **dict.fromkeys((cst.FloorDivide, cst.FloorDivideAssign), floor),
    **dict.fromkeys((cst.Modulo, cst.ModuloAssign), rest),
}
# .. that begin to count; the others go on with what is counted already.
DIVIDING: Final[frozenset[type[object]]] = frozenset(
    (cst.Divide, cst.DivideAssign, cst.FloorDivide, cst.FloorDivideAssign, cst.Modulo, cst.ModuloAssign)
)


def computed(sign: type[object], left: Rows | None, right: Rows | None) -> Rows | None:
    """What an operator makes of two numbers of rows."""
    act = _OPERATIONS.get(sign)
    if act is None or left is None or right is None or right == 0:
        return None
    if any(isinstance(side, Count) and side.over is not None for side in (left, right)):
        return None
    return act(left, right)


def between(length: Rows | None, lower: Rows | None, upper: Rows | None) -> Rows | None:
    """How many rows a slice takes: from `lower` up to `upper`, which count from the end where they are negative."""
    if _is_negative(lower) and upper is length and isinstance(lower, int):
        return -lower if not isinstance(length, int) else min(length, -lower)
    ends = [_from_front(length, bound) for bound in (lower, upper)]
    if None in ends:
        return None
    if isinstance(length, int):
        ends = [min(end, length) if isinstance(end, int) else end for end in ends]
    taken = minus(ends[1], ends[0]) if ends[0] is not None and ends[1] is not None else None
    return max(taken, 0) if isinstance(taken, int) else taken


def _from_front(length: Rows | None, bound: Rows | None) -> Rows | None:
    if not _is_negative(bound):
        return bound
    return None if length is None or bound is None else plus(length, bound)


def _is_negative(rows: Rows | None) -> bool:
    if isinstance(rows, Count):
        return rows.over is None and all(number < 0 for _, number in rows.terms)
    return rows is not None and rows < 0


def is_multiple(rows: Rows | None, size: Rows | None) -> bool:
    """Whether so many rows fill batches of a size, as far as it is known."""
    if rows is None or size is None or size == 0:
        return False
    return all(_without(product, number, size) is not None for product, number in _terms(rows).items())


def fills_batches(rows: Rows | None) -> bool:
    """Whether so many rows are a number of whole batches of some size: `n // b * b`. Sizes may go by two names."""
    return isinstance(rows, Count) and all(_holds_batches(product, number) for product, number in rows.terms)


def takes_rest(rows: Rows | None) -> bool:
    """Whether it is the number of rows that whole batches leave, counted from the end: `-(n % b)`."""
    if not isinstance(rows, Count):
        return False
    numbers = {factor.number for product, _ in rows.terms for factor in product if isinstance(factor, Quotient)}
    return any(fills_batches(plus(rows, number)) for number in numbers)


def rounds_up(rows: Rows | None) -> bool:
    """Whether a number of batches counts one that is not full: `ceil(n / b)`, `n // b + 1`."""
    if not isinstance(rows, Count):
        return False
    more = any(not product and number > 0 for product, number in rows.terms)
    return any(
        isinstance(factor, Quotient) and number > 0 and (factor.up or more)
        for product, number in rows.terms
        for factor in product
    )


def _holds_batches(product: _Product, number: int) -> bool:
    for position, factor in enumerate(product):
        if isinstance(factor, Quotient) and not factor.up:
            others = product[:position] + product[position + 1 :]
            unsure = isinstance(factor.size, Count) and bool(others)
            if unsure or _without(others, number, factor.size) is not None:
                return True
    return False


def _without(product: _Product, number: int, size: Rows) -> tuple[_Product, int] | None:
    """What remains of a product that is divided by a size; None where it does not come out even."""
    if isinstance(size, int):
        return (product, number // size) if number % size == 0 else None
    if len(size.terms) != 1 or size.over is not None:
        return None
    [(factors, often)] = size.terms
    left = list(product)
    for factor in factors:
        if factor not in left:
            return None
        left.remove(factor)
    return (tuple(left), number // often) if number % often == 0 else None


def _terms(rows: Rows) -> dict[_Product, int]:
    return {(): rows} if isinstance(rows, int) else dict(rows.terms)


def _sum_of(terms: Mapping[_Product, int]) -> Rows | None:
    """The sum of products; None where it is too long to be followed."""
    kept = {product: number for product, number in terms.items() if number}
    if not kept or set(kept) == {()}:
        return kept.get((), 0)
    if len(kept) > _MOST_TERMS or any(len(product) > _MOST_FACTORS for product in kept):
        return None
    return Count(tuple(sorted(kept.items(), key=repr)))
