"""Programs that nobody would write, made of programs that somebody wrote. The same seed makes the same programs."""

from __future__ import annotations

import io
import json
import os
import random
import re
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from .regrow import regrown

Change: TypeAlias = Callable[[random.Random, str], str]
BytesChange: TypeAlias = Callable[[random.Random, bytes], bytes]

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_NUMBER: Final = re.compile(r"\b\d+\b")
_BLOCK: Final = re.compile(r"^( *)(if|for|while|with|return|[a-z_]+ =)\b", re.MULTILINE)
_NAMES: Final = ("self", "tf", "x", "ñandú", "ℌ", "_", "print", "None", "match", "type", "переменная", "a" * 300)
_NUMBERS: Final = ("0", "-1", "1e400", "9" * 400, "0x" + "f" * 400, "0b1", "1_000", "1j", "3.", "10 ** 20", "True")
_PIECES: Final = (
    *("(", ")", "[", "]", "{", "}", ":", ",", ".", "=", "==", "**", "*", "@", "->", ":=", "\\", "#", "'", '"""', "f'{"),
    *("if", "else", "for", "while", "def", "class", "lambda", "return", "yield", "await", "async", "match", "global"),
    *("nonlocal x", "import tensorflow as tf", "from . import *", "del x", "pass", "...", "not", "and", "is", "in"),
    *("# xlalint: ignore[", "# xlalint: disable[XLA1]", "# noqa: XLA", "# type: ignore", "\x0c", "\t", "\r", "\u2028"),
)


def _tokens(text: str) -> list[tuple[int, int]]:
    """Where the tokens of a text begin and end; of one that does not tokenize, its words."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return [match.span() for match in _WORD.finditer(text)]
    spans = [
        (starts[one.start[0] - 1] + one.start[1], starts[one.end[0] - 1] + one.end[1])
        for one in found
        if one.string and one.end[0] <= len(lines)
    ]
    return [(start, end) for start, end in spans if start < end <= len(text)]


def _place(source: random.Random, text: str) -> tuple[int, int]:
    spans = _tokens(text)
    return source.choice(spans) if spans else (0, 0)


def delete_tokens(source: random.Random, text: str) -> str:
    for _ in range(source.randint(1, 4)):
        start, end = _place(source, text)
        text = text[:start] + text[end:]
    return text


def swap_tokens(source: random.Random, text: str) -> str:
    (a, b), (c, d) = sorted((_place(source, text), _place(source, text)))
    return text if c < b else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def insert_pieces(source: random.Random, text: str) -> str:
    for _ in range(source.randint(1, 3)):
        start, _ = _place(source, text)
        text = f"{text[:start]}{source.choice(_PIECES)} {text[start:]}"
    return text


def rename(source: random.Random, text: str) -> str:
    """One name becomes another everywhere, or a name of the program in one place."""
    words = _WORD.findall(text)
    if not words:
        return text
    old, new = source.choice(words), source.choice((*_NAMES, source.choice(words)))
    return re.sub(rf"\b{re.escape(old)}\b", lambda match: new, text, count=source.choice((0, 1)))


def change_numbers(source: random.Random, text: str) -> str:
    return _NUMBER.sub(lambda match: source.choice(_NUMBERS) if source.random() < 0.3 else match[0], text)


def repeat_lines(source: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    start = source.randrange(len(lines))
    block = lines[start : start + source.randint(1, 8)]
    return "".join((*lines[:start], *block * source.randint(2, 30), *lines[start:]))


def shuffle_lines(source: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    one, other = source.randrange(len(lines)), source.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def indent(source: random.Random, text: str) -> str:
    """A line moves to the right or to the left, and with it what it means."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = source.randrange(len(lines))
    lines[at] = source.choice(("    ", "\t", " ", "\x0c")) + lines[at] if source.random() < 0.6 else lines[at].lstrip()
    return "".join(lines)


def nest_block(source: random.Random, text: str) -> str:
    """A statement comes to stand inside of many blocks."""
    found = list(_BLOCK.finditer(text))
    if not found:
        return text
    at = source.choice(found)
    opening = source.choice(("if x:", "while x:", "for x in x:", "with x:", "def f(x):", "class C(x):"))
    depth = source.choice((2, 5, 19, 30, 99))
    opened = "".join(f"{at[1]}{' ' * level}{opening}\n" for level in range(depth))
    end = text.find("\n", at.end()) + 1 or len(text)
    inner = f"{at[1]}{' ' * depth}{text[at.start() : end].strip()}\n"
    return text[: at.start()] + opened + inner + text[end:]


