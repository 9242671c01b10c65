"""Which lines belong to one statement: what the compiler says of a line is said of the statement that it is part of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

_Stretch: TypeAlias = tuple[int, int, int, int]  # first line and column, last line and the column behind
_HEADED = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Statements:
    """The statements of files, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, tuple[int, int]]] = {}
        self._raising: dict[str, dict[int, int]] = {}
        self._leaving: dict[str, dict[int, int]] = {}
        self._unpacking: dict[str, dict[_Stretch, _Stretch]] = {}
        self._calling: dict[str, dict[_Stretch, str]] = {}

    def together(self, path: str, line: int, first: int, last: int) -> bool:
        """Whether a line is part of a stretch of lines, or of the statement that the stretch begins in."""
        start, end = self.lines(path, line)
        return first <= line <= last or start <= first <= end

    def lines(self, path: str, line: int) -> tuple[int, int]:
        """The first and last line of the statement at a line."""
        if path not in self._known:
            self._known[path] = statements(path)
        return self._known[path].get(line, (line, line))

    def left_at(self, path: str, line: int) -> int | None:
        """The line of the innermost loop that a `break` at a line leaves; None where another statement is there."""
        if path not in self._leaving:
            self._leaving[path] = dict(_breaks(_tree(path), None))
        return self._leaving[path].get(line)

    def condition_of_raise(self, path: str, line: int) -> int | None:
        """The line of the innermost condition around a `raise` at a line; None where another statement is there."""
        if path not in self._raising:
            self._raising[path] = dict(_raises(_tree(path), None))
        return self._raising[path].get(line)

    def unpacked(self, path: str, targets: _Stretch) -> _Stretch:
        """What is unpacked into targets, which is where Python says that it fails; of anything else, the same."""
        if path not in self._unpacking:
            self._unpacking[path] = dict(_unpackings(path))
        return self._unpacking[path].get(targets, targets)

    def called_at(self, path: str, call: _Stretch) -> str:
        """The last name of what a call calls; nothing of another expression."""
        if path not in self._calling:
            self._calling[path] = dict(_callings(path))
        return self._calling[path].get(call, "")


def _callings(path: str) -> Iterator[tuple[_Stretch, str]]:
    """The calls of what has a name, each with the last part of that."""
    tree = _tree(path)
    lines = Path(path).read_bytes().splitlines() if tree.body else []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield _stretch(node, lines), name


def _unpackings(path: str) -> Iterator[tuple[_Stretch, _Stretch]]:
    """The assignments to several targets at once: the stretch of the targets, and that of the value."""
    tree = _tree(path)
    lines = Path(path).read_bytes().splitlines() if tree.body else []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple | ast.List):
                    yield _stretch(target, lines), _stretch(node.value, lines)


def _stretch(node: ast.expr, lines: Sequence[bytes]) -> _Stretch:
    last = node.end_lineno or node.lineno
    return (
        node.lineno,
        _column(lines, node.lineno, node.col_offset),
        last,
        _column(lines, last, node.end_col_offset or 0),
    )


def _column(lines: Sequence[bytes], line: int, offset: int) -> int:
    """A column as findings have it, of an offset in bytes."""
    return len(lines[line - 1][:offset].decode("utf-8", "replace")) + 1


def _raises(node: ast.AST, condition: int | None) -> Iterator[tuple[int, int]]:
    """The lines of `raise` statements under conditions, each with that of the innermost one."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Raise(lineno=first, end_lineno=last) if condition is not None:
                yield from ((line, condition) for line in range(first, (last or first) + 1))
            case ast.If(test=test):
                yield from _raises(child, test.lineno)
            case _:
                yield from _raises(child, None if isinstance(child, _DEFINED) else condition)


def _breaks(node: ast.AST, loop: int | None) -> Iterator[tuple[int, int]]:
    """The lines of `break` statements, each with that of the loop that it leaves."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Break(lineno=line) if loop is not None:
                yield line, loop
            case ast.For(lineno=line) | ast.While(lineno=line):
                yield from _breaks(child, line)
            case _:
                yield from _breaks(child, None if isinstance(child, _DEFINED) else loop)


def _tree(path: str) -> ast.Module:
    """The syntax of a file; an empty one of what cannot be read or parsed any more."""
    try:
        return ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def statements(path: str) -> dict[int, tuple[int, int]]:
    """By line of a file, the first and last line of the innermost statement there; of a compound one, of its head.

    Empty for what cannot be read or parsed any more.
    """
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(_tree(path)):  # from the outside to the inside
        if isinstance(node, ast.stmt):
            last = node.end_lineno or node.lineno
            if isinstance(node, (*_HEADED, *_DEFINED)):
                body = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
                last = max(node.lineno, body.lineno - 1)
            found.update(dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last)))
    return found
