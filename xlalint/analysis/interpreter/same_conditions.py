"""A condition that is asked again: what its two sides left is told apart where the same is asked once more.

if use_tfrecords:
    data = read()
else:
    data = load()
..
if use_tfrecords:
    model.fit(data)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...syntax import nodes as cst
from ..domain.values import Setting, Static, Value
from .frames import Frame


@dataclass(frozen=True, slots=True)
class Sides:
    """What was left by the two sides of a condition. `asked`: what it names, with the `attributes` that it asks for,
    and `test`, what it came to, behind a `not` perhaps; `left`: by name, what both sides came to, and what each did,
    the side first where the condition holds."""

    asked: Mapping[str, Value | None]
    attributes: frozenset[str]
    test: Value
    negated: bool
    left: Mapping[str, tuple[Value, Value, Value]]


def note_sides(
    frame: Frame, node: cst.BaseExpression, test: Value, holds: dict[str, Value] | None, fails: dict[str, Value] | None
) -> None:
    """Note what the sides of a condition have left, which meet now."""
    if frame.env is None or holds is None or fails is None or not frame.unit.told(_is_plain, node):
        return
    condition, negated = _condition(node)
    written = frame.unit.compact(condition)
    if negated:
        holds, fails = fails, holds
    before = frame.sides.get(written)
    for name, (both, one, other) in before.left.items() if before is not None else ():
        if holds.get(name) is one and fails.get(name) is other:
            frame.env[name] = both  # as it was before it was told apart
    left = {
        name: (value, one, other)
        for name, one in holds.items()  # most names are what they were on either side
        if one is not (other := fails.get(name)) and other is not None and (value := frame.env.get(name)) is not None
    }
    if left:
        frame.sides[written] = Sides(
            _asked(frame, condition), frame.unit.told(_attributes, condition), test, negated, left
        )


def recall_sides(frame: Frame, node: cst.BaseExpression, test: Value, *, taken: bool) -> None:
    """On one side of a condition, have names be what the same side of the same condition left, unless they have been
    bound anew."""
    if frame.env is None or not frame.sides or not frame.unit.told(_is_plain, node):
        return
    condition, negated = _condition(node)
    sides = frame.sides.get(frame.unit.compact(condition))
    if sides is None or not (_is_same(frame, sides) and _is_answered_alike(sides, condition, test, negated=negated)):
        return
    for name, (both, holds, fails) in sides.left.items():
        if frame.env.get(name) is both:
            frame.env[name] = holds if taken is not negated else fails


def forget_sides(frame: Frame, attribute: str) -> None:
    """An attribute is assigned to, which conditions may ask for."""
    for written in [written for written, sides in frame.sides.items() if attribute in sides.attributes]:
        del frame.sides[written]


def _condition(node: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """A condition without its `not`, and whether it has one."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            condition, negated = _condition(inner)
            return condition, not negated
        case _:
            return node, False


def _is_plain(node: cst.CSTNode) -> bool:
    """Whether a condition asks for names, attributes and constants alone, and so may be asked again with the same
    answer."""
    match node:
        case cst.Name() | cst.SimpleString() | cst.Integer():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _is_plain(inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _is_plain(left) and _is_plain(right)
        case _:
            return False


def _asked(frame: Frame, node: cst.BaseExpression) -> dict[str, Value | None]:
    assert frame.env is not None
    return {name: frame.env.get(name) for name in _names(node)}


def _names(node: cst.CSTNode) -> Iterator[str]:
    """The names that a plain condition begins its parts with."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Attribute(value=inner):
            yield from _names(inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            yield from _names(left)
            yield from _names(right)


def _attributes(node: cst.BaseExpression) -> frozenset[str]:
    return frozenset(part.attr.value for part in cst.within(node) if isinstance(part, cst.Attribute))


def _is_answered_alike(sides: Sides, condition: cst.BaseExpression, test: Value, *, negated: bool) -> bool:
    """Whether nobody has set the attributes that a condition asks for, as far as its value shows."""
    if isinstance(condition, cst.Name):
        return True
    if sides.negated == negated:
        return sides.test == test
    match sides.test, test:
        case Static(setting=Setting(name=one)), Static(setting=Setting(name=other)):
            return one == other
        case _:
            return False


def _is_same(frame: Frame, sides: Sides) -> bool:
    return frame.env is not None and all(frame.env.get(name) is value for name, value in sides.asked.items())
