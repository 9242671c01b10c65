"""Sizes that a program says its data fill: `assert len(x) % size == 0`, `if len(x) % size: raise ValueError(..)`; and
batches that are as long as what is sliced, of which there is one."""

from __future__ import annotations

from functools import lru_cache

from ...syntax import nodes as cst
from ..files.unit import Unit

_SAME_COUNT = frozenset(("cache", "map", "prefetch", "shuffle"))  # as many elements as before


def comes_out_even(unit: Unit, batches: cst.CSTNode) -> bool:
    """Whether the program stops, in the same file, where the data do not fill batches of a size that stands in
    `batches`, or all of the data are one batch."""
    if _takes_all(unit, batches):
        return True
    sizes = _asserted(unit)
    return bool(sizes) and any(
        isinstance(part, cst.BaseExpression) and unit.code(part) in sizes for part in cst.within(batches)
    )


def _takes_all(unit: Unit, batches: cst.CSTNode) -> bool:
    """`Dataset.from_tensor_slices((x, y)).batch(len(x))`, also by `x.shape[0]`."""
    match batches:
        case cst.Call(func=cst.Attribute(value=data, attr=cst.Name("batch")), args=[cst.Arg(value=size), *_]):
            pass
        case _:
            return False
    match size:
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(value=held)]):
            pass
        case cst.Subscript(
            value=cst.Attribute(value=held, attr=cst.Name("shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer("0")))],
        ):
            pass
        case _:
            return False
    while isinstance(data, cst.Call) and isinstance(data.func, cst.Attribute):
        if data.func.attr.value == "from_tensor_slices":
            return any(_is_held(unit, argument.value, unit.code(held)) for argument in data.args)
        data = data.func.value if data.func.attr.value in _SAME_COUNT else cst.Name("_")
    return False


def _is_held(unit: Unit, given: cst.BaseExpression, text: str) -> bool:
    """Whether what is sliced is an expression, or a tuple or dict of which that is a part."""
    match given:
        case cst.Tuple(elements=elements) | cst.Dict(elements=elements):
            return any(
                _is_held(unit, element.value, text)
                for element in elements
                if isinstance(element, cst.Element | cst.DictElement)
            )
        case _:
            return unit.code(given) == text


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
