"""Lints, reports in all formats and fixes programs that nobody would write, and says what broke.

    python -m tests.robustness                             # 200 programs made of the examples and the cases
    python -m tests.robustness --seed 7 --files 10000 PATH # made of the TensorFlow files below PATH
    python -m tests.robustness --seed 7 --only 4711        # one of them once more, kept to be looked at
    python -m tests.robustness --as-they-are --lend-import PATH   # files as they are, with an import of TensorFlow

Each trial is made in a process that can be lost: what kills it is told by its number. The exit code is 1 when anything
broke or took longer than `--limit` seconds of processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from tests import ROOT

from .mutate import as_notebook, mutant, name_of, seeds
from .runner import Outcome, Trial, run

Creation: TypeAlias = Callable[[int], tuple[str, bytes, tuple[str, ...]]]
_IMPORT = b"\nimport tensorflow as tf\n"


def mutants(seed: int, texts: Sequence[str]) -> Creation:
    """By number: the name, the content and what was done to it."""

    def make(number: int) -> tuple[str, bytes, tuple[str, ...]]:
        data, done = mutant(seed, number, texts)
        if number % 10 == 9:
            data, done = as_notebook(seed, number, data), (*done, "as a notebook")
        return name_of(number, notebook=number % 10 == 9), data, done

    return make


def as_they_are(files: Sequence[Path], lend_import: bool) -> Creation:
    def make(number: int) -> tuple[str, bytes, tuple[str, ...]]:
        data = files[number].read_bytes()
        return files[number].name, data + _IMPORT if lend_import else data, (str(files[number]),)

    return make


def table(outcomes: Sequence[Outcome]) -> str:
    """What was done to programs, how often, how often something broke, and the worst time."""
    tried, broke, slowest = Counter[str](), Counter[str](), Counter[str]()
    for one in outcomes:
        for done in dict.fromkeys(one.trial.done):
            tried[done] += 1
            broke[done] += bool(one.complaints)
            slowest[done] = max(slowest[done], round(one.seconds * 1000))
    rows = [f"| {done} | {tried[done]} | {broke[done]} | {slowest[done] / 1000:.1f} |" for done in sorted(tried)]
    return "\n".join(("| change | programs | broke something | slowest, s |", "| --- | --- | --- | --- |", *rows))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, default=200, help="how many programs (default: 200)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no other trial after that time")
    parser.add_argument("--limit", type=float, default=15.0, help="processor time for a trial (default: 15 s)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one trial, whose file is kept")
    parser.add_argument("--as-they-are", action="store_true", help="files as they are")
    parser.add_argument("--lend-import", action="store_true", help="with --as-they-are: so that each is analysed")
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "examples", ROOT / "tests" / "recall" / "cases"])
    options = parser.parse_args()

    if options.as_they_are:
        files = sorted(file for path in options.paths for file in (path, *path.rglob("*.py")) if file.is_file())
        make, count = as_they_are(files, options.lend_import), len(files)
    else:
        make, count = mutants(options.seed, seeds(options.paths)), options.files
    numbers = range(count) if options.only is None else [options.only]
    started, outcomes = time.monotonic(), list[Outcome]()
    with tempfile.TemporaryDirectory() as folder:
        for outcome in run(numbers, make, Path(folder), options.limit):
            outcomes.append(outcome)
            for complaint in outcome.complaints:
                print(f"{outcome.trial.number} {outcome.trial.name!r} {outcome.trial.done}: {complaint}", flush=True)
            if time.monotonic() - started > options.seconds:
                break
    if options.only is not None:
        trial = Trial(options.only, *make(options.only))
        kept = Path(tempfile.mkdtemp(), f"kept{Path(trial.name).suffix}")
        kept.write_bytes(trial.data)
        print(f"kept: {kept}")
    broken = sum(bool(one.complaints) for one in outcomes)
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if not options.as_they_are:
        print(table(outcomes))
    slowest = max(outcomes, key=lambda one: one.seconds)
    print(
        f"{len(outcomes)} programs, {broken} broke something; the slowest took {slowest.seconds:.1f} s of processor "
        f"time (number {slowest.trial.number}), the largest process {megabytes:.0f} MB"
    )
    sys.stdout.flush()
    os._exit(broken > 0)


if __name__ == "__main__":
    main()
