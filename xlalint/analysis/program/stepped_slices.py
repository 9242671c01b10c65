"""Slices that go through data in steps, as they are written: `x[i:i + n]` beside `i += n`, until `i >= len(x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Unit

_PLACES: Final = (cst.Name, cst.Attribute, cst.BinaryOperation, cst.Call)


def leaves_a_rest(unit: Unit, piece: cst.Slice) -> bool:
    """Whether the last one of such slices may be shorter: nothing asks beforehand whether all of it is there, or it is
    cut where the data end: `x[i:min(i + n, len(x))]`."""
    if not isinstance(piece.lower, _PLACES) or not isinstance(piece.upper, _PLACES) or piece.step is not None:
        return False
    named = _Named(unit)
    lower, upper = named.meant(piece.lower), named.meant(piece.upper)
    match upper:
        case cst.Call() if len(bounds := _smaller_of(upper)) > 1:
            ends = [named.meant(bound) for bound in bounds]
            follows = any(named.follows(lower, end) is not None for end in ends)
            return follows and not any(isinstance(end, cst.Integer) for end in ends)
    step = named.follows(lower, upper)
    if step is None or not any(named.is_taken(node, *step) for node in cst.within(unit.tree)):
        return False
    compared = {text for node in cst.within(unit.tree) for text in named.compared(node)}
    return named.text(lower) in compared and named.text(upper) not in compared


def _smaller_of(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call takes the smallest of: `min(a, b)`, `np.minimum(a, b)`, `np.min((a, b))`."""
    match call:
        case cst.Call(func=cst.Name("min") | cst.Attribute(attr=cst.Name("minimum")), args=[first, second]):
            return [first.value, second.value]
        case cst.Call(
            func=cst.Name("min") | cst.Attribute(attr=cst.Name("min" | "amin")),
            args=[cst.Arg(cst.Tuple(elements) | cst.List(elements))],
        ):
            return [element.value for element in elements]
        case _:
            return []


def _factors(product: cst.BinaryOperation) -> tuple[tuple[cst.BaseExpression, cst.BaseExpression], ...]:
    """The two factors of a product, in either order."""
    return (product.left, product.right), (product.right, product.left)


class _Named:
    """The code of a unit, with the names that are assigned in one place."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._assigned: dict[str, list[cst.BaseExpression | None]] = {}  # None: of the value before
        for node in cst.within(unit.tree):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    own = any(isinstance(part, cst.Name) and part.value == name for part in cst.within(value))
                    self._assigned.setdefault(name, []).append(None if own else value)
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple(elements=values)
                ) if len(names) == len(values):
                    for each, given in zip(names, values, strict=True):
                        if isinstance(each.value, cst.Name):
                            self._assigned.setdefault(each.value.value, []).append(given.value)
                case cst.AugAssign(target=cst.Name(value=name)):
                    self._assigned.setdefault(name, []).append(None)

    def text(self, node: cst.CSTNode) -> str:
        return self._unit.compact(node).removeprefix("(").removesuffix(")")

    def meant(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a name stands for that is assigned in one place only."""
        match node:
            case cst.Name(value=name) if len(assigned := self._assigned.get(name, [])) == 1:
                return assigned[0] or node
            case _:
                return node

    def follows(self, lower: cst.BaseExpression, upper: cst.BaseExpression) -> tuple[str, str] | None:
        """The counter and its step, where a slice from `lower` to `upper` is one of them."""
        match upper, lower:
            case cst.BinaryOperation(left=left, operator=cst.Add(), right=right), _:
                sides = {self.text(self.meant(side)): side for side in (left, right)}
                sides |= {self.text(side): side for side in (left, right)}
                if (start := self.text(lower)) in sides:
                    other = right if sides[start] is left else left
                    return self.text(lower), self.text(other)
            case cst.BinaryOperation(operator=cst.Multiply()), cst.BinaryOperation(operator=cst.Multiply()):
                starts = [(self.text(first), self.text(size)) for first, size in _factors(lower)]
                for number, size in _factors(upper):
                    match number:
                        case cst.BinaryOperation(left=counter, operator=cst.Add(), right=one):
                            if (self.text(counter), self.text(size)) in starts:
                                return self.text(counter), self.text(one)
        return None

    def is_taken(self, node: cst.CSTNode, counter: str, step: str) -> bool:
        """Whether a statement moves the counter by the step."""
        match node:
            case cst.AugAssign(target=target, operator=cst.AddAssign(), value=value):
                return (self.text(target), self.text(value)) == (counter, step)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if self.text(target) == counter:
                return self.text(self.meant(value)) in (f"{counter}+{step}", f"{step}+{counter}")
            case _:
                return False

    def compared(self, node: cst.CSTNode) -> Iterator[str]:
        """What a comparison asks about, as it is written and as it is meant; not where it is a written number, of which
        nobody knows what it is chosen for."""
        match node:
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
                sides = (left, right)
                if not any(isinstance(side, cst.Integer) for side in sides):
                    yield from map(self.text, (*sides, *map(self.meant, sides)))
