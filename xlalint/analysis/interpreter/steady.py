"""Conditions that come out the same way in each iteration of a loop, whatever it counts: `if step % log_every == 0`,
where that is 1."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.operators import fold_sides
from ..domain.values import Setting, Static, Value
from ..files.unit import Location
from ..record import Record
from .frames import Frame, Steady
from .interface import Interpreter
from .narrowing import truth

_ONE: Final = (1, -1)  # what divides every number


class _Known(Record):
    """What a part of a condition is, and which setting decides that, by default."""

    value: Value
    setting: str = ""


def note_steady(interpreter: Interpreter, frame: Frame, node: cst.If, known: bool | None) -> None:
    """Note a condition of host code that holds each time, or never."""
    decided = _Known(Static(known)) if known is not None else _known(interpreter, frame, node.test)
    outcome = truth(decided.value) if decided is not None else None
    found = None
    if decided is not None and outcome is not None:
        found = Steady(Location(frame.unit, node.test), outcome, decided.setting)
    earlier = frame.summary.steady.setdefault(node, found)  # where a loop's body was executed before
    if earlier != found:
        frame.summary.steady[node] = None


def _known(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression) -> _Known | None:
    """What an expression is, by default, if anything is known of it."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            known = _known(interpreter, frame, inner)
            holds = truth(known.value) if known is not None else None
            return None if known is None or holds is None else _Known(Static(not holds), known.setting)
        case cst.BinaryOperation(operator=cst.Modulo(), right=right):
            known = _known(interpreter, frame, right)
            match known:
                case _Known(Static(int() as number)) if number in _ONE:
                    return _Known(Static(0), known.setting)
            return None
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]):
            sides = _known(interpreter, frame, left), _known(interpreter, frame, right)
            if sides[0] is None or sides[1] is None:
                return None
            return _Known(fold_sides(sign, sides[0].value, sides[1].value), sides[0].setting or sides[1].setting)
        case cst.BooleanOperation(left=left, operator=joined, right=right):
            return _joined(
                _known(interpreter, frame, left), _known(interpreter, frame, right), isinstance(joined, cst.Or)
            )
        case cst.Integer():
            return _Known(Static(test.evaluated_value))
        case cst.Name() | cst.Attribute() | cst.Subscript():
            match interpreter.evaluate(frame, test):
                case Static(varies=(_, *_)):
                    return None
                case Static(setting=Setting(usual, name)) as value if not value.known:
                    return _Known(Static(usual), name)
                case Static() as value if value.known:
                    return _Known(value)
    return None


def _joined(left: _Known | None, right: _Known | None, enough: bool) -> _Known | None:
    """What `left or right` is, where one that holds is `enough`; `left and right`, where one that does not is."""
    for side in (left, right):
        if side is not None and truth(side.value) is enough:
            return side
    return left if left is not None and right is not None else None
