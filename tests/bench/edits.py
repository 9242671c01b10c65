"""Measures what a git hook costs: a run over one file that has changed, in a project whose cache is warm.

    python -m tests.bench.edits [--files N] [--resident] PATH

The project is copied; every N-th of its files that import TensorFlow or Keras, and the one that most of the others
name, are edited one after another: by a comment at the end, by words in front of the last function (which moves it),
and by a statement in that function, which is then taken back. After each edit the command of the hook is timed as a
whole process, start-up included: `--project . FILE`. Between them Python is started for nothing, which says how busy
the machine is, and the linter with nothing changed. `--resident` times the hook that has a process stay behind, whose
processor time is not counted.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .run import Contender, Run, tensorflow_files, timed

_GRAIN = 2.1  # seconds: what was written a moment ago is read again, which no hook meets


def _in_last_function(text: str, line: str, *, inside: bool) -> str:
    """The text with a line more in front of its last function, or of the last statement in it; the text itself where
    there is no function."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions:
        return text
    last = max(functions, key=lambda node: node.lineno)
    decorated: list[ast.stmt | ast.expr] = [last, *last.decorator_list]
    at = last.body[-1].lineno if inside else min(node.lineno for node in decorated)
    lines = text.splitlines(keepends=True)
    indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())]
    return "".join((*lines[: at - 1], f"{indent}{line}\n", *lines[at - 1 :]))


EDITS: Final[dict[str, Callable[[str], str]]] = {
    "a comment at the end": lambda text: f"{text}\n# a line more\n",
    "a comment above a function": lambda text: _in_last_function(text, "# a line more", inside=False),
    "a statement in a function": lambda text: _in_last_function(text, "a_line_more = 1", inside=True),
}


def most_named(files: Sequence[Path]) -> Path:
    """The file whose name most others name."""
    words = [frozenset(re.findall(r"\w+", file.read_text("utf-8", "replace"))) for file in files]
    return max(files, key=lambda file: (sum(file.stem in here for here in words), str(file)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=9, help="how many files are edited (default: 9)")
    parser.add_argument("--resident", action="store_true", help="have a process stay behind and do the next runs")
    parser.add_argument("path", type=Path, metavar="PATH")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, options.path.name)
        shutil.copytree(options.path, project)
        os.chdir(project)
        files = [file.relative_to(project) for file in tensorflow_files([project])]
        if not files:
            parser.error("no file under the path imports TensorFlow or Keras")
        check = [
            sys.executable,
            "-m",
            "xlalint",
            "check",
            "--isolated",
            "--cache-dir",
            f"{folder}/cache",
            "--jobs",
            "1",
            *["--resident"] * options.resident,
        ]
        rows: dict[str, list[Run]] = {}

        def measure(name: str, *command: str) -> None:
            time.sleep(_GRAIN * options.resident)  # commits do not follow at once
            rows.setdefault(name, []).append(timed(Contender(name, command)))

        measure("everything, cold", *check, "--project", ".", ".")
        time.sleep(_GRAIN)
        chosen = dict.fromkeys(files[:: max(len(files) // options.files, 1)], "") | {most_named(files): ", widely used"}
        for file, note in chosen.items():
            before = file.read_text(encoding="utf-8")
            for name, edit in EDITS.items():
                after = edit(before)
                if after != before:
                    file.write_text(after, encoding="utf-8")
                    measure("python -c pass", sys.executable, "-c", "pass")
                    measure(f"{name}{note}", *check, "--project", ".", str(file))
                    measure("nothing changed", *check, "--project", ".", str(file))
            file.write_text(before, encoding="utf-8")
            measure(f"all of it taken back{note}", *check, "--project", ".", str(file))
        print(f"{len(files)} files import TensorFlow or Keras; {len(chosen)} are edited, medians (most)")
        print(f"{'':40}{'seconds':>18}{'processor s':>18}")
        for name, runs in rows.items():
            seconds = [run.seconds for run in runs]
            processor = [run.processor for run in runs]
            print(f"{name:40}{told(seconds):>18}{told(processor):>18}")


def told(values: list[float]) -> str:
    """The median of some seconds, and the most."""
    return f"{statistics.median(values):.2f} ({max(values):.2f})"


if __name__ == "__main__":
    main()
