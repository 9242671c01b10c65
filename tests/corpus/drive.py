"""How much of real code the probe can drive without help: a random sample of the functions and Keras layers of packages
that an interpreter has installed, with the linter's own choice of what may be compiled.

    python -m tests.corpus.drive --python INTERPRETER [--sample N] [--seed S] [--list] [PACKAGE ..]

Runs the code of the packages, in the probe's own processes. A function that returns no tensor has nothing to compile
and counts apart. `--list` also prints each with the inputs, or the reason.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits
from xlalint.probe.protocol import Outcome, Plan
from xlalint.probe.target import Target
from xlalint.probe.targets import Targets

PACKAGES: Final = ("gpflow", "keras_cv", "spektral", "tensorflow_addons", "transformers")
_WHERE: Final = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).submodule_search_locations[0])"
_ASIDE: Final = re.compile(r"(^|/)(tests?|benchmarks?|testing\w*)(/|\.py$)|(^|/)test_[^/]*$|_test\.py$")
_LIMITS: Final = Limits(function=60, total=3600, memory=6000)
_NUMBERS: Final = re.compile(r"\d+|`[^`]*`|'[^']*'|\[[^\]]*\]|\([^)]*\)")


@dataclass(frozen=True)
class Row:
    """One package and kind: how many were tried, driven, and have nothing to compile."""

    package: str
    kind: str
    population: int
    outcomes: Sequence[Outcome]

    @property
    def host(self) -> int:
        return sum(_is_host(outcome) for outcome in self.outcomes)

    @property
    def driven(self) -> int:
        return sum(outcome.not_run is None for outcome in self.outcomes)

    def __str__(self) -> str:
        tried = len(self.outcomes) - self.host
        share = f"{self.driven / tried:.0%}" if tried else "-"
        seconds = sum(outcome.seconds for outcome in self.outcomes) / max(len(self.outcomes), 1)
        numbers = f"{self.population:>7}{len(self.outcomes):>7}{self.host:>6}{self.driven:>8}{share:>7}{seconds:>8.1f}"
        return f"{self.package:20}{self.kind:10}{numbers}"


HEADER: Final = f"{'':30}{'all':>7}{'tried':>7}{'host':>6}{'driven':>8}{'share':>7}{'s each':>8}"


def _is_host(outcome: Outcome) -> bool:
    return outcome.not_run is not None and outcome.not_run.startswith("it returns no tensor")


def folder_of(package: str, interpreter: str) -> Path:
    """Where an interpreter has a package."""
    done = subprocess.run([interpreter, "-c", _WHERE, package], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def population(package: Path) -> dict[str, list[Target]]:
    """The functions and the layers of a package, as the linter sees them."""
    files = [path for path in package.rglob("*.py") if not _ASIDE.search(path.relative_to(package).as_posix())]
    targets = Targets(keras=2)
    found = targets.all(files)
    layers = [one for one in found if targets.is_keras(one, "layer") and not targets.is_keras(one, "model")]
    return {"functions": [one for one in found if one.kind == "function"], "layers": layers}


def drive(targets: Sequence[Target], interpreter: str) -> list[Outcome]:
    """Only see whether each can be called."""
    found: dict[int, Outcome] = {}
    pool = Pool(Interpreter(interpreter), _LIMITS, Plan(drive_only=True))
    pool.run(targets, found.__setitem__)
    return [found[position] for position in range(len(targets))]


def reasons(outcomes: Iterable[Outcome]) -> str:
    """Why things were not driven, alike ones together, the most frequent first."""
    texts = (_NUMBERS.sub("..", outcome.not_run)[:110] for outcome in outcomes if outcome.not_run is not None)
    return "\n".join(f"{count:5}  {text}" for text, count in Counter(texts).most_common(25))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--sample", type=int, default=30, help="how many of each kind and package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print each")
    given = parser.parse_args()
    everything: list[Outcome] = []
    rows: list[Row] = []
    for package in given.packages:
        started = time.perf_counter()
        for kind, targets in population(folder_of(package, given.python)).items():
            chosen = random.Random(given.seed).sample(targets, min(given.sample, len(targets)))
            outcomes = drive(chosen, given.python)
            rows.append(Row(package, kind, len(targets), outcomes))
            everything += outcomes
            print(f"{rows[-1]}   ({time.perf_counter() - started:.0f} s)", file=sys.stderr)
            for target, outcome in zip(chosen, outcomes, strict=True) if given.list else ():
                print(f"  {target.file}::{target.qualname} [{outcome.seconds:.1f} s]")
                print(f"    {outcome.not_run or outcome.how}")
    totals = [
        Row(
            "all",
            kind,
            sum(row.population for row in rows if row.kind == kind),
            [outcome for row in rows if row.kind == kind for outcome in row.outcomes],
        )
        for kind in ("functions", "layers")
    ]
    print(HEADER, *rows, *totals, "", reasons(everything), sep="\n")


if __name__ == "__main__":
    main()
