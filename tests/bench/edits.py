"""Measures what a git hook costs: a run over one file that has changed, in a project whose cache is warm.

    python -m tests.bench.edits [--files N] [--edit TEXT] PATH

The project is copied; every N-th of its files that import TensorFlow or Keras gets a line more at its end, one after
another, and after each the command of the hook is timed as a whole process, start-up included: `--project . FILE`.
Between them Python is started for nothing, which says how busy the machine is, and the linter with nothing changed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from .run import Contender, Run, tensorflow_files, timed

_GRAIN = 2.1  # seconds: what was written a moment ago is read again, which no hook meets


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=9, help="how many files are edited (default: 9)")
    parser.add_argument("--edit", default="\n# a line more\n", help="what is put at the end of each")
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
        ]
        rows: dict[str, list[Run]] = {}

        def measure(name: str, *command: str) -> None:
            rows.setdefault(name, []).append(timed(Contender(name, command)))

        measure("everything, cold", *check, "--project", ".", ".")
        time.sleep(_GRAIN)
        for file in files[:: max(len(files) // options.files, 1)]:
            with file.open("a", encoding="utf-8") as opened:
                opened.write(options.edit)
            measure("python -c pass", sys.executable, "-c", "pass")
            measure("one changed file", *check, "--project", ".", str(file))
            measure("nothing changed", *check, "--project", ".", str(file))
        print(f"{len(files)} files import TensorFlow or Keras; {len(rows['one changed file'])} edits, medians (most)")
        print(f"{'':20}{'seconds':>18}{'processor s':>18}")
        for name, runs in rows.items():
            seconds = [run.seconds for run in runs]
            processor = [run.processor for run in runs]
            print(f"{name:20}{told(seconds):>18}{told(processor):>18}")


def told(values: list[float]) -> str:
    """The median of some seconds, and the most."""
    return f"{statistics.median(values):.2f} ({max(values):.2f})"


if __name__ == "__main__":
    main()
