"""What has to be made in the scope of a distribution strategy, moved there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .known import dotted
from .names import Names
from .rewrite import NodeEdit, Rewrite, after, before, remove, replace
from .syntax import assigned, indented, read

_TITLE: Final = "Create it in the strategy's scope"
_DIFFERS: Final = "in the order of creation, and for code that uses the object without the strategy"


@dataclass(frozen=True, slots=True)
class _Scope:
    """`with strategy.scope():` as statement number `at` of a block."""

    at: int
    strategy: str
    body: Sequence[cst.CSTNode]


def in_scope(location: Location, names: Names) -> Rewrite | None:
    """The statement around `place` in the scope of the only strategy that its block has a scope of: in the `with` that
    stands there where the lines between do not mind, else in one of its own. None where no strategy is there yet, or
    what is made has no name."""
    line, block = _line_in_block(location)
    if line is None:
        return None
    at = next(number for number, one in enumerate(block) if one is line)
    scopes = [scope for number, one in enumerate(block) if (scope := _scope(number, one)) is not None]
    if len({scope.strategy for scope in scopes}) != 1:
        return None
    edits = _moved(location, line, at, block, scopes) or _wrapped(location, line, at, block, scopes[0].strategy, names)
    return Rewrite(_TITLE, tuple(edits), Safety.UNSAFE, _DIFFERS) if edits else None


def _line_in_block(location: Location) -> tuple[cst.SimpleStatementLine | None, Sequence[cst.CSTNode]]:
    """The line of its own around a place, and the statements of its block."""
    around = [*location.unit.around(location.node)]
    for inner, outer in pairwise(around):
        match inner, outer:
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[_]) | cst.Expr()]), (
                cst.IndentedBlock(body=lines) | cst.Module(body=lines)
            ):
                return inner, lines
            case cst.BaseStatement() | cst.BaseSuite(), _:
                break
    return None, ()


def _scope(number: int, node: cst.CSTNode) -> _Scope | None:
    match node:
        case cst.With(
            items=[cst.WithItem(item=cst.Call(func=cst.Attribute(value=strategy, attr=cst.Name("scope")), args=[]))],
            body=cst.IndentedBlock(body=body),
        ) if (name := dotted(strategy)) is not None:
            return _Scope(number, name, body)
        case _:
            return None


def _moved(
    location: Location, line: cst.SimpleStatementLine, at: int, block: Sequence[cst.CSTNode], scopes: Sequence[_Scope]
) -> list[NodeEdit]:
    """The statement at the beginning of the scope below it, or at the end of the scope just above; none where what
    stands between has to do with it."""
    text = location.unit.statement(line, above=False).rstrip("\r\n")
    if "\n" in text or "#" in location.unit.statement(line):
        return []  # comments and layout stay where they are
    below = next((scope for scope in scopes if scope.at > at), None)
    made = set(assigned([line]))
    if below is not None and made:
        between = block[at + 1 : below.at]
        uses, needs = {name for one in between for name in read(one)}, set(read(line))
        binds = {name for one in between for name in assigned([one])}
        if not made & (uses | binds) and not needs & binds:
            return [remove(location.at(line)), before(location.at(below.body[0]), text)]
    above = next((scope for scope in scopes if scope.at == at - 1), None)
    if above is not None:
        return [after(location.at(above.body[-1]), text), remove(location.at(line))]
    return []


def _wrapped(
    location: Location,
    line: cst.SimpleStatementLine,
    at: int,
    block: Sequence[cst.CSTNode],
    strategy: str,
    names: Names,
) -> list[NodeEdit]:
    """The statement in a scope of its own, where the strategy has its name already."""
    if not any(strategy in assigned([one]) for one in block[:at]):
        return []
    text = indented(location.unit.code(line), names.indent)
    return [replace(location.at(line), f"with {strategy}.scope():\n{text}")]
