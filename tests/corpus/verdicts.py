"""What the probe says of the errors that the linter finds in real code: each is run, as `check --probe` runs it.

    python -m tests.corpus.verdicts --python INTERPRETER [--keras 2] [--tensorflow 2.15] [PACKAGE ..]

Runs the code of the packages that the interpreter has installed, in the probe's own processes. Prints each finding with
its verdict as soon as it has one, and a table: confirmed, refuted on this TensorFlow, open because nothing was run, or
for another reason; and how many of the functions that the findings stand in were driven, and in what time. What was run
is kept under `.corpus/probe`, and is not run again until it changes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from xlalint.findings.findings import Finding, Report, Severity
from xlalint.linter.run import check
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.targets import Targets
from xlalint.probe.verdicts import Run, judged
from xlalint.settings import config

from .drive import PACKAGES, folder_of
from .packages import CORPUS

COLUMNS: Final = ("errors", "confirmed", "refuted", "not run", "open", "probe-only", "functions", "driven", "s each")
LIMITS: Final = ("probe.timeout = 60.0", "probe.memory = 6000", "probe.total-timeout = 36000.0")


@dataclass(frozen=True)
class Row:
    """The verdicts on one package's errors, and what became of the functions that they stand in."""

    package: str
    findings: Sequence[Finding]
    runs: Sequence[Run]

    def __str__(self) -> str:
        counts = Counter(map(kind_of, self.findings))
        errors = len(self.findings) - counts["probe-only"]
        driven = [run.outcome for run in self.runs if run.outcome.not_run is None]
        seconds = sum(outcome.seconds for outcome in driven) / max(len(driven), 1)
        numbers = [errors, *(counts[kind] for kind in COLUMNS[1:6]), len(self.runs), len(driven), f"{seconds:.1f}"]
        return f"{self.package:20}" + "".join(f"{number:>11}" for number in numbers)


HEADER: Final = f"{'':20}" + "".join(f"{column:>11}" for column in COLUMNS)


def kind_of(finding: Finding) -> str:
    """The verdict in a word; what was not run is open, and counts apart."""
    verdict = finding.verdict
    if verdict is None:
        return "open"
    return "not run" if verdict.status == "open" and verdict.outcome == "not run" else verdict.status


def probed(package: str, given: argparse.Namespace) -> Row:
    """The errors in a package with their verdicts, and what only the probe saw while it ran them."""
    folder = folder_of(package, given.python)
    options = {"keras": given.keras, "tensorflow": given.tensorflow}
    texts = [f"probe.python = '{given.python}'", *LIMITS]
    settings = replace(config.load([folder], options=options, config=texts, isolated=True), cache_dir=CORPUS)
    report = check([folder], replace(settings, cache_dir=None))
    errors = tuple(finding for finding in report.findings if finding.severity is Severity.ERROR)
    report = replace(report, findings=errors)
    job = planned(report, Targets(keras=settings.keras).of_findings(errors), ())
    files = {path.absolute() for path in folder.rglob("*.py")}
    runs: list[Run] = []

    def tell(run: Run) -> None:
        runs.append(run)
        target, seconds = job.targets.index(run.target), run.outcome.seconds
        name = f"{Path(run.target.file).name}::{run.target.qualname}"
        print(f"{len(runs)} of {len(job.targets)}, {name}, {seconds:.0f} s: {run.outcome.not_run or run.outcome.how}")
        own = [errors[position] for position, owner in job.owners.items() if owner == (target,)]
        alone = judged(Report(tuple(own)), [run], {position: [run] for position in range(len(own))})
        print(*map(line_of, alone.findings), sep="\n", flush=True)

    return Row(package, with_verdicts(report, job, settings, heard=tell, files=files).findings, runs)


def line_of(finding: Finding) -> str:
    """A finding and what became of it."""
    verdict = finding.verdict
    said = f"{verdict.function}: {verdict.text}" if verdict is not None else ""
    how = f"\n      {verdict.how}" if verdict is not None and verdict.how else ""
    return f"  {kind_of(finding):10} {finding.code} {finding.path}:{finding.span.line} {said}{how}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--keras", type=int, default=2)
    parser.add_argument("--tensorflow", default="2.15")
    given = parser.parse_args()
    rows: list[Row] = []
    for package in given.packages:
        print(f"== {package}")
        rows.append(row := probed(package, given))
        print(f"== {package}: all", *map(line_of, row.findings), HEADER, row, sep="\n", flush=True)
    findings, runs = [one for row in rows for one in row.findings], [one for row in rows for one in row.runs]
    print(HEADER, *rows, Row("all", findings, runs), sep="\n")


if __name__ == "__main__":
    main()
