"""Measures how long after an edit an editor has the findings of the new text.

    python -m tests.bench.server [--edits N] FILE ..

The real server is driven by a real client: each file is opened alone and edited N times, in lines that lie all over it
and in turn by a comment and by a statement, and the next edit waits for what is shown of the last. `first` is the time
from opening the file, which reads what it imports; the others are medians and worst of the edits, and the processor
time that the server took for one. That includes the silence that the server waits for. A table of one machine.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from tests.server.editor import Editor, editing

_STATEMENTS = ("# edited", "edited = 1")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds; `processor` is of one edit."""

    lines: int
    first: float
    median: float
    worst: float
    processor: float


def processor_seconds(process: int) -> float:
    """What a process has used of processors so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def shown(editor: Editor, name: str) -> float:
    """When the findings of the text as it is are there."""
    await editor.diagnostics(name)
    return time.perf_counter()


def edit(text: str, number: int, edits: int) -> str:
    """The text with a line more, above a definition at its top: with its decorators, if it has some."""
    lines = text.splitlines(keepends=True)
    definitions = [node for node in ast.parse(text).body if isinstance(node, _DEFINITIONS)]
    starts = [min(at.lineno for at in (node, *node.decorator_list)) - 1 for node in definitions] or [0]
    at = starts[number * len(starts) // edits]
    return "".join((*lines[:at], f"{_STATEMENTS[number % len(_STATEMENTS)]}\n", *lines[at:]))


async def measured(file: Path, edits: int) -> Row:
    text = file.read_text(encoding="utf-8")
    async with editing(file.parent) as editor:
        process = editor.client._server
        assert process is not None
        started = time.perf_counter()
        editor.open(file.name, text)
        first = await shown(editor, file.name) - started
        taken = []
        before = processor_seconds(process.pid)
        for number in range(edits):
            started = time.perf_counter()
            editor.change(file.name, edit(text, number, edits))
            taken.append(await shown(editor, file.name) - started)
        processor = (processor_seconds(process.pid) - before) / edits
    return Row(text.count("\n"), first, statistics.median(taken), max(taken), processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--edits", type=int, default=20, help="edits of each file (default: 20)")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args()
    print(f"{'ms':40}{'lines':>7}{'first':>8}{'median':>8}{'worst':>8}{'processor':>11}")
    for file in options.files:
        row = asyncio.run(measured(file.resolve(), options.edits))
        times = f"{row.first * 1e3:8.0f}{row.median * 1e3:8.0f}{row.worst * 1e3:8.0f}{row.processor * 1e3:11.0f}"
        print(f"{file.name:40}{row.lines:7}{times}")


if __name__ == "__main__":
    main()
