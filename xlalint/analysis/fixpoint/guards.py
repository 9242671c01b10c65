"""Conditions that leave a function, or go on with the next iteration, where there is nothing to do."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import Function


def finds_nothing(condition: cst.CSTNode, function: Function | None) -> bool:
    """Whether a condition leaves what has found nothing, which is no matter of how often that is asked: `if len(boxes)
    == 0: return`, `if found is None: continue`, `if not boxes: return` of what the function has been given."""
    if not isinstance(condition, cst.If) or not _leaves_at_once(condition):
        return False
    match condition.test:
        case cst.Comparison(
            left=cst.Call(func=cst.Name("len")),
            comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.Integer("0"))],
        ):
            return True
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.Is(), comparator=cst.Name("None"))]):
            return True
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name(name)) if function is not None:
            return _is_given(name, function.node.body)
        case _:
            return False


def goes_on_without(condition: cst.CSTNode) -> bool:
    """Whether a condition leaves what an object says that it lacks: `if not self.sound.loaded: return`."""
    match condition:
        case cst.If(test=cst.UnaryOperation(operator=cst.Not(), expression=cst.Attribute())):
            return _leaves_at_once(condition)
        case _:
            return False


def _leaves_at_once(condition: cst.If) -> bool:
    """Whether a condition has one side, which leaves; it may say so before."""
    match condition:
        case cst.If(body=cst.BaseSuite(body=[*said, cst.SimpleStatementLine(body=[last])]), orelse=None):
            plain = (isinstance(line, cst.SimpleStatementLine) for line in said)
            return isinstance(last, cst.Return | cst.Continue) and all(plain)
        case _:
            return False


def _is_given(name: str, body: cst.CSTNode) -> bool:
    """Whether each value of a name is what a call returns: a condition that was computed before is none."""
    values = [
        part.value
        for part in cst.within(body)
        if isinstance(part, cst.Assign) and any(name in cst.names_in(target.target) for target in part.targets)
    ]
    return bool(values) and all(isinstance(value, cst.Call) for value in values)
