"""What fixes change, as the unified diffs that `patch` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from ..findings import Edit
from ..sources.text import decode, kept_lines, split_lines
from ..sources.write import apply_edits
from .terminal import Paint, safe

_COLOURS = {"-": "red", "+": "green", "@": "cyan"}
_END = "\\ No newline at end of file\n"


def diff(path: str, before: bytes, after: bytes, paint: Paint, *, terminal: bool = False) -> str:
    """The unified diff of a file; with colours or for a `terminal`, nothing in it that one would obey."""
    old, new = kept_lines(decode(before)), kept_lines(decode(after))
    lines = difflib.unified_diff(old, new, safe(path), safe(path))
    return "".join(_painted(line, paint, terminal or paint.on) for line in lines)


def _painted(line: str, paint: Paint, terminal: bool) -> str:
    text = line.rstrip("\r\n")
    end = line[len(text) :] or f"\n{_END}"
    return f"{paint(safe(text, keep_lines=True) if terminal else text, *_styles(line))}{end}"


def _styles(line: str) -> tuple[str, ...]:
    return ("bold",) if line.startswith(("--- ", "+++ ")) else tuple(filter(None, (_COLOURS.get(line[:1]),)))


def changed_lines(lines: Sequence[str], edits: Sequence[Edit]) -> Iterator[tuple[str, int, str]]:
    """The lines that edits take away ("-") and put in ("+"), each with its number before or after it. `lines`: of the
    file or cell; nothing comes of lines that are not those that the edits were made for."""
    if not 1 <= max(edit.span.end_line for edit in edits) <= len(lines):
        return
    old = list(lines)
    new = split_lines(apply_edits("\n".join(lines), edits))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            yield from (("-", number, old[number - 1]) for number in range(first + 1, last + 1))
            yield from (("+", number, new[number - 1]) for number in range(start + 1, end + 1))
