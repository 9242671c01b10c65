"""On which side of the conditions around it something stands: of two things on opposite sides one run does only one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.syntax import nodes as cst

_LEAVES = (cst.Return, cst.Raise)
Sides = Mapping[int, bool]  # by the identities of the `if` statements: whether it stands in their bodies


def sides(location: Location) -> Sides:
    """The `if` statements around a place, or left by a `return` before it."""
    found, inner = dict[int, bool](), location.node
    for outer in location.unit.around(inner):
        match outer:
            case cst.If(test=test, body=body) if inner is not test:
                found[id(outer)] = inner is body
            case cst.BaseSuite(body=lines):
                found |= {id(line): False for line in _before(lines, inner) if _is_left(line)}
        inner = outer
    return found


def sides_of_call(step: SetupCall) -> Sides:
    """Those of a call, and of the calls that lead there."""
    found, trail = {**sides(step.location)}, step.trail
    while trail is not None:
        found = {**sides(trail.location), **found}
        trail = trail.parent
    return found


def are_opposite(one: Sides, other: Sides) -> bool:
    """Whether a condition stands between two things."""
    return any(one.get(node, side) != side for node, side in other.items())


def _before(lines: Sequence[cst.CSTNode], line: cst.CSTNode) -> Iterator[cst.CSTNode]:
    return iter(lines[: next((at for at, each in enumerate(lines) if each is line), 0)])


def _is_left(line: cst.CSTNode) -> bool:
    """Whether the function ends in the body of a condition."""
    match line:
        case cst.If(body=cst.BaseSuite(body=[*_, cst.SimpleStatementLine(body=[*_, last])])):
            return isinstance(last, _LEAVES)
        case _:
            return False
