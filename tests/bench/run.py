"""Measures the linter against its floor, the time that `libcst.parse_module` alone takes on the same files.

    python -m tests.bench.run [--runs N] PATH ..

Whole processes are timed, start-up included; the rows are medians of N runs, taken in turn, so that a busy minute of
the machine falls on all of them. `floor` parses the files that import TensorFlow or Keras, one after another, and keeps
nothing; `lines` counts the lines of those files for every row. The peak memory is that of the largest process of a
command (`wait4`). A table of one machine: compare rows, not tables.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IMPORTS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
FLOOR = """
import gc, sys, libcst
gc.disable()  # it only costs here: nothing is kept
for path in sys.stdin.read().splitlines():
    with open(path, "rb") as file:
        data = file.read()
    try:
        libcst.parse_module(data)
    except libcst.ParserSyntaxError as error:
        print(path, error, file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall seconds, processor seconds, and the peak of its resident memory (and its children's) in MB."""

    seconds: float
    processor: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Contender:
    """A command to time. `cold`: what it has cached is thrown away before each run."""

    name: str
    command: Sequence[str]
    text: str = ""  # for its standard input
    cold: bool = False


def tensorflow_files(paths: Sequence[Path]) -> list[Path]:
    """The Python files under the paths that import TensorFlow or Keras."""
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    return [file for file in found if IMPORTS.search(file.read_bytes())]


def timed(contender: Contender) -> Run:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as log:
        given.write(contender.text.encode())
        given.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(contender.command, stdin=given, stdout=subprocess.DEVNULL, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: the linter found something
            log.seek(0)
            raise SystemExit(f"{contender.name} ended with {process.returncode}: {log.read().decode()[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def contenders(paths: Sequence[Path], files: Sequence[Path], cache: Path) -> list[Contender]:
    floor = Contender("floor", [sys.executable, "-c", FLOOR], text="\n".join(map(str, files)))
    check = [sys.executable, "-m", "xlalint", "check", "--isolated", "--output-format", "json"]
    places = [str(path) for path in paths]
    cached = ["--cache-dir", str(cache)]
    return [
        floor,
        *(Contender(f"cold, {jobs} jobs", [*check, "--no-cache", "--jobs", str(jobs), *places]) for jobs in (1, 2)),
        Contender("filling the cache", [*check, *cached, "--jobs", "1", *places], cold=True),
        Contender("warm", [*check, *cached, "--jobs", "1", *places]),
    ]


def empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="runs per row (default: 3)")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    options = parser.parse_args()

    files = tensorflow_files(options.paths)
    if not files:
        parser.error("no file under the paths imports TensorFlow or Keras")
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    with tempfile.TemporaryDirectory() as folder:
        rows = contenders(options.paths, files, Path(folder))
        runs: dict[str, list[Run]] = {row.name: [] for row in rows}
        for _ in range(options.runs):
            for row in rows:
                if row.cold:
                    empty(Path(folder))
                runs[row.name].append(timed(row))

    print(f"{len(files)} files, {lines} lines import TensorFlow or Keras; medians of {options.runs} runs")
    print(f"{'':20}{'seconds':>9}{'processor s':>13}{'lines/s':>10}{'x floor':>9}{'peak MB':>9}")
    floor = statistics.median(run.seconds for run in runs["floor"])
    for name, taken in runs.items():
        seconds = statistics.median(run.seconds for run in taken)
        processor = statistics.median(run.processor for run in taken)
        peak = max(run.megabytes for run in taken)
        print(f"{name:20}{seconds:9.2f}{processor:13.2f}{lines / seconds:10.0f}{seconds / floor:9.2f}{peak:9.0f}")


if __name__ == "__main__":
    main()
