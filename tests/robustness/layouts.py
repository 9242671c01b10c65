"""The same program, written as nobody would write it: other line ends, tabs, form feeds, continuations, comments inside
expressions, semicolons, blank lines and byte order marks. Python reads all of these as it reads the plain one.
"""

from __future__ import annotations

import codecs
import io
import random
import re
import sys
import tokenize
from collections.abc import Sequence
from itertools import count
from typing import Final

_LINE_ENDS: Final = (("\n",), ("\r\n",), ("\r",), ("\n", "\r\n"), ("\r", "\r\n", "\n"))
_INDENTS: Final = ("    ", "\t", " ", "  ", "\t  ")
_ENDS: Final = ("", "", " ", "\t", "  # said @@ (behind", " ;", " # é @@")
_ABOVE: Final = ("", "", "", "\n", "\x0c\n", "{}# above @@\n", "   \n", "# at the left @@\n", "\x0c")
_HEADS: Final = (b"", b"", codecs.BOM_UTF8, b"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n")
_CODINGS: Final = {
    b"# -*- coding: latin-1 -*-\n": "latin-1",
    b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n": "cp1252",
}
# What else stands in a file; of later versions of Python, only where these run.
_OTHERS: Final = (
    "async def other(x):\n    async with x as y, x:\n        return [z async for z in y if await z]\n",
    """text = f"{f'{1 + 1!r:>{10}}'} {{x}} {'a' 'b'}" rf'\\{3:{"0"}>4}'\n""",
    "@(lambda f: f)\n@property\ndef decorated(self, /, a, *, b: int = 3, **c) -> 'x': return a if b else c\n",
    "try:\n    pass\nexcept* ValueError as e:\n    raise\nelse:\n    x = y = 1\nfinally:\n    del x\n",
    "match 1:\n    case [a, *_] | {'k': a} if a: pass\n    case _: pass\n",
    *(
        ("def generic[T: int, *Ts, **P](x: T) -> T: return x\ntype Alias[T] = list[T]\n",)
        * (sys.version_info >= (3, 12))
    ),
)
_COMPOUND: Final = frozenset(
    ("@", "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try", "while")
) | {"with"}
_SKIPPED: Final = (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER)
_SPACED: Final = frozenset("=<>+-*/%,:|&^@")
_OPEN: Final = frozenset("([{")
_CLOSE: Final = frozenset(")]}")


def rewritten(text: str, chance: random.Random) -> bytes:
    """A program in another layout, with something else at its end."""
    text += chance.choice(("", *_OTHERS))
    unit, ends = chance.choice(_INDENTS), chance.choice(_LINE_ENDS)
    lines: list[str] = []
    line: list[tokenize.TokenInfo] = []
    depth, tokens = 0, list(tokenize.generate_tokens(io.StringIO(text).readline))
    joined = False  # whether the next line stands behind the last one's semicolon
    for index, token in enumerate(tokens):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            indent = unit * depth
            written = _line(line, chance)
            if joined:
                lines[-1] += f"; {written}"
            else:
                lines.append(chance.choice(_ABOVE).format(indent) + indent + written)
            joined = _can_join(line, tokens[index + 1 :]) and chance.random() < 0.5
            if not joined:
                end = chance.choice(_ENDS)
                lines[-1] += "" if ";" in end and _is_compound(line) else end
            line = []
        elif token.type not in _SKIPPED:
            line.append(token)
    plain = "\n".join(lines) + chance.choice(("\n", "", "\n\n\x0c\n"))
    numbers = count()
    plain = re.sub("@@", lambda _: str(next(numbers)), plain)  # each comment is another
    written = _with_line_ends(plain, ends, chance)
    if chance.random() < 0.2:
        head, coding = chance.choice(list(_CODINGS.items()))
        return head + written.encode(coding)
    return chance.choice(_HEADS) + written.encode()


def _line(line: Sequence[tokenize.TokenInfo], chance: random.Random) -> str:
    """A logical line, on as many physical ones as chance wants."""
    wild = chance.choice((0.0, 0.1, 0.3))
    text, inside = "", 0
    for before, token in zip([None, *line], line, strict=False):
        if before is not None:
            touching = before.end == token.start and not {before.string, token.string} & _SPACED
            if chance.random() < wild and not _is_glued(before, token):
                comment = chance.choice(("", "  # inside @@ ]", "  # \x0c @@")) if inside else ""
                text += (
                    f"{comment}\n{chance.choice(('', '  ', chr(9)))}" if inside else " \\\n" + chance.choice(("", "\t"))
                )
            else:
                text += "" if touching or before.end == token.start else " "
        inside += (token.string in _OPEN) - (token.string in _CLOSE)
        text += token.string
    return text


def _is_glued(before: tokenize.TokenInfo, token: tokenize.TokenInfo) -> bool:
    """Whether two tokens are parts of one: of an f-string, in later versions of Python."""
    return any(tokenize.tok_name[one.type].startswith("FSTRING") or one.string == "!" for one in (before, token))


def _is_compound(line: Sequence[tokenize.TokenInfo]) -> bool:
    return line[-1].string == ":" or line[0].string in _COMPOUND


def _can_join(line: Sequence[tokenize.TokenInfo], after: Sequence[tokenize.TokenInfo]) -> bool:
    """Whether the next line is a simple statement of the same block."""
    following = next((token for token in after if token.type not in (tokenize.NL, tokenize.COMMENT)), None)
    if _is_compound(line) or following is None or following.type not in (tokenize.NAME, tokenize.STRING):
        return False
    end = next(index for index, token in enumerate(after) if token.type == tokenize.NEWLINE)
    return not _is_compound([token for token in after[:end] if token.type not in _SKIPPED])


def _with_line_ends(text: str, ends: Sequence[str], chance: random.Random) -> str:
    parts = text.split("\n")
    return "".join(part + chance.choice(ends) for part in parts[:-1]) + parts[-1]
