"""Two versions of a text with the same code: comments, docstrings and blank lines may differ, and with them the lines
on which the code stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from itertools import islice, zip_longest
from typing import Final, NamedTuple, TypeAlias

from .outline import OutlineError, parsed

_BEHIND: Final = re.compile(r"[ \t]*(?:#[^\r\n]*)?[\r\n]*\Z")  # what may stand behind code
_DOCUMENTED: Final = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
_Part: TypeAlias = ast.stmt | ast.ExceptHandler | ast.match_case


@dataclass(frozen=True, slots=True)
class Shift:
    """Where the lines of a text stand in a later version with the same code. `lines`: those with code, and the first
    and last of docstrings, by their numbers before; `altered`: those of them that read otherwise all the same."""

    lines: dict[int, int]
    altered: frozenset[int]


class _Piece(NamedTuple):
    """A line of code, or a docstring (`code` is None); `code`: without the comment behind it."""

    first: int
    last: int
    code: str | None
    text: str


def shift(before: str, after: str) -> Shift | None:
    """Where the lines of `before` stand in `after`; None where the code is not the same, or it takes more to tell."""
    if "\f" in before or "\f" in after or _is_plainly_other(before, after):
        return None
    lines: dict[int, int] = {}
    altered = set[int]()
    try:
        for old, new in zip_longest(_pieces(before), _pieces(after)):
            if old is None or new is None or old.code != new.code:
                return None
            lines[old.first], lines[old.last] = new.first, new.last
            if old.text != new.text:
                altered |= {old.first, old.last}
    except OutlineError:
        return None
    return Shift(lines, frozenset(altered))


def _is_plainly_other(before: str, after: str) -> bool:
    """Whether the first line of code that differs shows that the code does, as with most edits: told without parsing,
    and only where no string is near that might hold it."""
    old, new = before.splitlines(), after.splitlines()
    shorter = min(len(old), len(new))
    first = next((number for number in range(shorter) if old[number] != new[number]), shorter)
    if sum(line.count(quotes) for line in new[:first] for quotes in ('"""', "'''")) % 2:
        return False
    for one, other in zip_longest(_codes(old, first), _codes(new, first), fillvalue=""):
        if one != other or one is None:
            return one is not None and other is not None
    return False


def _codes(lines: list[str], first: int) -> Iterator[str | None]:
    """Lines from the first on, without comments and blank lines; None for one that may hold a string."""
    for line in islice(lines, first, None):
        if "'" in line or '"' in line:
            yield None
        elif code := line.partition("#")[0].rstrip():
            yield code


class _Shape:
    """What Python's tree says of the lines of a text. `opaque`: lines inside of statements, where what looks like a
    comment may be text; `ends`: in which column, of UTF-8, the last statement on a line ends; `documents`: docstrings,
    by their first line."""

    def __init__(self, text: str) -> None:
        self.opaque = set[int]()
        self.ends: dict[int, int] = {}
        self.documents: dict[int, ast.Expr] = {}
        pending: list[ast.Module | _Part] = [parsed(text)]
        while pending:
            node = pending.pop()
            for block in _BLOCKS:
                parts: list[_Part] = getattr(node, block, [])
                for number, part in enumerate(parts):
                    match part:
                        case ast.Expr(value=ast.Constant(value=str())) if not number and isinstance(node, _DOCUMENTED):
                            self.documents[part.lineno] = part
                        case _:
                            self._note(part)
                            pending.append(part)

    def _note(self, part: _Part) -> None:
        for first, last in _spans(part):
            if last > first:
                self.opaque.update(range(first, last + 1))
        if isinstance(part, ast.stmt) and not hasattr(part, "body") and not hasattr(part, "cases"):
            last = part.end_lineno or part.lineno
            self.ends[last] = max(part.end_col_offset or 0, self.ends.get(last, 0))


def _spans(part: _Part) -> Iterator[tuple[int, int]]:
    """The first and last line of a statement, or of each expression in front of its blocks: texts stand in those."""
    whole = not any(hasattr(part, block) for block in _BLOCKS)
    if not isinstance(part, ast.match_case):
        yield part.lineno, (part.end_lineno or part.lineno) if whole else part.lineno
    pending: list[ast.AST] = [] if whole else [part]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, ast.expr | ast.arg | ast.keyword | ast.pattern):
                yield child.lineno, child.end_lineno or child.lineno
            elif not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                pending.append(child)


@lru_cache(maxsize=4)
def _pieces(text: str) -> tuple[_Piece, ...]:
    """Those of a text, which the next edit compares with what it comes to. Raises OutlineError."""
    return tuple(_pieces_of(text, _Shape(text)))


def _pieces_of(text: str, shape: _Shape) -> Iterator[_Piece]:
    lines = StringIO(text, newline="").readlines()
    number = 0
    while number < len(lines):
        number += 1
        line = lines[number - 1]
        document = shape.documents.get(number)
        if document is not None and _is_alone(document, lines, shape):
            last = document.end_lineno or number
            yield _Piece(number, last, None, "".join(lines[number - 1 : last]))
            number = last
        elif number in shape.opaque or not _BEHIND.match(line):
            yield _Piece(number, number, _code(line, shape.ends.get(number)), line)


def _is_alone(document: ast.Expr, lines: list[str], shape: _Shape) -> bool:
    """Whether nothing else stands on the lines of a docstring."""
    first, last = document.lineno, document.end_lineno or document.lineno
    if first in shape.opaque or last in shape.opaque or first in shape.ends or last in shape.ends:
        return False
    behind = lines[last - 1].encode("utf-8", "surrogatepass")[document.end_col_offset :]
    return not lines[first - 1][: document.col_offset].strip() and _is_behind(behind)


def _code(line: str, end: int | None) -> str:
    """A line without the comment behind it, if a statement ends on it."""
    if end is None or "#" not in line:
        return line.rstrip("\r\n") if end is None else line.rstrip()
    data = line.encode("utf-8", "surrogatepass")
    return data[:end].decode("utf-8", "surrogatepass") if _is_behind(data[end:]) else line.rstrip("\r\n")


def _is_behind(data: bytes) -> bool:
    return _BEHIND.match(data.decode("utf-8", "surrogatepass")) is not None
