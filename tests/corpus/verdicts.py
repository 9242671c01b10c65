"""What the probe says of the errors that the linter finds in real code: each is run, as `check --probe` runs it.

    python -m tests.corpus.verdicts --python INTERPRETER [--keras 2] [--tensorflow 2.15] [PACKAGE ..]

Runs the code of the packages that the interpreter has installed, in the probe's own processes. Prints each finding with
its verdict, and a table: confirmed, refuted on this TensorFlow, open because nothing was run, open for another reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from xlalint import config
from xlalint.engine import check
from xlalint.findings import Finding, Severity
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.targets import Targets
from xlalint.probe.verdicts import Run

from .drive import PACKAGES, folder_of

HEADER: Final = f"{'':20}{'errors':>8}{'confirmed':>11}{'refuted':>9}{'not run':>9}{'open':>6}{'probe-only':>12}"


@dataclass(frozen=True)
class Row:
    """The verdicts on one package's errors."""

    package: str
    findings: Sequence[Finding]

    def __str__(self) -> str:
        counts = Counter(map(kind_of, self.findings))
        errors = len(self.findings) - counts["probe-only"]
        numbers = [errors, counts["confirmed"], counts["refuted"], counts["not run"], counts["open"]]
        columns = zip((*numbers, counts["probe-only"]), (8, 11, 9, 9, 6, 12), strict=True)
        return f"{self.package:20}" + "".join(f"{number:>{width}}" for number, width in columns)


def kind_of(finding: Finding) -> str:
    """The verdict in a word; what was not run is open, and counts apart."""
    verdict = finding.verdict
    if verdict is None:
        return "open"
    return "not run" if verdict.status == "open" and verdict.outcome == "not run" else verdict.status


def probed(folder: Path, given: argparse.Namespace) -> list[Finding]:
    """The errors in a folder with their verdicts, and what only the probe saw while it ran them."""
    options = {"keras": given.keras, "tensorflow": given.tensorflow}
    texts = [f"probe.python = '{given.python}'", "probe.timeout = 90.0", "probe.memory = 8000"]
    settings = replace(config.load([folder], options=options, config=texts, isolated=True), cache_dir=None)
    report = check([folder], settings)
    errors = tuple(finding for finding in report.findings if finding.severity is Severity.ERROR)
    report = replace(report, findings=errors)
    job = planned(report, Targets(keras=settings.keras).of_findings(errors), ())
    heard = iter(range(1, len(job.targets) + 1))

    def tell(run: Run) -> None:
        seen = run.outcome.not_run or ", ".join(one.kind for one in run.outcome.observations) or "compiles"
        name, seconds = f"{Path(run.target.file).name}::{run.target.qualname}", run.outcome.seconds
        print(f"{next(heard)} of {len(job.targets)} {name}: {seen} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    files = {path.absolute() for path in folder.rglob("*.py")}
    return list(with_verdicts(report, job, settings, heard=tell, files=files).findings)


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
        rows.append(Row(package, probed(folder_of(package, given.python), given)))
        print(package, *map(line_of, rows[-1].findings), sep="\n", flush=True)
    everything = [finding for row in rows for finding in row.findings]
    print(HEADER, *rows, Row("all", everything), sep="\n")


if __name__ == "__main__":
    main()
