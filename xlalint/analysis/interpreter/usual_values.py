"""What expressions are by default: settings of whoever runs a program have a default, and what is computed of that is
known as well. Conditions that come out the same way in each iteration of a loop, whatever it counts: `if step %
log_every == 0`, where that is 1."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.operators import fold, fold_sides
from ..domain.values import Setting, Static, Value
from ..files.unit import Location
from ..record import Record
from .frames import Frame, Steady
from .interface import Interpreter
from .narrowing import truth

_ONE: Final = (1, -1)  # what divides every number
_MOST_BOUNDS: Final = 3  # that a range has


class Usual(Record):
    """What an expression is; `setting`: what decides that, of which only the default is known."""

    value: Value
    setting: str = ""


def note_steady(interpreter: Interpreter, frame: Frame, node: cst.If, known: bool | None) -> None:
    """Note a condition of host code that holds each time, or never."""
    usual = Usual(Static(known)) if known is not None else usual_value(interpreter, frame, node.test)
    outcome = truth(usual.value) if usual is not None else None
    found = None
    if usual is not None and outcome is not None:
        found = Steady(Location(frame.unit, node.test), outcome, usual.setting)
    earlier = frame.summary.steady.setdefault(node, found)  # where a loop's body was executed before
    if earlier != found:
        frame.summary.steady[node] = None


def usual_rounds(interpreter: Interpreter, frame: Frame, iterable: cst.BaseExpression) -> tuple[int, str] | None:
    """How many numbers a range has by default, and what decides that: `range(options.steps - 1, -1, -1)`."""
    match iterable:
        case cst.Call(func=cst.Name("reversed"), args=[cst.Arg(value=forwards)]):
            return usual_rounds(interpreter, frame, forwards)
        case cst.Call(func=cst.Name("range"), args=args) if 0 < len(args) <= _MOST_BOUNDS:
            bounds = [usual_value(interpreter, frame, arg.value) for arg in args]
        case _:
            return None
    numbers = [bound.value.constant for bound in bounds if bound is not None and isinstance(bound.value, Static)]
    setting = next((bound.setting for bound in bounds if bound is not None and bound.setting), "")
    if len(numbers) < len(bounds) or not setting or any(type(number) is not int for number in numbers):
        return None
    return None if numbers[2:] == [0] else (len(range(*numbers)), setting)


def usual_value(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> Usual | None:
    """What an expression of numbers, flags and texts is, by default, if anything is known of it."""
    match node:
        case cst.Integer():
            return Usual(Static(node.evaluated_value))
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as positive):
            return Usual(Static(-positive.evaluated_value))
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            usual = usual_value(interpreter, frame, inner)
            holds = truth(usual.value) if usual is not None else None
            return None if usual is None or holds is None else Usual(Static(not holds), usual.setting)
        case cst.BinaryOperation(left=left, operator=sign, right=right):
            of_right = usual_value(interpreter, frame, right)
            match sign, of_right:
                case cst.Modulo(), Usual(Static(int() as number)) if number in _ONE:
                    return Usual(Static(0), of_right.setting)
            return _computed(type(sign), usual_value(interpreter, frame, left), of_right)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=compared, comparator=right)]):
            one, other = usual_value(interpreter, frame, left), usual_value(interpreter, frame, right)
            if one is None or other is None:
                return None
            return Usual(fold_sides(compared, one.value, other.value), one.setting or other.setting)
        case cst.BooleanOperation(left=left, operator=joined, right=right):
            sides = usual_value(interpreter, frame, left), usual_value(interpreter, frame, right)
            return _joined(*sides, isinstance(joined, cst.Or))
        case cst.Name() | cst.Attribute() | cst.Subscript():
            match interpreter.evaluate(frame, node):
                case Static(varies=(_, *_)):
                    return None
                case Static(setting=Setting(default, name)) as value if not value.known:
                    return Usual(Static(default), name)
                case Static() as value if value.known:
                    return Usual(value)
    return None


def _computed(sign: type[object], left: Usual | None, right: Usual | None) -> Usual | None:
    """What an operator makes of two numbers."""
    match left, right:
        case Usual(Static(a), first), Usual(Static(b), second) if (made := fold(sign, a, b)).known:
            return Usual(made, first or second)
        case _:
            return None


def _joined(left: Usual | None, right: Usual | None, enough: bool) -> Usual | None:
    """What `left or right` is, where one that holds is `enough`; `left and right`, where one that does not is."""
    for side in (left, right):
        if side is not None and truth(side.value) is enough:
            return side
    return left if left is not None and right is not None else None
