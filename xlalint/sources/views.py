"""Files as other programs see them: whole, in their own lines, also where a finding counts within a notebook's cell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from ..findings.findings import Edit, Span
from .text import UnreadableSource, decode, is_notebook, line_starts, read_bytes
from .write import UnwritableSource, edited

_END: Final = re.compile(r"(?:\r\n|\r|\n)\Z")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Whole lines and what stands in their place: the lines from `first` to `last`, both included, without the end of
    the last one, if it has one."""

    first: int
    last: int
    text: str


def _text_of(data: bytes, path: Path) -> str:
    if is_notebook(path):
        from .notebooks import notebook_text

        return notebook_text(data)
    return decode(data)


class FileView:
    """One file. `text`: what it holds, of a notebook the JSON. Raises UnreadableSource."""

    def __init__(self, data: bytes, path: Path) -> None:
        self._data, self._path = data, path
        self.text: str = _text_of(data, path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return _LINE.findall(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    def span(self, cell: int | None, span: Span) -> Span:
        """The place in the file of a place in a cell."""
        if cell is None:
            return span
        from .notebook_edits import stretch_in_file

        start, end = stretch_in_file(self._data, cell, span)
        return Span(*self._position(start), *self._position(end))

    def text_of(self, span: Span) -> str:
        """The text of a place in the file."""
        starts = self._starts
        return self.text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def replacement(self, edits: Sequence[Edit]) -> Replacement | None:
        """The lines that edits change; None where they cannot be made, or change nothing."""
        try:
            after = FileView(edited(self._data, edits, self._path), self._path).lines
        except UnwritableSource:
            return None
        before = self.lines
        if before == after or not (before and after):
            return None
        limit = min(len(before), len(after))
        same = next((at for at in range(limit) if before[at] != after[at]), limit)
        left = limit - same
        behind = next((at for at in range(left) if before[-1 - at] != after[-1 - at]), left)
        if same + behind in (len(before), len(after)):  # lines only come or go: one that stays shows where
            same, behind = (same - 1, behind) if same else (same, behind - 1)
        last = len(before) - behind
        text = "".join(after[same : len(after) - behind])
        if before[last - 1].endswith(("\r", "\n")):  # which stays
            text = _END.sub("", text)
        return Replacement(same + 1, last, text)


View = Callable[[str], FileView | None]
"""A file by its path as reports show it; None when it cannot be read."""


def viewer(overlay: Mapping[str, bytes]) -> View:
    """A function that looks at files; `overlay` stands in for files on the disk."""

    @lru_cache(maxsize=32)  # findings come by file
    def view(path: str) -> FileView | None:
        try:
            return FileView(overlay[path] if path in overlay else read_bytes(Path(path)), Path(path))
        except UnreadableSource:  # reported as such
            return None

    return view
