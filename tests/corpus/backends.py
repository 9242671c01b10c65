"""What becomes of real layers, losses and metrics of Keras 3 with each backend, beside what the linter says of them:
`backends.txt` lists them, pinned.

    python -m tests.corpus.backends --sources FOLDER [--backend BACKEND] [--aside] [--timeout SECONDS] [PROJECT ..]

The folder has a checkout of each repository, by its name; `tensorflow` and `jax` are the backends, by default both.
Every third class is kept aside, and run with `--aside` only. Runs their code, in the probe's own processes. Prints each
class with what was seen of it and the findings in it, and how many were driven.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from xlalint.findings.findings import Backend
from xlalint.linter.run import check
from xlalint.probe.checking import planned, with_verdicts, within
from xlalint.probe.target import Target
from xlalint.probe.targets import Targets
from xlalint.probe.verdicts import NOT_RUN, Run
from xlalint.settings import config

from .flagged import Flagged, flagged
from .verdicts import line_of

LIST: Final = Path(__file__).with_name("backends.txt")
_ASIDE: Final = 3


def part(aside: bool) -> list[Flagged]:
    """The classes that are kept aside, or the others."""
    return [one for number, one in enumerate(flagged(LIST), 1) if (number % _ASIDE == 0) is aside]


def probed(folder: Path, chosen: Sequence[Flagged], backend: Backend, timeout: float) -> int:
    """How many of some classes of a project were driven; what was seen of each is printed."""
    settings = replace(config.load([folder], config=[f"probe.timeout = {timeout}"], isolated=True), cache_dir=None)
    settings = settings.everywhere(backends=frozenset(Backend))
    known = Targets(keras=settings.keras)
    targets: list[Target] = [known.at(folder / one.file, one.qualname) for one in chosen]
    report, pairs = within(check(sorted({folder / one.file for one in chosen}), settings), targets)
    driven: list[Run] = []

    def tell(run: Run) -> None:
        if run.outcome.not_run is None:
            driven.append(run)

    found = with_verdicts(report, planned(report, pairs, (), [backend]), settings, tell)
    for one in found.functions:
        said = one.verdict.text if one.verdict.outcome == NOT_RUN else f"{one.verdict.how}; {'; '.join(one.details)}"
        print(f"{backend}: {one.verdict.function}: {one.verdict.outcome}: {said}")
    print(*map(line_of, found.findings), sep="\n", flush=True)
    return len(driven)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--sources", type=Path, default=Path(), help="the folder of the checkouts")
    parser.add_argument("--backend", type=Backend, action="append", help="default: both")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a class")
    parser.add_argument("--aside", action="store_true", help="run those that are kept aside")
    given = parser.parse_args()
    chosen = [one for one in part(given.aside) if not given.projects or one.name in given.projects]
    for backend in given.backend or Backend:
        driven = 0
        for project, here in groupby(chosen, key=lambda one: one.project):
            print(f"== {project}", flush=True)
            some = list(here)
            driven += probed((given.sources / some[0].name).absolute(), some, backend, given.timeout)
        print(f"{driven} of {len(chosen)} classes driven with {backend}")


if __name__ == "__main__":
    main()
