"""What becomes of real layers, losses and metrics of Keras 3 with each backend, beside what the linter says of them:
`backends.txt` lists them, pinned.

    python -m tests.corpus.backends --sources FOLDER --results FILE [--jobs N] [--seconds S] [--timeout SECONDS]
        [--pairs] [--backend BACKEND] [PROJECT ..]
    python -m tests.corpus.backends --results FILE

The folder has a checkout of each repository, by its name; `tensorflow` and `jax` are the backends, by default both.
Runs their code, in the probe's own processes, several classes at a time, and writes a line of JSON for each class and
backend to the file. What has a line there is not run again, so that a run that was ended goes on where it stopped.
Without `--sources` nothing is run. Prints what was seen of each class, where the linter said something else, and how
many agree.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

from xlalint.findings.findings import Backend, Effect, Finding
from xlalint.linter.run import check
from xlalint.probe.checking import planned, with_verdicts, within
from xlalint.probe.targets import Targets
from xlalint.probe.verdicts import CONFIRMED, NOT_RUN, ONLY, OPEN, REFUTED
from xlalint.settings import config

from .flagged import Flagged, flagged

LIST: Final = Path(__file__).with_name("backends.txt")
_CLAIMS: Final = frozenset((Effect.FAILS, Effect.DIVERGES, Effect.RECOMPILES))


class Said(msgspec.Struct, frozen=True):
    """What one finding in a class came to: the probe's `status`, and where and what it is about."""

    status: str
    code: str
    severity: str
    effect: str
    place: str
    text: str


class Result(msgspec.Struct, frozen=True):
    """What was seen of a class with a backend; `outcome`: `fails`, `compiles`, .., `not run`; `text` says more."""

    project: str
    file: str
    qualname: str
    backend: str
    outcome: str
    text: str
    findings: tuple[Said, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.project, self.file, self.qualname, self.backend

    @property
    def driven(self) -> bool:
        return self.outcome != NOT_RUN

    @property
    def agreement(self) -> str:
        """Whether the linter says what was seen: `agrees`, `refuted`, `probe-only`, or `open` where the run does not
        decide on a finding."""
        statuses = {said.status for said in self.findings}
        return next((status for status in (ONLY, REFUTED, OPEN) if status in statuses), "agrees")

    def __str__(self) -> str:
        where = f"{self.project.rpartition('@')[0]} {self.qualname}, {self.backend}: {self.outcome}"
        lines = [f"{where}: {self.agreement if self.driven else self.text}"]
        lines += [f"    {one.status} {one.code} {one.place} {one.text}" for one in self.findings if self.driven]
        return "\n".join(lines)


@dataclass(frozen=True)
class Run:
    """One class to run with one backend."""

    one: Flagged
    backend: Backend

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.one.project, self.one.file, self.one.qualname, str(self.backend)


def result(folder: Path, run: Run, timeout: float) -> Result:
    """What a class of a project does with a backend."""
    file = folder / run.one.file
    settings = replace(config.load([folder], config=[f"probe.timeout = {timeout}"], isolated=True), cache_dir=None)
    settings = settings.everywhere(backends=frozenset(Backend))
    targets = [Targets(keras=settings.keras).at(file, run.one.qualname)]
    report, pairs = within(check([file], settings), targets)
    seen = with_verdicts(report, planned(report, pairs, (), [run.backend]), settings, lambda told: None)
    function = seen.functions[0]
    text = function.verdict.text if function.verdict.outcome == NOT_RUN else function.verdict.how
    said = tuple(_said(finding, folder) for finding in seen.findings if _claims(finding, run.backend))
    return Result(*run.key, function.verdict.outcome, text, said)


def _claims(finding: Finding, backend: Backend) -> bool:
    """Whether a finding says something of what a backend does that can be seen on this machine."""
    return finding.verdict is not None and finding.on(str(backend)).effect in _CLAIMS


def _said(finding: Finding, folder: Path) -> Said:
    verdict, path = finding.verdict, Path(finding.path)
    assert verdict is not None
    assert finding.effect is not None
    place = path.relative_to(folder) if path.is_relative_to(folder) else path
    text = verdict.text.replace(str(folder), "")
    return Said(
        verdict.status, finding.code, str(finding.severity), str(finding.effect), f"{place}:{finding.span.line}", text
    )


def results_of(file: Path) -> list[Result]:
    """The lines that a file of results has."""
    if not file.exists():
        return []
    return [msgspec.json.decode(line, type=Result) for line in file.read_bytes().splitlines()]


def missing(projects: Sequence[str], backends: Sequence[Backend], known: Iterable[Result]) -> Iterator[Run]:
    """What has no result, in an order by chance that is the same each time, both backends of a class together."""
    have = {one.key for one in known}
    chosen = [one for one in flagged(LIST) if not projects or one.name in projects]
    random.Random(0).shuffle(chosen)
    for one in chosen:
        for run in (Run(one, backend) for backend in backends):
            if run.key not in have:
                yield run


def run_all(runs: Iterable[Run], given: argparse.Namespace) -> None:
    """Run what has no result, and add a line for each to the file."""
    lock, ends = Lock(), time.monotonic() + given.seconds
    file: Path = given.results
    hopeless = {one.key[:-1] for one in results_of(file) if not one.driven} if given.pairs else set()

    def one(run: Run) -> None:
        if time.monotonic() > ends or run.key[:-1] in hopeless:
            return
        try:
            found = result((given.sources / run.one.name).absolute(), run, given.timeout)
        except Exception as error:  # of code that nobody here wrote; the others are run
            found = Result(*run.key, NOT_RUN, f"{type(error).__name__}: {error}")
        if given.pairs and not found.driven:
            hopeless.add(run.key[:-1])
        with lock, file.open("ab") as out:
            out.write(msgspec.json.encode(found) + b"\n")
            print(found, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, runs))


def summary(results: Sequence[Result]) -> Iterator[str]:
    """What is not as the linter says, and how many of those that were driven agree."""
    driven = [one for one in results if one.driven]
    yield from (str(one) for one in driven if one.agreement != "agrees")
    by_class: dict[tuple[str, ...], set[str]] = {}
    for one in driven:
        by_class.setdefault(one.key[:-1], set()).add(one.backend)
    for backend in Backend:
        here = [one for one in driven if one.backend == backend]
        counts = {kind: sum(one.agreement == kind for one in here) for kind in ("agrees", OPEN, ONLY, REFUTED)}
        tried = sum(one.backend == backend for one in results)
        claims = sum(said.status == CONFIRMED for one in here for said in one.findings)
        yield f"{backend}: {len(here)} of {tried} driven: {counts}; {claims} findings confirmed"
    yield f"driven on every backend: {sum(len(backends) == len(Backend) for backends in by_class.values())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--sources", type=Path, help="the folder of the checkouts")
    parser.add_argument("--results", type=Path, required=True, help="the file of results, which is added to")
    parser.add_argument("--backend", type=Backend, action="append", help="default: both")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a class")
    parser.add_argument("--seconds", type=float, default=36000.0, help="begin nothing after these")
    parser.add_argument("--pairs", action="store_true", help="leave out what one backend could not be driven with")
    parser.add_argument("--jobs", type=int, default=1, help="how many classes at a time")
    given = parser.parse_args()
    if given.sources is not None:
        run_all(missing(given.projects, given.backend or list(Backend), results_of(given.results)), given)
    print(*summary(results_of(given.results)), sep="\n")


if __name__ == "__main__":
    main()
