"""AutoGraph joins lines that a backslash continues before it numbers them, and numbers all that follow too low. Here as
many empty lines follow instead."""

from __future__ import annotations

import io
import tokenize

from tensorflow.python.autograph.pyct import parser  # type: ignore[import-untyped]


def keep_numbers() -> None:
    """From now on it tells of the lines as they are."""
    parser._unfold_continuations = joined


def joined(code: str) -> str:
    """Code without lines that are continued by a backslash, of as many lines."""
    inside = _inside_strings(code)
    found: list[str] = []
    start, behind = "", 0
    for number, line in enumerate(code.split("\n"), 1):
        if line.endswith("\\"):
            start, behind = start + line[:-1], behind + 1
            continue
        found.append(start + line)
        start = ""
        if number not in inside:
            found += [""] * behind
            behind = 0
    return "\n".join([*found, *([start] if start else [])])


def _inside_strings(code: str) -> set[int]:
    """The lines at whose end a string goes on."""
    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            found.update(range(token.start[0], token.end[0]) if token.string.strip() else ())
    except (tokenize.TokenError, SyntaxError):  # a block of a file may end anywhere
        pass
    return found
