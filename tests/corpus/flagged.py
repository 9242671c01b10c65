"""What the probe says of functions that the linter flags, in packages and programs: `flagged.txt` lists them, pinned.

    python -m tests.corpus.flagged --python INTERPRETER --sources FOLDER [--aside] [--timeout SECONDS] [PROJECT ..]

The interpreter has the packages; the folder has a checkout of each repository, by its name. Every third function is
kept aside, and run with `--aside` only. Runs their code, in the probe's own processes. Prints each finding with its
verdict, of how many functions inputs were found for, and how many of the findings that say `fails`, `diverges` or
`recompiles` were confirmed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from xlalint.findings.findings import Effect, Finding
from xlalint.linter.run import check
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.targets import NoTarget, Targets
from xlalint.probe.verdicts import Run
from xlalint.settings import config

from .drive import folder_of
from .verdicts import LIMITS, kind_of, line_of

LIST: Final = Path(__file__).with_name("flagged.txt")
EFFECTS: Final = frozenset((Effect.FAILS, Effect.DIVERGES, Effect.RECOMPILES))
_ASIDE: Final = 3


@dataclass(frozen=True)
class Flagged:
    """A function that the linter flags: its project (`package==version` or `owner/repository@commit`), file, name."""

    project: str
    file: str
    qualname: str

    @property
    def name(self) -> str:
        """What the project is called: as it is imported, or as its checkout is."""
        return self.project.partition("==")[0].partition("@")[0].rpartition("/")[2]


def flagged(listed: Path = LIST) -> Iterator[Flagged]:
    """A list, in its order."""
    for line in listed.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            project, _, place = line.partition(" ")
            file, _, qualname = place.partition("::")
            yield Flagged(project, file, qualname)


def part(aside: bool) -> list[Flagged]:
    """The functions that are kept aside, or the others."""
    return [one for number, one in enumerate(flagged(), 1) if (number % _ASIDE == 0) is aside]


def probed(
    folder: Path, chosen: Sequence[Flagged], interpreter: str, timeout: float
) -> tuple[list[Finding], list[Run]]:
    """The findings in some functions of a project with their verdicts, and what became of the functions."""
    texts = [f"probe.python = '{interpreter}'", *LIMITS, f"probe.timeout = {timeout}"]
    settings = replace(config.load([folder], config=texts, isolated=True), cache_dir=None)
    report = check([folder], settings)
    names = {(str((folder / one.file).absolute()), one.qualname) for one in chosen}
    found = [finding for finding in report.findings if finding.effect in EFFECTS]
    pairs = [
        (target, here)
        for target, here in Targets(keras=settings.keras).of_findings(found)
        if not isinstance(target, NoTarget) and (target.file, target.qualname) in names
    ]
    ours = {id(finding) for _, here in pairs for finding in here}
    report = replace(report, findings=tuple(finding for finding in report.findings if id(finding) in ours))
    runs: list[Run] = []

    def tell(run: Run) -> None:
        runs.append(run)
        outcome = run.outcome
        said = outcome.not_run or outcome.how
        print(f"{run.target.qualname} in {Path(run.target.file).name}, {outcome.seconds:.0f} s: {said}", flush=True)

    judged = with_verdicts(report, planned(report, pairs, ()), settings, heard=tell, files=set(folder.rglob("*.py")))
    return list(judged.findings), runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--sources", type=Path, default=Path(), help="the folder of the checkouts")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a function")
    parser.add_argument("--aside", action="store_true", help="run those that are kept aside")
    given = parser.parse_args()
    findings: list[Finding] = []
    runs: list[Run] = []
    for project, chosen in groupby(part(given.aside), key=lambda one: one.project):
        here = list(chosen)
        if given.projects and here[0].name not in given.projects:
            continue
        print(f"== {project}", flush=True)
        folder = folder_of(here[0].name, given.python) if "==" in project else given.sources / here[0].name
        some, ran = probed(folder.absolute(), here, given.python, given.timeout)
        print(*map(line_of, some), sep="\n", flush=True)
        findings += some
        runs += ran
    claims = [kind_of(finding) for finding in findings if finding.code != "XLA904"]
    driven = sum(run.outcome.not_run is None for run in runs)
    print(f"{driven} of {len(runs)} functions driven; {len(claims)} findings: {dict(Counter(claims))}")


if __name__ == "__main__":
    main()
