"""What a program does only where somebody asks for it: a function that gives back what it is passed, by default."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.operators import fold_sides
from ..domain.values import Setting, Static, Value
from .frames import Frame
from .interface import Interpreter
from .narrowing import truth


def is_off_by_default(interpreter: Interpreter, frame: Frame, node: cst.If) -> bool:
    """Whether a function returns one of its arguments as it is where a setting is as it is by default: `if
    self.pool_size == 0: return images`. What stands behind that is for those alone who set it."""
    match node.body:
        case cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Return(value=cst.Name(value=name))])]):
            given = frame.summary.given.get(name)
        case _:
            return False
    unchanged = given is not None and frame.env is not None and frame.env.get(name) is given
    return node.orelse is None and unchanged and _holds_by_default(interpreter, frame, node.test) is True


def _holds_by_default(interpreter: Interpreter, frame: Frame, test: cst.BaseExpression) -> bool | None:
    """Whether a condition on a setting holds where nobody sets it; None where it is on none, or that is not known."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            holds = _holds_by_default(interpreter, frame, inner)
            return None if holds is None else not holds
        case cst.Name() | cst.Attribute():
            usual = _by_default(interpreter.evaluate(frame, test))
            return None if usual is None else truth(usual)
        case cst.Comparison(
            left=cst.Name() | cst.Attribute() as left,
            comparisons=[cst.ComparisonTarget(operator=sign, comparator=other)],
        ):
            usual = _by_default(interpreter.evaluate(frame, left))
            return None if usual is None else truth(fold_sides(sign, usual, interpreter.evaluate(frame, other)))
        case _:
            return None


def _by_default(value: Value) -> Value | None:
    match value:
        case Static(setting=Setting(default=usual)) if not value.known:
            return Static(usual)
        case _:
            return None
