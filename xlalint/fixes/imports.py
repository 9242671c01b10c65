"""Where a file takes a new import."""

from __future__ import annotations

import ast
from enum import Enum, auto
from functools import lru_cache
from typing import Final, NamedTuple

from ..findings.findings import Edit, Span
from ..sources.text import newline_of, split_lines

# Fixes are built file by file: what is known of a few is enough, and a file may need hundreds.
_KEPT: Final = 8


class _Kind(Enum):
    TEXT = auto()
    IMPORT = auto()
    DEFINITION = auto()
    OTHER = auto()


class _Statement(NamedTuple):
    """A statement at the top of a file: its lines, decorators among them, and the column behind the last one."""

    kind: _Kind
    first: int
    last: int
    behind: int


def import_edit(text: str, statement: str, line: int) -> Edit:
    """Insert an import that code at `line` needs: behind the imports that stand before the first definition, since
    what stands between them (the environment, the path) may matter to it; else behind the docstring, else on top."""
    behind: _Statement | None = None
    first: int | None = None
    for node in _statements(text):
        match node.kind:
            case _Kind.TEXT if first is None and behind is None:
                behind = node
                continue
            case _Kind.DEFINITION:
                first = first or node.first
                break
            case _ if node.last >= line:
                first = first or node.first
                break
            case _Kind.IMPORT:
                behind = node
        first = first or node.first
    newline = newline_of(text)
    if behind is not None:
        return Edit(Span(behind.last, behind.behind, behind.last, behind.behind), f"{newline}{statement}")
    top = first or 1
    return Edit(Span(top, 1, top, 1), f"{statement}{newline}{newline}")


@lru_cache(_KEPT)
def _statements(text: str) -> tuple[_Statement, ...]:
    """Those of a file up to its first definition."""
    lines, found = split_lines(text), list[_Statement]()
    for node in ast.parse(text).body:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first, last = min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno or node.lineno
        found.append(_Statement(_kind_of(node), first, last, len(lines[last - 1]) + 1))
        if found[-1].kind is _Kind.DEFINITION:
            break
    return tuple(found)


def _kind_of(node: ast.stmt) -> _Kind:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return _Kind.TEXT
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return _Kind.DEFINITION
        case ast.Import() | ast.ImportFrom():
            return _Kind.IMPORT
        case _:
            return _Kind.OTHER
