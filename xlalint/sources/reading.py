"""From a file's bytes to its text as a source, a notebook's too; and which files are worth reading."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Final

from .text import (
    Source,
    SourceTrouble,
    decode,
    digest_of,
    is_notebook,
    limit_f_strings,
    limit_python,
    read_bytes,
    split_lines,
)

_IMPORT_LINE: Final = re.compile(rb"^[ \t]*(?:from|import)\b[^\n#]*", re.MULTILINE)
_LIBRARIES: Final = re.compile(rb"\b(?:tensorflow\w*|keras\w*|tf_keras|tf|tfp|tnp|notebook_launcher)\b")
_LIBRARY_WORDS: Final = (b"tensorflow", b"keras", b"tf", b"tnp", b"notebook_launcher")  # one of them is in each
_CLUSTERS: Final = re.compile(
    r"^[^#\n]*(?:\bset_jit\s*\(\s*(?!(?:enabled\s*=\s*)?False\b)|tf_xla_auto_jit=(?!0|-1)"
    r"|\bTFTrainingArguments\s*\([^)]*\bxla\s*=\s*(?!False\b))",
    re.MULTILINE,
)
_MAY_CLUSTER: Final = ("set_jit", "tf_xla_auto_jit", "TFTrainingArguments")
_JAX: Final = re.compile(r"\bjax\b")
_CHOSEN: Final = re.compile(r"KERAS_BACKEND|\bset_backend\b|\bbackend\s*\(\s*\)")
_USE: Final = re.compile(rb"\b(?:tf|keras)\.\w")
_IMPORT: Final = re.compile(rb"^[ \t]*(?:from|import)\b", re.MULTILINE)
_COMMAND: Final = re.compile(r"^[ \t]*(?:[!%]\w|(?:cd|pip)[ \t]+[\w.~/-])", re.MULTILINE)  # of IPython, or of a shell
_PASSED: Final = "a command of IPython, which Python does not run; the rest of the file is checked"
ASKS: Final = r"""if\b[ \t(]*(?:__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__\b)"""
"""What a file asks that does something if it is run: a pattern for the beginning of a line, or behind a margin."""
_RUN: Final = re.compile(rf"^[ \t]*{ASKS}".encode(), re.MULTILINE)
_DOES: Final = re.compile(rb"^(?:(?:for|while)\b[^\n#]*:|[A-Za-z_][\w.]*\()", re.MULTILINE)  # not behind a margin
_NAME: Final = re.compile(rb"[A-Za-z_]\w*")


def mentions_tensorflow(data: bytes) -> bool:
    """Whether there is an import of TensorFlow or Keras, or a use of their customary names in a fragment; or Keras is
    told what to run on, for a module that imports it."""
    if b"KERAS_BACKEND" in data:
        return True
    for word in (b"tf.", b"keras."):
        at = data.find(word)
        while at >= 0:
            if _USE.match(data, at):
                return True
            at = data.find(word, at + 1)
    return any(_imports(word, data) for word in _LIBRARY_WORDS)


def _imports(word: bytes, data: bytes) -> bool:
    """Whether a library is imported in a line that holds a word: to look for the word first is many times as fast."""
    at = data.find(word)
    while at >= 0:
        line = _IMPORT_LINE.match(data, data.rfind(b"\n", 0, at) + 1)
        if line is not None and _LIBRARIES.search(line.group()):
            return True
        end = data.find(b"\n", at)
        at = data.find(word, end) if end >= 0 else -1
    return False


def may_matter(data: bytes, path: Path) -> bool:
    """Whether the file names TensorFlow or Keras, or imports nothing and may be a fragment.

    No other is parsed, but what one imports and scripts that import one. A notebook is a program to run, and no
    fragment. Raises UnreadableSource for what only has a notebook's name.
    """
    if is_notebook(path):
        from .notebooks import cells_of

        code = "\n".join(cell.written for cell in cells_of(data))
        return mentions_tensorflow(code.encode("utf-8", "replace"))
    return mentions_tensorflow(data) or (_IMPORT.search(data) is None and not data.isspace() and data != b"")


def names_imported(data: bytes) -> tuple[str, ...]:
    """The words of a file's imports."""
    words = {word for line in _IMPORT_LINE.finditer(data) for word in _NAME.findall(line.group())}
    return tuple(sorted(word.decode() for word in words))


def says_it_runs(data: bytes) -> bool:
    """Whether a file asks whether it is run by itself, or does something over and over as soon as it is read, or calls
    a function or method for what it does."""
    return _DOES.search(data) is not None or (b"__main__" in data and _RUN.search(data) is not None)


class Strategies(IntEnum):
    """Which distribution strategies a program may make or take."""

    NONE = 0
    SOME = 1
    OF_TPUS = 2  # also those that run on TPUs


def strategies_named(text: str) -> Strategies:
    """Which strategies source may be about."""
    if "TPUStrategy" in text:
        return Strategies.OF_TPUS
    named = any(word in text for word in ("Strategy", "get_strategy", ".scope()", "_distribute_dataset"))
    return Strategies.SOME if named else Strategies.NONE


def clusters_named(text: str) -> bool:
    """Whether source may turn TensorFlow's autoclustering on: neither in a comment, nor to turn it off."""
    return any(word in text for word in _MAY_CLUSTER) and _CLUSTERS.search(text) is not None


class Jax(IntEnum):
    """What files say of JAX."""

    UNNAMED = 0
    NAMED = 1  # to call it, say
    CHOSEN = 2  # also, they may tell Keras to run on it, or ask whether it does


def jax_named(text: str) -> Jax:
    """What source says of JAX."""
    if "jax" not in text or _JAX.search(text) is None:
        return Jax.UNNAMED
    return Jax.CHOSEN if "backend" in text.lower() and _CHOSEN.search(text) is not None else Jax.NAMED


def source_of(data: bytes, path: Path, display: str, *, linted: bool = True) -> Source:
    """The source that `data` is. Raises UnreadableSource."""
    if is_notebook(path):
        from .notebooks import notebook_source

        return notebook_source(data, path, display, linted=linted)
    limit_python(len(data))
    text = decode(data)
    limit_f_strings(text)
    source = Source(path=path, display=display, text=text, digest=digest_of(data), linted=linted)
    return source if _COMMAND.search(text) is None else _without_commands(source)


def _without_commands(source: Source) -> Source:
    """A file in which somebody has pasted the cells of a notebook: lines that are commands alone become `pass`, and the
    first is told."""
    from .ipython import python_of

    python = python_of(source.text)
    if python is None or python == source.text:
        return source
    both = enumerate(zip(split_lines(source.text), split_lines(python), strict=True), 1)
    commands = {number: line for number, (written, line) in both if written != line}
    if any(line.strip() not in ("", "pass") for line in commands.values()):
        return source
    told = SourceTrouble(min(commands), 1, _PASSED)
    return replace(source, text=python, trouble=(told,), masked=frozenset(commands))


def read_source(path: Path, display: str, *, linted: bool = True) -> Source:
    """Read one file; raise `UnreadableSource` when it is not Python text."""
    return source_of(read_bytes(path), path, display, linted=linted)
