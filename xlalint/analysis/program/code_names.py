"""Which names a piece of code may be about."""

from __future__ import annotations

from ...sources.words import words_in
from ...syntax import nodes as cst


def names_in_code(node: cst.CSTNode) -> frozenset[str]:
    """The names in code, and the words in its strings: those that document it say nothing to Python."""
    found: set[str] = set()
    pending = [node]
    while pending:
        match pending.pop():
            case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
                pass
            case cst.Name(value=name):
                found.add(name)
            case cst.SimpleString(value=text) | cst.FormattedStringText(value=text):
                found.update(words_in(text))
            case other:
                pending += other.children
    return frozenset(found)
