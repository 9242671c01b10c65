"""Edits of a notebook's cells, written into its file: every byte that they do not touch stays what it was."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from ..findings.findings import Edit, Span
from .notebooks import Cell, cells_of, notebook_text
from .text import split_lines

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
# What stands for one character in a JSON string; outside the basic plane that may be two escapes.
_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_ESCAPED: Final = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")  # what need not be escaped in JSON
_LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class UneditableCellError(Exception):
    """An edit that a notebook cannot take; the message says why."""


@dataclass(frozen=True, slots=True)
class _Written:
    """How a cell's source stands in the file: the contents of its strings, between the quotes, and what is written
    between two of them; empty where the source is not a list."""

    strings: tuple[tuple[int, int], ...]
    separator: str


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The file with the edits made, whose spans count within the cells that they name.

    Where the source is a list of lines, so is what is put into it. Raises UnreadableSource, and UneditableCellError for
    edits that overlap, of a cell that is no Python, or of a line that holds IPython's own syntax.
    """
    text = notebook_text(data)
    cells = {cell.number: cell for cell in cells_of(data)}
    by_cell: dict[int | None, list[Edit]] = {}
    for edit in edits:
        by_cell.setdefault(edit.cell, []).append(edit)
    escaped = text.isascii() and _ESCAPED.search(text) is not None
    written = _written_cells(text)
    changes: list[tuple[int, int, str]] = []
    for number, wanted in by_cell.items():
        if number not in cells:
            raise UneditableCellError(f"cell {number} is not a cell of Python")
        changes += _changes(wanted, cells[number], _Source(text, written[number - 1], escaped))
    pieces: list[str] = []
    position = 0
    for start, end, replacement in sorted(changes, key=lambda change: change[:2]):
        pieces += text[position:start], replacement
        position = max(position, end)
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark + "".join((*pieces, text[position:])).encode("utf-8")


def stretch_in_file(data: bytes, cell: int, span: Span) -> tuple[int, int]:
    """Where a place in a cell begins and ends in the file's text."""
    text = notebook_text(data)
    return _Source(text, _written_cells(text)[cell - 1], escaped=False).stretch(span)


def _changes(edits: Iterable[Edit], cell: Cell, source: _Source) -> Iterator[tuple[int, int, str]]:
    """The stretches of the file that the edits of one cell replace, and by what."""
    written, python = split_lines(cell.written), split_lines(cell.python)
    behind = (1, 1)
    for edit in sorted(edits, key=lambda edit: edit.span):
        span = edit.span
        if (span.line, span.column) < behind:
            raise UneditableCellError(f"two edits of cell {cell.number} overlap in line {span.line}")
        behind = (span.end_line, span.end_column)
        touched = slice(span.lines.start - 1, span.lines.stop - 1)
        if written[touched] != python[touched]:
            raise UneditableCellError(f"line {span.line} of cell {cell.number} holds more than Python")
        yield source.change(edit)


class _Source:
    """One cell's source in the file: from positions in the cell to positions in the file."""

    def __init__(self, text: str, written: _Written, escaped: bool) -> None:
        self._separator, self._escaped = written.separator, escaped
        self._offsets: list[tuple[int, int]] = []  # where each character begins and ends in the file
        characters: list[str] = []
        for start, end in written.strings:
            for match in _CHARACTER.finditer(text, start, end):
                self._offsets.append(match.span())
                characters.append(json.loads(f'"{match[0]}"'))
        self._text = "".join(characters)
        self._starts = list(accumulate(map(len, _LINES.findall(self._text)), initial=0))

    def stretch(self, span: Span) -> tuple[int, int]:
        """Where a place begins and ends in the file; both lie inside of the source."""
        size = len(self._text)
        first, last = self._index(span.line, span.column), self._index(span.end_line, span.end_column)
        start = self._offsets[min(first, size - 1)][0]
        return start, max(self._offsets[min(last, size) - 1][1], start)

    def change(self, edit: Edit) -> tuple[int, int, str]:
        """The stretch of the file that an edit replaces, and by what.

        The source as it is analysed ends with a line end even where the cell does not: that one cannot be replaced.
        """
        span, text, size = edit.span, edit.text, len(self._text)
        first, last = self._index(span.line, span.column), self._index(span.end_line, span.end_column)
        if last > size:
            text = text.removesuffix("\n")
        if first > size:
            text = f"\n{text}"
        first, last = min(first, size), min(last, size)
        lines = _LINES.findall(text)
        if first == size and lines and self._text.endswith(("\n", "\r")):
            lines.insert(0, "")
        encoded = [json.dumps(line, ensure_ascii=self._escaped)[1:-1] for line in lines]
        if last < size:
            end = self._offsets[last][0]
            if lines and lines[-1].endswith(("\n", "\r")):
                encoded.append("")
        else:
            end = self._offsets[-1][1]
        # At the end of the cell nothing is left of a string of which nothing is left.
        keep = first < size and (first == 0 or last < size or bool(lines))
        start = self._offsets[first][0] if keep else self._offsets[first - 1][1]
        return start, end, self._separator.join(encoded)

    def _index(self, line: int, column: int) -> int:
        """The position in the cell's text; behind its end for a line that would begin there."""
        return self._starts[line - 1] + column - 1 if line <= self._line_count else len(self._text) + 1

    @property
    def _line_count(self) -> int:
        return len(split_lines(self._text))


# -- where the sources stand in the file ------------------------------------------------------------------------------


def _written_cells(text: str) -> list[_Written]:
    """How the source of each cell is written. The text is known to be a notebook; of equal keys the last one counts."""
    notebook = {key: start for key, start, _ in _members(text, _past_blank(text, 0))}
    result = []
    for cell, _ in _items(text, notebook["cells"]):
        members = {key: (start, end) for key, start, end in _members(text, cell)}
        start, end = members["source"]
        if text[start] == "[":
            strings = tuple((first + 1, last - 1) for first, last in _items(text, start))
            result.append(_Written(strings, _separator(text, start, strings)))
        else:
            result.append(_Written(((start + 1, end - 1),), ""))
    return result


def _separator(text: str, start: int, strings: Sequence[tuple[int, int]]) -> str:
    """What stands between the contents of two strings of a list, or would stand there."""
    match strings:
        case [(_, end), (begin, _), *_]:
            return text[end:begin]
        case [(begin, _)]:
            return f'",{text[start + 1 : begin - 1]}"'
        case _:
            return ""


def _past_blank(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    assert found is not None  # it may be empty
    return found.end()


def _members(text: str, position: int) -> Iterator[tuple[str, int, int]]:
    """The members of the object at a position: key, and where the value begins and ends."""
    position = _past_blank(text, position + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        start = _past_blank(text, _past_blank(text, position) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        yield key, start, end
        position = _past_comma(text, end)


def _items(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Where the items of the array at a position begin and end."""
    position = _past_blank(text, position + 1)
    while text[position] != "]":
        end = _DECODER.raw_decode(text, position)[1]
        yield position, end
        position = _past_comma(text, end)


def _past_comma(text: str, position: int) -> int:
    position = _past_blank(text, position)
    return _past_blank(text, position + 1) if text[position] == "," else position