def nest_expression(source: random.Random, text: str) -> str:
    start, end = _place(source, text)
    before, after = source.choice(
        (("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("lambda: ", ""), ("tf.abs(", ")"), ("x if x else ", ""))
    )
    depth = source.choice((2, 20, 150, 400, 3000))
    return text[:start] + before * depth + text[start:end] + after * depth + text[end:]


def chain(source: random.Random, text: str) -> str:
    end = _place(source, text)[1]
    link = source.choice((" + x", " and x", " < x", ".x", "[0]", "(x)", ", x", " ** x", " | x", ' "x"'))
    return text[:end] + link * source.choice((2, 50, 700, 5000)) + text[end:]


def huge_literal(source: random.Random, text: str) -> str:
    start, end = _place(source, text)
    literal = source.choice(
        ("'" + "a" * 100_000 + "'", "[" + "1, " * 30_000 + "]", "9" * 5_000, "{" + "'k': x, " * 5_000 + "}")
    )
    return text[:start] + literal + text[end:]


def cut(source: random.Random, text: str) -> str:
    return text[: source.randrange(len(text) + 1)]


def line_ends(source: random.Random, text: str) -> str:
    end = source.choice(("\r\n", "\r", "\x0c\n", "\n\n", "\x0b\n", "\u2028", "\x85"))
    return text.replace("\n", end, source.choice((-1, 1, 5)))


TEXT_CHANGES: Final[tuple[Change, ...]] = (
    *(delete_tokens, swap_tokens, insert_pieces, rename, change_numbers, repeat_lines, shuffle_lines, indent),
    *(nest_block, nest_expression, chain, huge_literal, cut, line_ends),
)


def _at(source: random.Random, data: bytes, piece: bytes) -> bytes:
    start = source.randrange(len(data) + 1)
    return data[:start] + piece + data[start:]


BYTES_CHANGES: Final[dict[str, BytesChange]] = {
    "null bytes": lambda source, data: _at(source, data, b"\0"),
    "no UTF-8": lambda source, data: _at(source, data, source.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80abc"))),
    "byte order mark": lambda source, data: b"\xef\xbb\xbf" * source.choice((1, 2)) + data,
    "coding latin-1": lambda source, data: b"# -*- coding: latin-1 -*-\n" + _at(source, data, b"\xe9\xff"),
    "coding utf-16": lambda source, data: b"# coding: utf-16\n" + data,
    "coding rot13": lambda source, data: b"# coding: rot13\n" + data,
    "coding unknown": lambda source, data: b"#!/bin/sh\n# vim: set fileencoding=klingon :\n" + data,
    "utf-16": lambda source, data: data.decode("utf-8", "replace").encode("utf-16"),
    "some other byte": lambda source, data: _at(source, data, bytes((source.randrange(256),))),
    "old Mac": lambda source, data: data.replace(b"\n", b"\r"),
}


def seeds(folders: Sequence[Path], largest: int = 40_000) -> list[str]:
    """The texts of the files that are changed: those of the folders that are not too large to be tried often."""
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    texts = [file.read_text("utf-8", "replace") for file in files if 0 < file.stat().st_size <= largest]
    return [text for text in texts if "tensorflow" in text or "keras" in text]


def mutant(seed: int, number: int, texts: Sequence[str]) -> tuple[bytes, tuple[str, ...]]:
    """One program, and what was done to make it: changes of its tree, which leave it Python as a rule, or of its text,
    which seldom do, and now and then one of its bytes."""
    source = random.Random(f"{seed}/{number}")
    text, done = source.choice(texts), list[str]()
    if source.random() < 0.6:
        text, done = regrown(source, text, source.choice(texts))
    for change in source.choices(TEXT_CHANGES, k=source.choice((0, 0, 0, 1) if done else (1, 1, 2, 3, 6))):
        text = change(source, text)
        done.append(change.__name__)
    data = text.encode("utf-8", "surrogatepass")
    if source.random() < 0.1:
        name = source.choice(list(BYTES_CHANGES))
        data = BYTES_CHANGES[name](source, data)
        done.append(name)
    return data, tuple(done)


_FILE_NAMES: Final = (
    *("plain.py", "with space.py", "new\nline.py", "tab\t.py", "quote'\".py", "-dash.py", "ünï.py", "per%cent.py"),
    *("semi;colon.py", "dollar$(id).py", "star*.py", "\x1b[31mred.py", "\u202egnp.py", "a|b.py", "<b>.py"),
    "::error::.py",
)
_ODD: Final = os.fsdecode(b"latin\xe9.py")


def name_of(number: int, *, notebook: bool = False) -> str:
    """A name that a file may have, however unwise."""
    name = (*_FILE_NAMES, _ODD)[number % (len(_FILE_NAMES) + 1)]
    return f"{name.removesuffix('.py')}.ipynb" if notebook else name


def as_notebook(seed: int, number: int, data: bytes) -> bytes:
    """The program as a notebook's cells; now and then its JSON is damaged."""
    source = random.Random(f"{seed}/{number}/notebook")
    parts = data.decode("utf-8", "replace").split("\n\n")
    cells: list[dict[str, object]] = [
        {
            "cell_type": source.choice(("code", "code", "code", "markdown")),
            "metadata": {},
            "source": source.choice((part, part.splitlines(keepends=True), f"%%time\n{part}", f"!ls\n{part}")),
        }
        for part in parts
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return delete_tokens(source, text).encode() if source.random() < 0.2 else text.encode()
