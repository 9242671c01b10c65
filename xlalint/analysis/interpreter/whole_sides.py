"""What a comparison says of batches: on one of its sides none is smaller than the others. `if len(x) < size: continue`,
`if i + size > len(rows): break`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ...syntax import nodes as cst
from ..domain.values import Static, Value, Variation
from ..domain.varying_shapes import LAST, STEPS, variations_of, without
from ..files.unit import Location, Unit
from ..record import replace
from .contexts import NOT_TRACED
from .frames import Frame

_LENGTHS: Final = frozenset(("len", "shape", "size", "get_shape"))
_LESS: Final = (cst.LessThan, cst.LessThanEqual)
_MORE: Final = (cst.GreaterThan, cst.GreaterThanEqual)


class _Term(NamedTuple):
    """Why a part of a comparison is another number for the last batch. `sign`: whether it is less, -1, or more."""

    variation: Variation
    sign: int


def keep_whole(frame: Frame, test: cst.Comparison, outcome: bool) -> None:
    """Have the names of `frame` stand for whole batches, where a comparison has come out so that they do."""
    env = frame.env
    if env is None or frame.context.kind not in NOT_TRACED or len(test.comparisons) != 1:
        return
    operator, right = test.comparisons[0].operator, test.comparisons[0].comparator
    terms = [*_terms(env, test.left, 1), *_terms(env, right, -1)]
    if not terms:
        return
    written = any(isinstance(side, cst.Integer) for side in (test.left, right))
    whole = {term.variation.location for term in terms if _is_whole(operator, term, outcome, written)}
    if whole:
        windows = {window for each in whole if (window := _window(each)) is not None}
        for name, value in env.items():
            if variations_of(value):
                env[name] = _whole(value, whole, windows)


def _is_whole(operator: cst.BaseCompOp, term: _Term, outcome: bool, written: bool) -> bool:
    """Whether what a comparison says is said of whole batches."""
    counter = term.variation.kind == "counter"
    match operator:
        case cst.Equal():
            return outcome and not counter
        case cst.NotEqual():
            return not outcome and not counter
        case _ if isinstance(operator, _LESS + _MORE):
            more = isinstance(operator, _MORE) is outcome
            return more is (term.sign < 0) and not (counter and written)
        case _:
            return False


def _terms(env: dict[str, Value], node: cst.BaseExpression, sign: int) -> Iterator[_Term]:
    """What decides about a side of a comparison: the lengths of batches, and counters that go in steps."""
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            yield from _terms(env, left, sign)
            yield from _terms(env, right, sign)
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=right):
            yield from _terms(env, left, sign)
            yield from _terms(env, right, -sign)
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            yield from _terms(env, left, sign)
            yield from _terms(env, right, sign)
        case cst.Name(value=name):
            for each in variations_of(env.get(name)) if isinstance(env.get(name), Static) else ():
                if each.kind == "number" and each.detail == LAST:
                    yield _Term(each, -sign)
                elif each.kind == "counter" and each.detail == STEPS:
                    yield _Term(each, sign)
        case _ if (measured := _measured(node)) is not None:
            for each in variations_of(env.get(measured)):
                if each.kind == LAST and not each.axis:
                    yield _Term(each, -sign)


def _measured(node: cst.BaseExpression) -> str | None:
    """The name of what a number is the length of: `len(x)`, `x.shape[0]`, `tf.shape(x)[0]`."""
    match node:
        case cst.Call(func=cst.Name(value=asked), args=[cst.Arg(value=cst.Name(value=name))]) if asked in _LENGTHS:
            return name
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value=asked)), args=[cst.Arg(value=cst.Name(value=name)), *_]
        ) if asked in _LENGTHS:
            return name
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=asked)) if asked in _LENGTHS:
            return name
        case cst.Subscript(value=shape, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            return _measured(shape)
        case _:
            return None


def _window(location: Location) -> tuple[Unit, str] | None:
    """Which rows a slice takes, of several arrays alike."""
    match location.node:
        case cst.Subscript(slice=[first, *_]):
            return location.unit, location.unit.compact(first)
        case _:
            return None


def _whole(value: Value, locations: set[Location], windows: set[tuple[Unit, str]]) -> Value:
    match value:
        case Static(varies=varies):
            kept = (each if each.location not in locations else _evenly(each) for each in varies)
            return replace(value, varies=tuple(each for each in kept if each is not None))
        case _:
            return without(
                value,
                lambda each: each.kind == LAST and (each.location in locations or _window(each.location) in windows),
            )


def _evenly(number: Variation) -> Variation | None:
    """A counter whose steps come out even; no size, which is the same each time."""
    return replace(number, detail="") if number.kind == "counter" else None
