"""A stretch of a file as a text that Python parses by itself."""

from __future__ import annotations

import ast
import re
from typing import Final, Protocol

from ...sources.outline import Stretch

# A form feed before an indentation, which Python passes over. On a line of its own it may part two ends of lines.
_PAGE_BREAK: Final = re.compile(r"(?:^|(?<=\r))[ \t\f]*\f(?=[ \t]*[^ \t\r\n\f])", re.MULTILINE)


class Peeked(Protocol):
    """A file whose lines can be looked at."""

    def peek(self, stretch: Stretch) -> str:
        """The lines of a stretch as one text, not noted as read."""


def parsed_alone(text: str) -> ast.stmt | None:
    """The first statement of a text, which may be indented, as Python parses it; None where it is no Python."""
    statements = all_parsed_alone(text)
    return statements[0] if statements else None


def all_parsed_alone(text: str) -> list[ast.stmt] | None:
    """All of its statements."""
    try:
        statements = ast.parse(in_block(text)).body
    except (SyntaxError, ValueError):
        return None
    match statements:
        case [ast.If(body=inner)] if is_indented(text):
            return inner
        case _:
            return statements


def is_indented(text: str) -> bool:
    return text[:1] in (" ", "\t")


def in_block(text: str) -> str:
    """A stretch as a text by itself: below an `if` where it is indented."""
    return "if 1:\n" + text if is_indented(text) else text


def text_of_stretch(file: Peeked, stretch: Stretch) -> str:
    text = file.peek(stretch)
    return _PAGE_BREAK.sub("", text) if "\f" in text else text
