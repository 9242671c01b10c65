"""The Python that a notebook's cell runs: IPython's own syntax is replaced, line for line and column for column.

What runs no Python becomes `pass`; what has a value that nobody can know becomes a call of `get_ipython`, as IPython
itself writes it. Code behind a magic that runs it (`%time f(x)`) stays where it stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

_NEWLINE: Final = r"(?:\r\n|\r(?!\n)|\n)"  # in one way only: what may be read in two is tried in all
_TOKEN: Final = re.compile(
    rf"""
    (?P<string>[rbfutRBFUT]{{0,2}}(?:
        \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z) | '''(?:\\.|[^\\])*?(?:'''|\Z)
        | "(?:\\{_NEWLINE}|\\.|[^"\\\r\n])*"? | '(?:\\{_NEWLINE}|\\.|[^'\\\r\n])*'?))
    | (?P<comment>\#[^\r\n]*)
    | (?P<joined>\\{_NEWLINE})
    | (?P<end>{_NEWLINE})
    | (?P<open>[(\[{{]) | (?P<close>[)\]}}])
    | (?P<assigned>(?<![=!<>:+\-*/%&|^@])=[ \t]*(?=[!%]))
    | (?P<blank>[ \t\f]+)
    | (?P<word>\w+) | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A command line: to the end of the line, or of the last that a backslash joins to it.
_COMMAND: Final = re.compile(rf"(?:[^\\\r\n]|\\{_NEWLINE}|\\)*")
_BREAK: Final = re.compile(_NEWLINE)
_INDENT: Final = re.compile(r"[ \t\f]*")
# IPython passes over empty lines before a cell's magic; comments before it are what people write in Colab.
_CELL_MAGIC: Final = re.compile(rf"(?P<before>(?:[ \t]*(?:\#[^\r\n]*)?{_NEWLINE})*)%%(?P<name>\w+)[^\r\n]*")
# Python's own prompts, as documentation shows them; IPython takes them off.
_PROMPT: Final = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?=[ \r\n]|\Z)", re.MULTILINE)
_PROMPTED: Final = re.compile(r"\s*>>>")
# The first character of a line that is IPython's; no line of Python begins with any of them.
_ESCAPES: Final = frozenset("%!?,;/")
# Magics that run the rest of the cell as Python in the notebook's own process.
RUN_PYTHON: Final = frozenset(
    ("capture", "debug", "ipytest", "memit", "mprun", "prun", "snakeviz", "time", "timeit", "wandb")
)
# Magics that run the rest of the line so, with their options.
_PYTHON_LINE: Final = re.compile(
    r"%(?P<name>time|timeit|prun|memit)[ \t]+(?:-(?:[nrpslTDi][ \t]*[\w./-]+|[a-z]+)[ \t]+)*(?=[^\s-])"
)
# What IPython runs as a magic without its sign, where the line is no Python.
_AUTOMATIC: Final = frozenset(
    (
        *("cat", "cd", "conda", "config", "cp", "env", "load_ext", "ls", "mamba", "man", "matplotlib", "mkdir", "mv"),
        *("pip", "pylab", "reset", "rm", "rmdir", "run", "tensorflow_version", "time", "timeit", "uv", "who", "whos"),
    )
)
# What Keras, imported further down, runs on.
_BACKEND: Final = re.compile(r"%(?:set_)?env[ \t]+KERAS_BACKEND(?:[ \t]*=[ \t]*|[ \t]+)(?P<name>\w+)[ \t]*")
_NOTHING: Final = "pass"
_ANYTHING: Final = "get_ipython()"


def python_of(text: str) -> str | None:
    """The Python of a cell, with as many lines as the cell has; None for a cell in another language.

    The result need not parse: what is not IPython's syntax either stays as it is written.
    """
    while found := _CELL_MAGIC.match(text):
        if found["name"] not in RUN_PYTHON:
            return None
        text = found["before"] + text[found.end() :]
    if _PROMPTED.match(text):
        text = _PROMPT.sub(lambda match: " " * len(match[0]), text)
    return text if _parses(text) else "".join(_statements(text))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _statements(text: str) -> Iterator[str]:
    """The text statement by statement, each as Python."""
    position = 0
    while position < len(text):
        indent = _INDENT.match(text, position)
        assert indent is not None  # it may be empty
        yield indent[0]
        position = indent.end()
        if text[position : position + 1] in _ESCAPES:
            command = _COMMAND.match(text, position)
            assert command is not None
            yield _line_magic(command[0])
            position = command.end()
        else:
            statement, position = _statement(text, position)
            yield statement


def _statement(text: str, position: int) -> tuple[str, int]:
    """The statement that begins at a position, as Python, and where it ends: behind its line, at depth zero."""
    start, depth, pieces, last = position, 0, [], ""
    while token := _TOKEN.match(text, position):
        position, kind, piece = token.end(), token.lastgroup, token[0]
        match kind:
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "assigned" if depth == 0:
                command = _COMMAND.match(text, position)
                assert command is not None
                piece += _value(command[0])
                position = command.end()
        pieces.append(piece)
        if kind == "end" and depth == 0:
            break
        if kind not in ("end", "blank", "comment", "joined"):
            last = piece
    written = text[start:position]
    if last == "?" or _is_automatic(written):
        return _in_place_of(written, _NOTHING), position
    return "".join(pieces), position


def _is_automatic(written: str) -> bool:
    """Whether a line is a magic without its sign: it begins with the name of one, and is no Python."""
    name, *arguments = written.split(maxsplit=1)[:2] or [""]
    return name in _AUTOMATIC and bool(arguments) and not _parses(written)


def _line_magic(command: str) -> str:
    """A line that begins with IPython's sign, as a statement."""
    if backend := _BACKEND.fullmatch(command):
        return _in_place_of(command, f'import os; os.environ["KERAS_BACKEND"] = "{backend["name"]}"')
    if (runs := _PYTHON_LINE.match(command)) and _is_simple(command[runs.end() :]):
        return "0;".ljust(runs.end()) + command[runs.end() :]
    return _in_place_of(command, _NOTHING)


def _is_simple(code: str) -> bool:
    """Whether code may stand behind a semicolon."""
    return _parses(f"0;{code}")


def _value(command: str) -> str:
    """The right side of an assignment from a command or magic. `%time` gives the value of its expression."""
    if (runs := _PYTHON_LINE.match(command)) and runs["name"] == "time":
        return " " * runs.end() + command[runs.end() :]
    return _in_place_of(command, _ANYTHING)


def _in_place_of(written: str, code: str) -> str:
    """`code`, with as many line ends as what it replaces: two that come together must not become one."""
    return code + "".join("\n" if found == "\r" else found for found in _BREAK.findall(written))
