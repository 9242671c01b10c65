"""Places as editors count them: lines from 0, columns from 0 in code units of an encoding that was agreed on."""

from __future__ import annotations

from typing import Final

from lsprotocol import types

from ..findings.findings import Span
from ..sources.text import split_lines

_KINDS: Final = types.PositionEncodingKind


class Text:
    """A text whose places are to be translated. `encoding`: in what its columns are counted on the other side."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.lines = split_lines(text)
        self._encoding = encoding

    def range(self, span: Span) -> types.Range:
        """A span of code points, the first of which is 1, as the editor counts."""
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def position(self, line: int, column: int) -> types.Position:
        """A place, 1-based and in code points, as the editor counts; one behind the text is its end."""
        if line > len(self.lines):
            line, column = len(self.lines), len(self.lines[-1]) + 1
        return types.Position(line - 1, self._units(self.lines[line - 1][: column - 1]))

    def place(self, position: types.Position) -> tuple[int, int]:
        """The 1-based line and column in code points of what the editor says."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        line = self.lines[position.line]
        units = 0
        for column, character in enumerate(line, 1):
            units += self._units(character)
            if units > position.character:
                return position.line + 1, column
        return position.line + 1, len(line) + 1

    def _units(self, text: str) -> int:
        match self._encoding:
            case _KINDS.Utf8:
                return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            case _KINDS.Utf32:
                return len(text)
            case _:
                return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
