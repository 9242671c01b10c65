"""Source on a page: excerpts with what is flagged, and a rewrite side by side with the code."""

from __future__ import annotations

import builtins
import difflib
import keyword
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, groupby, pairwise
from typing import Final

from ...findings.findings import Edit, Span
from ...sources.text import split_lines
from ...sources.write import apply_edits
from .markup import Markup, element, joined

_AROUND: Final = 2  # lines shown above and below what is flagged
_SHOWN: Final = 9  # flagged lines; the middle of more is left out
_TOKEN: Final = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<string>(?i:[rbfu]{0,2})(?:'''.*?(?:'''|$)|\"\"\".*?(?:\"\"\"|$)|'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?))"
    r"|(?P<number>\b\d[\w.]*)"
    r"|(?P<decorator>(?<!\S)@[\w.]+)"
    r"|(?P<word>[^\W\d]\w*)"
)
_BUILTINS: Final = frozenset(dir(builtins))


def excerpt(lines: Sequence[str], span: Span, mark: str = "flagged") -> Markup | None:
    """The lines of a span and some around it; None where the file is not what it was."""
    if not 1 <= span.line <= span.end_line <= len(lines):
        return None
    rows = []
    previous = 0
    for number in _numbers(span, lines):
        if previous and number > previous + 1:
            rows.append(element("tr", element("td", "⋮", class_="no"), element("td"), class_="gap"))
        line = lines[number - 1]
        flagged = span.line <= number <= span.end_line
        start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
        end = span.end_column - 1 if number == span.end_line else len(line.rstrip())
        code = _code(line, start, end, mark) if flagged else _code(line)
        rows.append(element("tr", element("td", str(number), class_="no"), code, class_="hit" if flagged else None))
        previous = number
    return element("div", element("table", element("tbody", rows), class_="code"), class_="scroll", tabindex=0)


def side_by_side(lines: Sequence[str], edits: Sequence[Edit]) -> Markup | None:
    """What edits make of lines: both, line for line; None where they are not the lines that the edits were made for."""
    if not 1 <= max(edit.span.end_line for edit in edits) <= len(lines):
        return None
    old, new = _full(lines), _full(split_lines(apply_edits("\n".join(lines), edits)))
    groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(1))
    blocks: list[Markup] = []  # a body for each, so that a narrow page can show all old lines before all new ones
    for group in groups:
        if blocks:
            gap = element("tr", element("td", "⋮", class_="no"), element("td", colspan=3), class_="gap")
            blocks.append(element("tbody", gap))
        for tag, first, last, start, end in group:
            marks = ("", "") if tag == "equal" else ("old", "new")
            rows = (
                (
                    *_half(old, first + index, first + index < last, marks[0]),
                    *_half(new, start + index, start + index < end, marks[1]),
                )
                for index in range(max(last - first, end - start))
            )
            blocks.append(element("tbody", (element("tr", cells) for cells in rows)))
    head = element("tr", element("th", "Now", colspan=2), element("th", "Rewritten", colspan=2))
    widths = element("colgroup", (element("col", class_=name) for name in ("narrow", "wide") * 2))
    table = element("table", widths, element("thead", head), blocks, class_="code sides")
    return element("div", table, class_="scroll")


def _full(lines: Sequence[str]) -> Sequence[str]:
    """Without the line that would begin behind the last line end."""
    return lines[:-1] if lines and not lines[-1] else lines


def _half(lines: Sequence[str], index: int, there: bool, mark: str) -> tuple[Markup, Markup]:
    """A line of one side; nothing where the other side has more of them."""
    if not there:
        return element("td", class_="no"), element("td", class_="none")
    return element("td", str(index + 1), class_=f"no {mark}".strip()), _code(lines[index], kind=mark)


def _numbers(span: Span, lines: Sequence[str]) -> Iterator[int]:
    """The line numbers to show; what lies around a span begins and ends with a line that is not empty."""

    def filled(number: int) -> bool:
        return bool(lines[number - 1].strip())

    yield from dropwhile(lambda number: not filled(number), range(max(span.line - _AROUND, 1), span.line))
    if span.end_line - span.line < _SHOWN:
        yield from range(span.line, span.end_line + 1)
    else:
        yield from (*range(span.line, span.line + _SHOWN - 2), span.end_line)
    below = range(min(span.end_line + _AROUND, len(lines)), span.end_line, -1)
    yield from reversed([*dropwhile(lambda number: not filled(number), below)])


def _code(line: str, start: int = 0, end: int = 0, mark: str = "", kind: str = "") -> Markup:
    """A line as a cell, its parts told apart; what stands between `start` and `end` is marked."""
    shown: list[Markup] = []
    for marked, pieces in groupby(_pieces(line, start, end), key=lambda piece: start <= piece[0] < end):
        parts = [element("span", text, class_=what) if what else text for _, text, what in pieces]
        shown.append(element("mark", parts, class_=mark) if marked else joined(parts))
    return element("td", element("code", shown), class_=kind or None)


def _pieces(line: str, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """The tokens of a line, cut where something begins and ends that is to be marked."""
    for begin, text, kind in _tokens(line):
        cuts = sorted({0, len(text), *(at - begin for at in (start, end) if 0 < at - begin < len(text))})
        yield from ((begin + first, text[first:last], kind) for first, last in pairwise(cuts))


def _tokens(line: str) -> Iterator[tuple[int, str, str]]:
    """Pieces of a line: where each begins, its text, and what it is."""
    position = 0
    for match in _TOKEN.finditer(line):
        if match.start() > position:
            yield position, line[position : match.start()], ""
        kind = match.lastgroup or ""
        if kind == "word":
            word = match[0]
            own = word in _BUILTINS and line[: match.start()][-1:] != "."
            kind = "keyword" if keyword.iskeyword(word) else "builtin" if own else ""
        yield match.start(), match[0], kind
        position = match.end()
    if position < len(line):
        yield position, line[position:], ""
