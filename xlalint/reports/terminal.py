"""Text for terminals: colours, widths, and nothing in it that a terminal would obey."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..findings.findings import Severity

_TAB: Final = 4
_CODES: Final = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "dim": "2"}
# Controls, invisible formatting (with it, text direction), surrogates and the Unicode line ends.
_UNPRINTABLE: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
SEVERITY_COLOURS: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours text, or leaves it alone."""

    on: bool = False

    def __call__(self, text: str, *styles: str) -> str:
        if not self.on or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


@lru_cache(maxsize=1024)
def _cell(character: str) -> tuple[str, int]:
    """How a character is shown, and how many columns that takes."""
    if unicodedata.category(character) in _UNPRINTABLE:
        shown = character.encode("unicode_escape").decode("ascii")
        return shown, len(shown)
    if unicodedata.combining(character):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def safe(text: str, *, keep_lines: bool = False) -> str:
    """`text` with everything invisible written out as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if keep_lines and character in "\n\t" else _cell(character)[0] for character in text)


def escaped(text: str, escapes: Sequence[tuple[str, str]]) -> str:
    """`text` for the commands of a runner: each character of `escapes` replaced, in their order, and all of it safe."""
    for character, escape in escapes:
        text = text.replace(character, escape)
    return safe(text)


def laid_out(line: str) -> tuple[str, list[int]]:
    """A source line as shown, and the column at which each code point (and the end) stands in it."""
    if line.isascii() and line.isprintable():
        return line, list(range(len(line) + 1))
    shown: list[str] = []
    columns = [0]
    for character in line:
        if character == "\t":
            width = _TAB - columns[-1] % _TAB
            text = " " * width
        else:
            text, width = _cell(character)
        shown.append(text)
        columns.append(columns[-1] + width)
    return "".join(shown), columns


def place(path: str, cell: int | None, line: int, column: int | None = None) -> str:
    """`a.py:3:5`; in a notebook the cell stands before the line: `a.ipynb:cell 2:3:5`."""
    parts = (safe(path), None if cell is None else f"cell {cell}", line, column)
    return ":".join(str(part) for part in parts if part is not None)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(lines: Iterable[str]) -> str:
    """Lines as text, each ended."""
    return "".join(f"{line}\n" for line in lines)
