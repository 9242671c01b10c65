"""Notebooks as Python: the code cells one below the other, and where each line stands in its cell.

Cells count from 1, those without code included, as in the file.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from .ipython import python_of
from .outline import OutlineError, parsed
from .text import (
    CellLines,
    Source,
    SourceTrouble,
    UnreadableSource,
    digest_of,
    limit_f_strings,
    limit_python,
    split_lines,
)

_PYTHON: Final = frozenset(("python", "python2", "python3", "ipython"))
# IPython takes a cell as a whole that is indented as a whole; it becomes a block that always runs.
_BLOCK: Final = "if 1:\n"
_INDENTED: Final = re.compile(r"(?:\s*[\r\n])?[ \t]+\S")


class _Cell(msgspec.Struct):
    """A cell of nbformat 4. `source` may come as lines that carry their line ends."""

    cell_type: str
    source: str | list[str]
    metadata: Any = None


class _Notebook(msgspec.Struct):
    cells: list[_Cell]
    metadata: Any = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Python: its text as `written`, and what of it Python runs, line for line."""

    number: int
    written: str
    python: str


def notebook_text(data: bytes) -> str:
    """A notebook file as text. Raises UnreadableSource."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableSource(f"not a notebook: not UTF-8 text: {error.reason}") from error


def cells_of(data: bytes) -> list[Cell]:
    """The cells with Python code. Raises UnreadableSource."""
    notebook = _decoded(data)
    if not _is_python(notebook.metadata, ("language_info", "name"), ("kernelspec", "language")):
        return []
    found = []
    size = 0
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code" or not _is_python(cell.metadata, ("vscode", "languageId")):
            continue
        written = cell.source if isinstance(cell.source, str) else "".join(cell.source)
        size += len(written)
        limit_python(size)
        limit_f_strings(written)
        python = python_of(written)
        if python is not None and python.strip():
            found.append(Cell(number, written, python))
    return found


def notebook_source(data: bytes, path: Path, display: str, *, linted: bool = True) -> Source:
    """The notebook as one program. Raises UnreadableSource.

    A cell that is no Python leaves its lines empty, and the others are read all the same, as Jupyter runs them.
    """
    pieces: list[str] = []
    cells: list[CellLines] = []
    trouble: list[SourceTrouble] = []
    masked: set[int] = set()
    line = 1
    for cell in cells_of(data):
        text = cell.python if cell.python.endswith("\n") else f"{cell.python}\n"
        count = len(split_lines(text)) - 1
        block = _BLOCK if _INDENTED.match(text) else ""
        line += bool(block)
        if (problem := _problem(block + text)) is not None:
            at = max(problem.line - bool(block), 1)
            trouble.append(SourceTrouble(line + min(at, count) - 1, problem.column, problem.message))
            text = "\n" * count
            block = "\n" if block else ""
        both = zip(split_lines(cell.written), split_lines(cell.python), strict=True)
        masked |= {line + index for index, (written, python) in enumerate(both) if written != python}
        pieces += block, text
        cells.append(CellLines(cell.number, line, line + count - 1))
        line += count
    text = "".join(pieces)
    return Source(path, display, text, digest_of(data), linted, tuple(cells), tuple(trouble), frozenset(masked))


def _problem(text: str) -> OutlineError | None:
    try:
        parsed(text)
    except OutlineError as error:
        return error
    return None


def _is_python(metadata: Any, *ways: tuple[str, str]) -> bool:
    """Whether the first language that is written in the metadata is Python; true where none is."""
    languages = (_entry(_entry(metadata, outer), inner) for outer, inner in ways)
    language = next((found for found in languages if isinstance(found, str)), "python")
    return language.lower() in _PYTHON


def _entry(table: Any, key: str) -> Any:
    return table.get(key) if isinstance(table, dict) else None


def _decoded(data: bytes) -> _Notebook:
    """The cells of a file. What is slow is done only where the fast reader refuses the file: JSON with `NaN`, which
    Python writes, or something that has to be told."""
    try:
        return msgspec.json.decode(data, type=_Notebook)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    text = notebook_text(data)
    if not text.strip():
        raise UnreadableSource("not a notebook: the file is empty")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(f"not a notebook: not JSON: {error}") from error
    complaint = next(_complaints(content), None)
    if complaint is not None:
        raise UnreadableSource(f"not a notebook: {complaint}")
    return msgspec.convert(content, _Notebook)


def _complaints(content: Any) -> Iterator[str]:
    """What makes decoded JSON no notebook."""
    cells = _entry(content, "cells")
    if not isinstance(content, dict):
        yield "the JSON is not an object"
    elif cells is None and "worksheets" in content:
        yield "it is written in format 3 or older; `jupyter nbconvert --to notebook` makes it one of format 4"
    elif not isinstance(cells, list):
        yield "`cells` is not a list" if "cells" in content else "it has no cells"
    else:
        for number, cell in enumerate(cells, 1):
            if not isinstance(cell, dict):
                yield f"cell {number} is not an object"
            elif not isinstance(cell.get("cell_type"), str):
                yield f"cell {number} has no `cell_type`"
            elif not _is_source(cell.get("source")):
                yield f"the `source` of cell {number} is neither text nor a list of lines"


def _is_source(source: Any) -> bool:
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))
