"""Branches that a loop takes in one of its iterations: `if epoch == 0:`, `if first: ..; first = False`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...syntax import nodes as cst
from .frames import Frame


def loops_passed_once(frame: Frame, node: cst.If) -> int:
    """How many of the Python loops around a branch take it once."""
    if not frame.python_loop:
        return 0
    found = 0
    for around in frame.unit.around(node):
        match around:
            case cst.For() | cst.While():
                found += any(_holds_once(around, node, test) for test in _all_of(node.test))
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                break
    return min(found, frame.python_loop)


def _all_of(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The tests of which all have to hold."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            yield from _all_of(left)
            yield from _all_of(right)
        case _:
            yield test


def _holds_once(loop: cst.For | cst.While, node: cst.If, test: cst.BaseExpression) -> bool:
    """Whether a test holds in one iteration of a loop: of what counts these, or of a flag that the branch turns."""
    match test:
        case cst.Comparison(
            left=cst.Name(value=counter),
            comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.Integer() | cst.Name() as number)],
        ):
            fixed = isinstance(number, cst.Integer) or number.value not in _assigned(loop)
            return fixed and _counts(loop, counter)
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name(value=name)):
            return _counts(loop, name) or _is_turned(loop, node, name, "True")
        case cst.Name(value=name):
            return _is_turned(loop, node, name, "False")
        case cst.Comparison(
            left=cst.Name(value=name),
            comparisons=[cst.ComparisonTarget(operator=cst.Is(), comparator=cst.Name(value="None"))],
        ):
            return _is_turned(loop, node, name, None)
        case _:
            return False


def _counts(loop: cst.For | cst.While, name: str) -> bool:
    """Whether a name counts the iterations of a loop."""
    match loop:
        case cst.For(target=cst.Name(value=counter), iter=iterated):
            return counter == name and _is_call_of(iterated, "range")
        case cst.For(target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=counter)), *_]), iter=iterated):
            return counter == name and _is_call_of(iterated, "enumerate")
        case _:
            return False


def _is_call_of(iterated: cst.BaseExpression, name: str) -> bool:
    """Whether a loop goes over what a function of Python's gives, with a bar that shows how far it is or without."""
    match iterated:
        case cst.Call(func=cst.Name(value=called)) if called == name:
            return True
        case cst.Call(args=[cst.Arg(value=cst.Call() as inner), *_]):
            return _is_call_of(inner, name)
        case _:
            return False


def _is_turned(loop: cst.For | cst.While, node: cst.If, flag: str, to: str | None) -> bool:
    """Whether a branch gives a flag another value, and nothing else in the loop gives it one; `to`: None for any."""
    turned = [value for name, value in _bound(node.body) if name == flag]
    given = [value for name, value in _bound(loop.body) if name == flag]
    if not turned or len(turned) != len(given):
        return False
    match turned[-1]:
        case cst.Name(value=value):
            return value == to if to is not None else value != "None"
        case _:
            return to is None


def _assigned(loop: cst.For | cst.While) -> frozenset[str]:
    return frozenset(name for name, _ in _bound(loop.body))


@lru_cache(maxsize=128)  # branches are run again and again
def _bound(body: cst.CSTNode) -> tuple[tuple[str, cst.BaseExpression | None], ...]:
    """The names that code binds, each with what it is assigned; None where that is more than an assignment."""
    return tuple(_all_bound(body))


def _all_bound(body: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    for part in cst.within(body):
        match part:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                yield name, value
            case cst.AssignTarget(target=cst.Tuple() as names) | cst.For(target=names):
                yield from ((name.value, None) for name in cst.within(names) if isinstance(name, cst.Name))
            case cst.AugAssign(target=cst.Name(value=name)):
                yield name, None
