"""Conditions of host code that chance decides, each time anew: `if random.random() < epsilon`, as agents explore."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Api, ApiObject, Static, Value
from ..library.chance import draws
from .frames import Frame
from .interface import Interpreter

_SELDOM: Final = 0.1  # the share of the iterations that is not worth a word
_LESS: Final = (cst.LessThan, cst.LessThanEqual)
_MORE: Final = (cst.GreaterThan, cst.GreaterThanEqual)
_BOTH: Final = frozenset(("then", "else"))
_NEITHER: Final = frozenset[str]()
_OTHER: Final = {"then": "else", "else": "then"}


def note_chance(interpreter: Interpreter, frame: Frame, node: cst.If | cst.IfExp) -> None:
    """Note which sides of a condition chance has run time and again, if it does."""
    sides = _sides(interpreter, frame, node.test)
    if sides:
        frame.summary.by_chance[node] = sides


def _sides(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression) -> frozenset[str]:
    """The sides of a condition that are run time and again, whatever else it asks."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return frozenset(_OTHER[side] for side in _sides(interpreter, frame, inner))
        case cst.BooleanOperation(left=left, operator=joined, right=right):
            one, other = _sides(interpreter, frame, left), _sides(interpreter, frame, right)
            enough = "then" if isinstance(joined, cst.Or) else "else"  # it takes one of them to come out so
            return (one & other) | ((one | other) & {enough})
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]):
            for drawn, asked, first in ((left, right, True), (right, left, False)):
                if isinstance(sign, (*_LESS, *_MORE)) and _is_drawn(interpreter, frame, drawn):
                    return _by_share(interpreter, frame, asked, isinstance(sign, _LESS) is first)
    return _NEITHER


def _by_share(interpreter: Interpreter, frame: Frame, asked: cst.BaseExpression, less: bool) -> frozenset[str]:
    """The sides by what a number from 0 to 1 is compared with, where that is written down; what an object has, as the
    rate by which an agent explores, may be another number by the next time."""
    match None if isinstance(asked, cst.Attribute) else interpreter.evaluate(frame, asked):
        case Static(constant=float() as share):
            often = {"then": share, "else": 1.0 - share} if less else {"then": 1.0 - share, "else": share}
            return frozenset(side for side, part in often.items() if part >= _SELDOM)
        case _:
            return _BOTH


def _is_drawn(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether an expression is a number that chance has drawn."""
    match node:
        case cst.Call(func=called):
            return _draws(interpreter.evaluate(frame, called))
        case cst.Subscript(value=whole):
            return _is_drawn(interpreter, frame, whole)
        case cst.Name():
            value = interpreter.evaluate(frame, node)
            return isinstance(value, Static) and any(each.kind == "drawn" for each in value.varies)
        case _:
            return False


def _draws(called: Value) -> bool:
    match called:
        case Api(name=name):
            return draws(name)
        case ApiObject(api=owner, method=str() as method):
            return draws(f"{owner}.{method}")
        case _:
            return False
