"""What stays of a finding when the file around it changes: the code that it flags, as a tree, not as lines.

Line numbers, white space, line breaks, quotes, brackets that change nothing and comments are no part of it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from ..findings.codes import INVALID_SUPPRESSION, UNUSED_SUPPRESSION
from ..findings.findings import Finding
from ..sources.outline import OutlineError, parsed
from ..sources.reading import source_of
from ..sources.text import Source, UnreadableSource, read_bytes, split_lines

Content: TypeAlias = Callable[[str], bytes | None]
"""What is in a file, by its path as reports show it; None where it cannot be read."""

_BLOCKS: Final = frozenset(("body", "orelse", "finalbody", "handlers", "cases"))
_SHOWN: Final = 80  # characters of the flagged code, for who reads a baseline
_Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A finding as it is known again. `scope`: the functions and classes around it; `key`: a digest of the flagged code
    and of its statement, the blocks in it left out; `source`: the beginning of the code, for people."""

    path: str
    code: str
    scope: str
    key: str
    source: str


def contents(overlay: Mapping[str, bytes]) -> Content:
    """A function that reads files; `overlay` stands in for files on the disk."""

    def content(path: str) -> bytes | None:
        try:
            return overlay[path] if path in overlay else read_bytes(Path(path))
        except UnreadableSource:  # reported as such
            return None

    return content


def is_under(path: str, tops: Iterable[str]) -> bool:
    """Whether a path is one of these, or lies below one; all are relative to the same folder."""
    return any(top in (".", path) or path.startswith(f"{top}/") for top in tops)


def marks_of(findings: Iterable[Finding], content: Content) -> list[Mark]:
    """The marks of findings, in their order. Their paths are those of the findings."""

    @lru_cache(maxsize=8)  # findings come by file
    def read(path: str) -> _File:
        return _File(content(path), path)

    return [read(finding.path).mark(finding) for finding in findings]


class _File:
    """A file in which findings are marked."""

    def __init__(self, data: bytes | None, path: str) -> None:
        self._data, self._path = data, path

    @cached_property
    def _source(self) -> Source | None:
        try:
            return None if self._data is None else source_of(self._data, Path(self._path), self._path)
        except UnreadableSource:  # which is a finding of its own
            return None

    @cached_property
    def _lines(self) -> list[str]:
        return [] if self._source is None else split_lines(self._source.text)

    @cached_property
    def _tree(self) -> ast.Module | None:
        try:
            return None if self._source is None else parsed(self._source.text)
        except OutlineError:  # which is a finding of its own
            return None

    def mark(self, finding: Finding) -> Mark:
        above = 0
        if self._source is not None and finding.cell is not None:
            above = next((cell.first - 1 for cell in self._source.cells if cell.cell == finding.cell), 0)
        first, last = above + finding.span.line, above + finding.span.end_line
        flagged = [" ".join(line.split()) for line in self._lines[first - 1 : last]]
        about_comment = finding.code in (UNUSED_SUPPRESSION, INVALID_SUPPRESSION)
        nodes = None if about_comment else self._around(first, finding.span.column, last, finding.span.end_column)
        shown = " ".join(flagged)
        if nodes is None:  # its text is all that there is
            return Mark(self._path, finding.code, "", _digest(shown), shown[:_SHOWN])
        scopes = [node.name for node in nodes[:-1] if isinstance(node, _Scope)]
        statement = next(node for node in reversed(nodes) if isinstance(node, ast.stmt))
        key = _digest("".join((*_spelled(nodes[-1]), "\n", *_spelled(statement))))
        return Mark(self._path, finding.code, ".".join(scopes), key, shown[:_SHOWN])

    def _around(self, line: int, column: int, end_line: int, end_column: int) -> list[ast.AST] | None:
        """The nodes that hold a place, from the outermost statement to the smallest; None where there is none."""
        if self._tree is None or not 1 <= line <= end_line <= len(self._lines):
            return None
        start = line, len(self._lines[line - 1][: column - 1].encode())
        end = end_line, len(self._lines[end_line - 1][: end_column - 1].encode())
        found: list[ast.AST] = []
        inside: ast.AST | None = self._tree
        while inside is not None:
            inside = next((node for node in _placed(inside) if _begin(node) <= start and end <= _end(node)), None)
            if inside is not None:
                found.append(inside)
        return found or None


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below that have a place: some, such as a function's parameters, have none."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)


def _begin(node: ast.AST) -> tuple[int, int]:
    """Where a node begins: a definition with its decorators."""
    places = [(one.lineno, one.col_offset) for one in (node, *getattr(node, "decorator_list", ()))]
    return min(places)


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _spelled(node: object) -> Iterator[str]:
    """A tree as text, the same for every version of Python: what is absent is left out, and blocks of statements."""
    match node:
        case ast.AST():
            yield f"{type(node).__name__}("
            for name, value in ast.iter_fields(node):
                if name not in _BLOCKS and name not in ("ctx", "kind", "type_comment") and value not in (None, []):
                    yield f"{name}="
                    yield from _spelled(value)
            yield ")"
        case list():
            for item in node:
                yield from _spelled(item)
                yield ","
        case _:
            yield repr(node)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:24]
