"""The lengths of sequences, or of pairs of them, counted as they are read: how many there are is no matter."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import Any, Final, TypeAlias

import msgspec

Lengths: TypeAlias = tuple[int, ...]
"""The length of a sequence, or the two of a pair."""

_CHUNK: Final = 1 << 20  # bytes read at once
_LARGEST: Final = 2**31 - 1  # of a dimension; TensorFlow's own sizes are 32 bits wide unless one asks
_SEPARATORS: Final = re.compile(rb"[\s,;]+")
_SHOWN: Final = 40  # characters of a wrong line that a message repeats
_JSON: Final = (".jsonl", ".ndjson")
_TABLES: Final = {".csv": ",", ".tsv": "\t"}


class LengthsError(Exception):
    """Input that holds no lengths; the message is one line that says where and why."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each length occurs, or each pair of lengths; `columns` is 1 or 2."""

    counts: dict[Lengths, int]
    columns: int

    @property
    def total(self) -> int:
        """How many sequences or pairs there are."""
        return sum(self.counts.values())

    def column(self, index: int) -> dict[int, int]:
        """How often each length occurs in one column, shortest first."""
        counts: Counter[int] = Counter()
        for lengths, times in self.counts.items():
            counts[lengths[index]] += times
        return dict(sorted(counts.items()))


def read_lengths(stream: io.BufferedReader, name: str, columns: Sequence[str] = ()) -> Histogram:
    """Count the lengths of a file: one a line, or two for pairs; or those of the named columns of CSV (with a header)
    or of JSON lines, where a list or text counts by its length. Raises LengthsError."""
    suffix = PurePath(name).suffix.lower()
    is_json = suffix in _JSON or (suffix not in _TABLES and stream.peek(1).lstrip()[:1] == b"{")
    rows = _rows_of_json(stream, columns) if is_json else _rows_of_table(stream, columns, _TABLES.get(suffix, ","))
    try:
        counts = Counter(rows) if columns else _counted_lines(stream)
    except (LengthsError, csv.Error, UnicodeDecodeError) as error:
        raise LengthsError(f"{name}: {error}") from error
    if not counts:
        raise LengthsError(f"{name}: it contains no lengths")
    widths = {len(lengths) for lengths in counts}
    if len(widths) > 1:
        raise LengthsError(f"{name}: some lines contain one length, others two")
    return Histogram(dict(counts), widths.pop())


def _counted_lines(stream: io.BufferedReader) -> Counter[Lengths]:
    """Equal lines are parsed once."""
    lines: Counter[bytes] = Counter()
    parsed: dict[bytes, Lengths] = {}
    above = 0
    for chunk in _chunks(stream):
        lines.update(chunk)
        for line in islice(lines, len(parsed), None):  # those that are new, in their order
            try:
                parsed[line] = tuple(_number(part) for part in _SEPARATORS.split(line.strip(b" \t\r,;")) if part)
                if len(parsed[line]) > 2:
                    raise LengthsError("more than two lengths")
            except LengthsError as error:
                raise LengthsError(f"line {above + chunk.index(line) + 1}: {error}") from error
        above += len(chunk)
    counts: Counter[Lengths] = Counter()
    for line, times in lines.items():
        if parsed[line]:
            counts[parsed[line]] += times
    return counts


def _chunks(stream: io.BufferedReader) -> Iterator[list[bytes]]:
    """The lines of a file, many at once."""
    rest = b""
    if stream.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    while data := stream.read(_CHUNK):
        whole, ended, data = data.rpartition(b"\n")
        if ended:
            yield (rest + whole).split(b"\n")
            rest = data
        else:
            rest += data
    if rest:
        yield [rest]


def _number(written: bytes) -> int:
    """A length as it is written."""
    if not written.isdigit():
        raise LengthsError(f"not a length: {written.decode('utf-8', 'replace')[:_SHOWN]!r}")
    return _checked(int(written) if len(written) < 20 else _LARGEST + 1)


def _checked(length: int) -> int:
    if not 0 <= length <= _LARGEST:
        raise LengthsError(f"a length is between 0 and {_LARGEST}")
    return length


def _rows_of_table(stream: io.BufferedReader, columns: Sequence[str], separator: str) -> Iterator[Lengths]:
    """The named columns of a table with a header."""
    reader = csv.reader(io.TextIOWrapper(stream, "utf-8-sig", newline=""), delimiter=separator)
    header = next(reader, [])
    if missing := [column for column in columns if column not in header]:
        named = ", ".join(map(repr, header)) or "none"
        raise LengthsError(f"there is no column {missing[0]!r}; the header has {named}")
    places = [header.index(column) for column in columns]
    parsed = _Parsed()
    for row in filter(None, reader):
        try:
            yield tuple([parsed[row[place]] for place in places])
        except IndexError:
            raise LengthsError(f"line {reader.line_num}: there are fewer columns than in the header") from None
        except LengthsError as error:
            raise LengthsError(f"line {reader.line_num}: {error}") from error


class _Parsed(dict[str, int]):
    """Lengths by what is written; equal cells are parsed once."""

    def __missing__(self, cell: str) -> int:
        self[cell] = length = _number(cell.strip().encode())
        return length


def _rows_of_json(stream: io.BufferedReader, columns: Sequence[str]) -> Iterator[Lengths]:
    """The named keys of the objects, one a line."""
    names = [f"column{index}" for index in range(len(columns))]
    row = msgspec.defstruct(
        "Row", [(name, int | str | list[Any]) for name in names], rename=dict(zip(names, columns, strict=True))
    )
    decoder = msgspec.json.Decoder(row)
    for number, line in _numbered(_chunks(stream)):
        try:
            values = msgspec.structs.astuple(decoder.decode(line))
            yield tuple([_checked(value if isinstance(value, int) else len(value)) for value in values])
        except (msgspec.DecodeError, LengthsError) as error:
            raise LengthsError(f"line {number}: {error}") from error


def _numbered(chunks: Iterable[list[bytes]]) -> Iterator[tuple[int, bytes]]:
    lines = (line for chunk in chunks for line in chunk)
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())
