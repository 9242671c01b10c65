"""Numbers that are in range: those that a condition on themselves puts there, and counters from where they start."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..files.unit import Location, Unit


def is_put_in_range(unit: Unit, statement: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether a statement makes what is below zero positive, and so only once: `if self.axis < 0: self.axis += rank`.
    What adds a number that is written there counts."""
    match statement:
        case cst.AugAssign(operator=cst.AddAssign(), value=added):
            pass
        case cst.Assign(value=cst.BinaryOperation(left=left, operator=cst.Add(), right=right)):
            added = right if left.deep_equals(target) else left
        case _:
            return False
    if isinstance(added, cst.Integer | cst.Float):
        return False
    inside: cst.CSTNode = statement
    for around in unit.around(statement):
        match around:
            case cst.FunctionDef():
                return False
            case cst.If(test=test, body=body) if body is inside and _is_below_zero(test, target):
                return True
        inside = around
    return False


def _is_below_zero(test: cst.BaseExpression, target: cst.BaseExpression) -> bool:
    match test:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.LessThan(), comparator=cst.Integer(value="0"))],
        ):
            return left.deep_equals(target)
        case _:
            return False


def first_counted(counter: Location, number: cst.BaseExpression) -> int | None:
    """The number from which a loop counts, at the place of a counter, if an expression names what it counts with."""
    for around in counter.unit.around(counter.node):
        match around:
            case cst.For(target=target, iter=counted) if counted is counter.node:
                return _first(target, counted, number)
    return None


def _first(target: cst.BaseExpression, counted: cst.BaseExpression, number: cst.BaseExpression) -> int | None:
    match counted, target:
        case cst.Call(func=cst.Name("range"), args=[cst.Arg()]), cst.Name() as counting:
            first = 0
        case cst.Call(
            func=cst.Name("range"), args=[cst.Arg(cst.Integer() as start), cst.Arg()]
        ), cst.Name() as counting:
            first = start.evaluated_value
        case (
            cst.Call(func=cst.Name("enumerate"), args=[cst.Arg()]),
            cst.Tuple(elements=[cst.Element(value=counting), *_]),
        ):
            first = 0
        case _:
            return None
    return first if counting.deep_equals(number) else None
