"""Conditions that leave a function, or go on with the next iteration, where there is nothing to do."""

from __future__ import annotations

from collections.abc import Set

from ...syntax import nodes as cst
from ..domain.values import Function
from .surroundings import Around


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


def passes_over(condition: Around, loop: cst.CSTNode) -> bool:
    """Whether a condition leaves out elements of a loop, which goes on with the others: `if not rows[user]: continue`;
    not all but every hundredth. Or it leaves out where two of them are the same: `if word != other:`."""
    if isinstance(loop, cst.For) and _is_for_others(condition, set(cst.names_in(loop.target))):
        return True
    match condition.node, loop:
        case cst.If(test=test, body=cst.BaseSuite(body=[line]), orelse=None), cst.For(target=target):
            asked = list(cst.within(test))
        case _:
            return False
    goes_on = isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Continue)
    counted = any(isinstance(part, cst.Modulo) for part in asked)
    names = {part.value for part in asked if isinstance(part, cst.Name)}
    return goes_on and not counted and not names.isdisjoint(cst.names_in(target))


def _is_for_others(condition: Around, elements: Set[str]) -> bool:
    """Whether a side of a condition is for elements of a loop that are not the same as something else."""
    unequal = {"then": cst.NotEqual, "else": cst.Equal}.get(condition.side)
    match condition.node:
        case cst.If(
            test=cst.Comparison(
                left=cst.Name(value=one),
                comparisons=[cst.ComparisonTarget(operator=sign, comparator=cst.Name(value=other))],
            )
        ):
            return unequal is not None and isinstance(sign, unequal) and not elements.isdisjoint((one, other))
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
