"""Which names a piece of code may be about."""

from __future__ import annotations

from collections.abc import Iterator

from ...sources.words import words_in
from ...syntax import nodes as cst


def names_in_code(node: cst.CSTNode) -> Iterator[str]:
    """The names in code, and the words in its strings: those that document it say nothing to Python."""
    pending = [node]
    while pending:
        match pending.pop():
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
                pass
            case cst.Name(value=name):
                yield name
            case cst.SimpleString(value=text) | cst.FormattedStringText(value=text):
                yield from words_in(text)
            case other:
                pending += other.children
