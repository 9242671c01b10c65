"""What the probe says of functions that the linter flags, in packages and programs: `flagged.txt` lists them, pinned.

    python -m tests.corpus.flagged --python INTERPRETER --sources FOLDER [--results FILE] [--processes N] [--aside]
                                   [--unseen] [--timeout SECONDS] [--reports FOLDER] [PROJECT ..]

The interpreter has the packages; the folder has a checkout of each repository, by its name. Every third function is
kept aside, and run with `--aside` only; `--unseen`: all of `flagged_unseen.txt`, which was run once. Runs their code,
in the probe's own processes, a few functions at a time. What the file of results has is not run again, and a project
of which the folder of reports has what the linter found is not linted again: after a change of the analyser, empty it.
Prints each function with the verdicts on its findings, then of how many functions inputs were found for, and how many
of the findings that say `fails`, `diverges` or `recompiles` were confirmed.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from xlalint.findings.findings import Effect, Finding, Report
from xlalint.linter.run import check
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.target import Target
from xlalint.probe.targets import NoTarget, Targets
from xlalint.probe.verdicts import Run
from xlalint.settings import config
from xlalint.settings.config import Settings

from .drive import folder_of
from .verdicts import LIMITS, kind_of, line_of

LIST: Final = Path(__file__).with_name("flagged.txt")
UNSEEN: Final = LIST.with_name("flagged_unseen.txt")
EFFECTS: Final = frozenset((Effect.FAILS, Effect.DIVERGES, Effect.RECOMPILES))
_ASIDE: Final = 3
_AT_ONCE: Final = 4  # functions for which a project is linted once


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


@dataclass(frozen=True)
class Result:
    """What became of a function. `driven`: whether inputs were found, None where the linter flags it no more; `said`:
    how it was called, or why not; `verdicts`: by word, how many of its findings; `lines`: these in words."""

    function: Flagged
    driven: bool | None
    said: str
    seconds: float
    verdicts: dict[str, int]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        one = self.function
        head = f"{one.project} {one.file}::{one.qualname}, {self.seconds:.0f} s: {self.said}"
        return "\n".join((head, *self.lines))


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


def results(
    chosen: Sequence[Flagged], interpreter: str, sources: Path, timeout: float, reports: Path | None = None
) -> list[Result]:
    """What becomes of some functions of one project; `reports`: where the linter's reports are kept."""
    first = chosen[0]
    folder = folder_of(first.name, interpreter) if "==" in first.project else sources / first.name
    folder = folder.absolute()
    names = "probe.environment = ['PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION']"
    texts = [names, f"probe.python = '{interpreter}'", *LIMITS, f"probe.timeout = {timeout}"]
    settings = replace(config.load([folder], config=texts, isolated=True), cache_dir=None)
    report = _linted(first.project, folder, settings, reports)
    places = {(str(folder / one.file), one.qualname): one for one in chosen}
    found = [finding for finding in report.findings if finding.effect in EFFECTS]
    pairs = [
        (target, here)
        for target, here in Targets(keras=settings.keras).of_findings(found)
        if not isinstance(target, NoTarget) and (target.file, target.qualname) in places
    ]
    ours = {id(finding) for _, here in pairs for finding in here}
    report = replace(report, findings=tuple(finding for finding in report.findings if id(finding) in ours))
    runs: list[Run] = []
    judged = with_verdicts(
        report, planned(report, pairs, ()), settings, heard=runs.append, files=set(folder.rglob("*.py"))
    )
    return [_result(one, place, places, judged.findings, runs) for place, one in places.items()]


def _linted(project: str, folder: Path, settings: Settings, reports: Path | None) -> Report:
    """What the linter says of a project, now or when it was linted."""
    kept = None if reports is None else reports / f"{project.replace('/', '+')}.pickle"
    if kept is not None and kept.exists():
        known: Report = pickle.loads(kept.read_bytes())
        return known
    report = check([folder], settings)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(report))
    return report


def _is_of_caller(finding: Finding, target: Target, places: Iterable[tuple[str, str]]) -> bool:
    """Whether a finding of a target was borne out by what calls that."""
    first, last = target.lines
    others = {name for _, name in places}
    return first <= finding.span.line <= last and finding.verdict is not None and finding.verdict.function not in others


def _result(
    one: Flagged,
    place: tuple[str, str],
    places: Iterable[tuple[str, str]],
    findings: Iterable[Finding],
    runs: Sequence[Run],
) -> Result:
    """What of all that is known is about one function, one of those at some places."""
    here = [run for run in runs if (run.target.file, run.target.qualname) == place]
    if not here:
        return Result(one, None, "nothing is flagged", 0.0, {}, ())
    outcome, *_ = sorted((run.outcome for run in here), key=lambda one: one.not_run is not None)  # of each backend
    own = [
        finding
        for finding in findings
        if finding.verdict is not None
        and str(Path(finding.path).absolute()) == place[0]
        and (finding.verdict.function == place[1] or _is_of_caller(finding, here[0].target, places))
    ]
    counted = Counter(kind_of(finding) for finding in own)
    lines = (*map(line_of, own), *(f"  note {note}" for note in outcome.notes))
    said = outcome.not_run or outcome.how
    return Result(one, outcome.not_run is None, said, sum(run.outcome.seconds for run in here), dict(counted), lines)


def _known(file: Path | None) -> list[Result]:
    """The results that a file has."""
    if file is None or not file.exists():
        return []
    decode = msgspec.json.Decoder(Result).decode
    return [decode(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _share(counts: Counter[str]) -> str:
    claims = sum(count for kind, count in counts.items() if kind != "probe-only")
    return f"{claims} findings: {dict(counts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--sources", type=Path, default=Path(), help="the folder of the checkouts")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a function")
    parser.add_argument("--aside", action="store_true", help="run those that are kept aside")
    parser.add_argument("--unseen", action="store_true", help="run those of which nothing was known, all of them")
    parser.add_argument("--results", type=Path, help="where results are kept, a line of JSON each")
    parser.add_argument("--reports", type=Path, help="where the linter's reports are kept, a file for each project")
    parser.add_argument("--processes", type=int, default=1, help="how many run at once")
    given = parser.parse_args()
    listed = list(flagged(UNSEEN)) if given.unseen else part(given.aside)
    wanted = [one for one in listed if not given.projects or one.name in given.projects]
    known = [one for one in _known(given.results) if one.function in wanted]
    for result in known:
        print(result, flush=True)
    run = {result.function for result in known}
    units = [
        several[start : start + _AT_ONCE]
        for _, here in groupby((one for one in wanted if one not in run), key=lambda one: one.project)
        for several in [list(here)]
        for start in range(0, len(several), _AT_ONCE)
    ]
    work = partial(
        results, interpreter=given.python, sources=given.sources, timeout=given.timeout, reports=given.reports
    )
    with ProcessPoolExecutor(given.processes) as pool:
        for future in as_completed([pool.submit(work, unit) for unit in units]):
            if (error := future.exception()) is not None:
                pool.shutdown(cancel_futures=True)  # what nobody would hear of is not run
                raise error
            for result in future.result():
                known.append(result)
                print(result, flush=True)
                if given.results is not None:
                    with given.results.open("ab") as file:
                        file.write(msgspec.json.encode(result) + b"\n")
    counts = Counter[str]()
    for result in known:
        counts.update(result.verdicts)
    driven = [result.driven for result in known if result.driven is not None]
    print(f"{sum(driven)} of {len(driven)} functions driven; {_share(counts)}")


if __name__ == "__main__":
    main()
