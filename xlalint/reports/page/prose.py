"""The pages of rules, and messages: the little Markdown that they are written in, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from .markup import Markup, element

_CODE: Final = re.compile(r"`([^`]+)`")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_ESCAPED: Final = re.compile(r"\\([|<])")
_RULED: Final = frozenset("|-: ")
_LINK: Final = re.compile(r"(https?://[^\s)]+)")


def inline(text: str) -> list[Markup | str]:
    """Prose with spans of code."""
    pieces = _CODE.split(text)
    return [element("code", piece) if number % 2 else piece for number, piece in enumerate(pieces)]


def page(markdown: str) -> Iterator[Markup]:
    """Headings, paragraphs, lists and indented code."""
    for blank, lines in groupby(markdown.split("\n"), key=lambda line: not line.strip()):
        if not blank:
            yield from _block(list(lines))


def _block(lines: list[str]) -> Iterator[Markup]:
    for kind, some in groupby(lines, key=_kind):
        block = list(some)
        match kind:
            case "heading":
                yield from (element("h4", inline(line.lstrip("# "))) for line in block)
            case "code":
                yield element("pre", element("code", "\n".join(line[4:] for line in block)), tabindex=0)
            case "item":
                items = re.split(r"(?m)^- ", "\n".join(block))[1:]
                yield element("ul", (element("li", _linked(item.replace("\n", " "))) for item in items))
            case "table":
                yield element("div", element("table", _rows(block)), class_="scroll", tabindex=0)
            case _:
                yield element("p", _linked(" ".join(block)))


def _rows(lines: list[str]) -> Iterator[Markup]:
    """A table; its first row is a head where a line of dashes follows."""
    headed = len(lines) > 1 and set(lines[1]) <= _RULED
    for number, line in enumerate(lines):
        if not set(line) <= _RULED:
            cells = (_ESCAPED.sub(r"\1", cell.strip()) for cell in _CELLS.split(line.strip())[1:-1])
            tag = "th" if headed and number == 0 else "td"
            yield element("tr", (element(tag, inline(cell)) for cell in cells))


def _kind(line: str) -> str:
    signs = (("#", "heading"), ("    ", "code"), ("- ", "item"), ("  ", "item"), ("|", "table"))
    return next((kind for sign, kind in signs if line.startswith(sign)), "prose")


def _linked(text: str) -> list[Markup | str]:
    """Prose whose addresses can be followed."""
    pieces: list[Markup | str] = []
    for number, piece in enumerate(_LINK.split(text)):
        pieces += [element("a", piece, href=piece, rel="noreferrer")] if number % 2 else inline(piece)
    return pieces
