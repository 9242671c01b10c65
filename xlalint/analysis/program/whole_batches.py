"""Sizes that a program says its data fill: `assert len(x) % size == 0`, `if len(x) % size: raise ValueError(..)`."""

from __future__ import annotations

from functools import lru_cache

from ...syntax import nodes as cst
from ..files.unit import Unit


def comes_out_even(unit: Unit, batches: cst.CSTNode) -> bool:
    """Whether the program stops, in the same file, where the data do not fill batches of a size that stands in
    `batches`."""
    sizes = _asserted(unit)
    return bool(sizes) and any(
        isinstance(part, cst.BaseExpression) and unit.code(part) in sizes for part in cst.within(batches)
    )


@lru_cache(maxsize=32)
def _asserted(unit: Unit) -> frozenset[str]:
    found = set()
    for node in cst.within(unit.tree):
        match node:
            case cst.Assert(test=test):
                size = _divisor(test, even=True)
            case cst.If(test=test, body=cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[*_, cst.Raise()])])):
                size = _divisor(test, even=False)
            case _:
                continue
        if size is not None:
            found.add(unit.code(size))
    return frozenset(found)


def _divisor(test: cst.BaseExpression, *, even: bool) -> cst.BaseExpression | None:
    """What something is divided by in a condition that holds if a rest is left, or, if `even`, if none is."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _divisor(inner, even=not even)
        case cst.BinaryOperation(operator=cst.Modulo(), right=size):
            return None if even else size
        case cst.Comparison(
            left=cst.BinaryOperation(operator=cst.Modulo(), right=size),
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Integer(value="0"))],
        ):
            return size if isinstance(operator, cst.Equal if even else cst.NotEqual | cst.GreaterThan) else None
        case _:
            return None
