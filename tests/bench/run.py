"""Measures the linter against its floor, the time that `libcst.parse_module` alone takes on the same files.

    python -m tests.bench.run [--runs N] [--peers FOLDER] PATH ..

Whole processes are timed, start-up included; the rows are medians of N runs, taken in turn, so that a busy minute of
the machine falls on all of them. `floor` parses the files that import TensorFlow or Keras, one after another, and keeps
nothing; `lines` counts the lines of those files for every row. The peak memory is that of the largest process of a
command (`wait4`). A table of one machine: compare rows, not tables.

`--peers` names a virtual environment with other linters, and makes one where there is none. They, and xlalint beside
them, read a sample of the files, since the slowest of them take an hour for all; every row has its own lines a second.
All of these run on one processor, where the system can bind a process to it: some take all that they find, whatever
they are asked.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

IMPORTS = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
# What is installed has its bytecode beside it; the sources of a checkout get theirs by the first run, unless the
# environment forbids that, and each run would compile all of them.
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
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
    """A command to time. `cold`: what it has cached is thrown away before each run; `sampled`: it reads the sample, on
    one processor."""

    name: str
    command: Sequence[str]
    text: str = ""  # for its standard input
    cold: bool = False
    sampled: bool = False


# Other linters: what to install, and what to run in front of the files; each alone, without settings and caches.
PEERS = {
    "ruff": ("check", "--isolated", "--no-cache", "--exit-zero", "--quiet"),
    "flake8": ("--isolated", "--jobs", "1", "--exit-zero"),
    "torchfix": ("--select", "ALL"),
    "pylint": ("--rcfile", os.devnull, "--jobs", "1", "--exit-zero"),
    "fixit": ("--quiet", "lint"),
}


def tensorflow_files(paths: Sequence[Path]) -> list[Path]:
    """The Python files under the paths that import TensorFlow or Keras."""
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    return [file for file in found if IMPORTS.search(file.read_bytes())]


def timed(contender: Contender) -> Run:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as log:
        given.write(contender.text.encode())
        given.seek(0)
        with bound_to_one(contender.sampled):
            started = time.perf_counter()
            process = subprocess.Popen(
                contender.command, stdin=given, stdout=subprocess.DEVNULL, stderr=log, env=INSTALLED
            )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: the linter found something
            log.seek(0)
            raise SystemExit(f"{contender.name} ended with {process.returncode}: {log.read().decode()[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


@contextmanager
def bound_to_one(bound: bool) -> Iterator[None]:
    """What is started inside has one of the processors of this process, if it is to be bound, and so has all that it
    starts; on a system that cannot do so, all of them."""
    if not bound or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def contenders(paths: Sequence[Path], files: Sequence[Path], cache: Path) -> list[Contender]:
    floor = Contender("floor", [sys.executable, "-c", FLOOR], text="\n".join(map(str, files)))
    check = [sys.executable, "-m", "xlalint", "check", "--isolated", "--output-format", "json"]
    locations = [str(path) for path in paths]
    cached = ["--cache-dir", str(cache)]
    return [
        floor,
        *(Contender(f"cold, {jobs} jobs", [*check, "--no-cache", "--jobs", str(jobs), *locations]) for jobs in (1, 2)),
        Contender("filling the cache", [*check, *cached, "--jobs", "1", *locations], cold=True),
        Contender("warm", [*check, *cached, "--jobs", "1", *locations]),
    ]


def peers(folder: Path, sample: Sequence[Path], copies: Path) -> list[Contender]:
    """The other linters of a virtual environment, which is made where there is none, and xlalint on the same files.
    The others read copies: some pass over what Git ignores."""
    if not folder.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *PEERS], check=True)
    copied = [str(shutil.copy(path, copies / f"{number}_{path.name}")) for number, path in enumerate(sample)]
    own = [sys.executable, "-m", "xlalint", "check", "--isolated", "--no-cache", "--jobs", "1", "--quiet"]
    return [
        Contender("xlalint", [*own, *map(str, sample)], sampled=True),
        *(
            Contender(name, [str(folder / "bin" / name), *arguments, *copied], sampled=True)
            for name, arguments in PEERS.items()
            if (folder / "bin" / name).exists()
        ),
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
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="a virtual environment with other linters")
    parser.add_argument("--sample", type=int, default=50, help="files that those read (default: 50)")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    options = parser.parse_args()

    files = tensorflow_files(options.paths)
    if not files:
        parser.error("no file under the paths imports TensorFlow or Keras")
    lines = lines_of(files)
    sample = files[:: max(len(files) // options.sample, 1)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as copies:
        rows = contenders(options.paths, files, Path(folder))
        rows += peers(options.peers, sample, Path(copies)) if options.peers else []
        runs: dict[str, list[Run]] = {row.name: [] for row in rows}
        for _ in range(options.runs):
            for row in rows:
                if row.cold:
                    empty(Path(folder))
                runs[row.name].append(timed(row))

    print(f"{len(files)} files, {lines} lines import TensorFlow or Keras; medians of {options.runs} runs")
    print(f"{'':20}{'seconds':>9}{'processor s':>13}{'lines/s':>10}{'x floor':>9}{'peak MB':>9}")
    floor = statistics.median(run.seconds for run in runs["floor"]) / lines
    for row in rows:
        taken = runs[row.name]
        read = lines_of(sample) if row.sampled else lines
        seconds = statistics.median(run.seconds for run in taken)
        processor = statistics.median(run.processor for run in taken)
        peak = max(run.megabytes for run in taken)
        times = seconds / read / floor
        print(f"{row.name:20}{seconds:9.2f}{processor:13.2f}{read / seconds:10.0f}{times:9.2f}{peak:9.0f}")


def lines_of(files: Sequence[Path]) -> int:
    """How many lines files have."""
    return sum(file.read_bytes().count(b"\n") for file in files)


if __name__ == "__main__":
    main()
