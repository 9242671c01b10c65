"""A source file as text, decoded the way Python decodes it."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from .checkout import misleading

# An import of TensorFlow or Keras under whatever roof, or of Accelerate's launcher: the line, and the words in it.
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# PEP 263: the cookie stands in a comment on one of the first two lines, the first of which holds no code.
_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK: Final = re.compile(rb"^[ \t\f]*(?:#.*)?$")

# Many times what the largest file holds that people wrote, and about ten seconds of work.
_MOST_PYTHON: Final = 1_000_000
# Python's own parser looks for each part of an f-string from its beginning on.
_MOST_LOOKS: Final = 10_000_000_000  # at characters; two or three seconds
_F_STRING: Final = re.compile(
    r"""(?<!\w)(?:[fF][rR]?|[rR][fF])(?:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}"""
    r"""|"(?:\\.|[^\\"\n])*"|'(?:\\.|[^\\'\n])*')""",
    re.DOTALL,
)
MOST_BYTES: Final = 100_000_000  # of a file that is looked at at all: a notebook may hold many pictures
MOST_SETTINGS: Final = 10_000_000  # of one with settings or requirements
_AT_LEAST: Final = 4096  # bytes that are asked for at once
_FILE_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class UnreadableSource(Exception):  # noqa: N818
    """A file that cannot be read as Python text; the message says why."""


class OversizedSource(UnreadableSource):
    """A file with more Python than is worth reading: somebody's data, or an attack."""


@dataclass(frozen=True, slots=True)
class CellLines:
    """The lines of a source that a notebook's cell fills, 1-based, both ends included."""

    cell: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SourceTrouble:
    """What was no Python in a part of a source, the rest of which is; 1-based line and column."""

    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """One file as text; of a notebook its Python, cell below cell.

    `display` is the path as reports show it: relative to the working directory, with "/". `text` keeps its line ends.
    `linted` is False for a file that is only read because another imports it. `cells`: empty for a plain file.
    """

    path: Path
    display: str
    text: str
    digest: str
    linted: bool = True
    cells: tuple[CellLines, ...] = ()
    trouble: tuple[SourceTrouble, ...] = ()
    masked: frozenset[int] = frozenset()  # lines that hold more than the Python that stands in `text`

    def cell_at(self, line: int) -> CellLines | None:
        """The notebook's cell that a line of the text belongs to; None in a plain file."""
        index = bisect_right(self.cells, line, key=lambda cell: cell.first)
        return self.cells[max(index - 1, 0)] if self.cells else None


def is_notebook(path: Path) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.suffix == ".ipynb"


def digest_of(data: bytes) -> str:
    """The content's identity, for the cache."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def split_lines(text: str) -> list[str]:
    """The lines as Python counts them (`str.splitlines` also splits at form feeds and Unicode separators)."""
    return _LINE_END.split(text)


def kept_lines(text: str) -> list[str]:
    """The lines with their line ends."""
    starts = [*line_starts(text), len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]


def line_starts(text: str) -> list[int]:
    """Where each line begins, as an offset; the last may be the end of the text."""
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def newline_of(text: str) -> str:
    """The line end that a text is written with: its first."""
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def display_path(path: Path | str) -> str:
    """`path` relative to the working directory where it lies below it, with "/" between the parts.

    Bytes of a name that are not UTF-8 are written out, so that a path can always be printed and encoded.
    """
    shown = absolute = os.path.abspath(path)
    here = os.getcwd()
    below = here if here.endswith(os.sep) else here + os.sep
    if absolute.startswith(below):
        shown = absolute[len(below) :]
    elif not (relative := os.path.relpath(absolute, here)).startswith(os.pardir + os.sep):
        shown = relative
    return shown.replace(os.sep, "/").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def encoding_of(data: bytes) -> str:
    """The encoding that Python reads `data` with: a byte order mark, a PEP 263 cookie, else UTF-8."""
    marked = data.startswith(codecs.BOM_UTF8)
    named: str | None = None
    for line in io.BytesIO(data[len(codecs.BOM_UTF8) :] if marked else data).readlines(4096)[:2]:
        if cookie := _COOKIE.match(line):
            named = cookie.group(1).decode("ascii")
            break
        if not _BLANK.match(line.rstrip(b"\r\n")):
            break
    if named is None:
        return "utf-8-sig" if marked else "utf-8"
    try:
        normal = codecs.lookup(named).name
    except LookupError as error:
        raise UnreadableSource(f"unknown encoding: {named}") from error
    if marked and normal != "utf-8":
        raise UnreadableSource(f"the byte order mark declares utf-8, the encoding comment {named}")
    return "utf-8-sig" if marked else normal


def decode(data: bytes) -> str:
    """`data` as Python's own reader decodes it; line ends stay as they are."""
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableSource(f"line {line} is not {encoding} text: {error.reason}") from error
    except LookupError as error:  # a codec that is not a text encoding, such as "hex"
        raise UnreadableSource(f"not a text encoding: {encoding}") from error
    if not encoding.startswith("utf-8") and any("\ud800" <= character <= "\udfff" for character in set(text)):
        raise UnreadableSource("the source contains lone surrogates")
    if "\0" in text:
        raise UnreadableSource("the source contains null bytes")
    return text


def encode(text: str) -> bytes:
    """`text` as the file that it may become: what `decode` reads, where that can be."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(encoding_of(data))
    except (UnreadableSource, LookupError, UnicodeError):  # which `decode` then says of the bytes
        return data


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of not more than `most` bytes that belongs to the code that is checked: links that
    lead elsewhere are not followed. Raises UnreadableSource, and for a larger one OversizedSource."""
    return _read(path, most, own=False)


def read_own(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file that whoever runs the command named, or that was written for them. Raises the same."""
    return _read(path, most, own=True)


def _read(path: Path, most: int, *, own: bool) -> bytes:
    try:
        if not path.is_file():  # opening a device may do something, and opening a pipe would block
            raise UnreadableSource("no such file" if not path.exists() else "not a regular file")
        file = os.open(path, _FILE_FLAGS)
        try:
            if not own and (why := misleading(path, file)) is not None:
                raise UnreadableSource(why)
            return _content(file, most)
        finally:
            os.close(file)
    except OSError as error:
        raise UnreadableSource(error.strerror or str(error)) from error


def _content(file: int, most: int) -> bytes:
    """What is in an open file; what its size says need not be true."""
    told = os.fstat(file)
    if not stat.S_ISREG(told.st_mode):  # it has taken the place of a file a moment ago
        raise UnreadableSource("not a regular file")
    parts = []
    left = most + 1 if told.st_size <= most else 0
    while left and (part := os.read(file, min(left, told.st_size + _AT_LEAST))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise OversizedSource(f"more than {most:,} bytes: the file is not read")
    return b"".join(parts)


def limit_python(size: int) -> None:
    """Raise OversizedSource for a file with so many bytes or characters of Python."""
    if size > _MOST_PYTHON:
        raise OversizedSource(f"more than {_MOST_PYTHON:,} characters of Python: the file is not checked")


def limit_f_strings(text: str) -> None:
    """Raise OversizedSource for Python that Python itself takes too long to parse."""
    if text.count("{") * len(text) < _MOST_LOOKS:
        return
    if any(part[0].count("{") * len(part[0]) >= _MOST_LOOKS for part in _F_STRING.finditer(text)):
        raise OversizedSource("an f-string with too many parts: the file is not checked")
