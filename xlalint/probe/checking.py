"""The probe beside the linter: the functions that findings stand in are run, and the report gets their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from ..findings.findings import Backend, Finding, Problem, Report
from ..settings.config import Settings
from ..sources.reading import read_source
from ..sources.suppressions import suppressions_of
from ..sources.text import UnreadableSource
from .protocol import JAX, TENSORFLOW, Outcome
from .refutation import UNREACHED, shown_by_callers
from .running import check_available, run_targets
from .target import Target
from .targets import NoTarget, TargetError, Targets
from .verdicts import OPEN, Run, judged

_MOST_CALLERS: Final = 2
_MOST_AGAIN: Final = 40  # functions that are run further times
_ON_TENSORFLOW: Final = frozenset((Backend.TENSORFLOW,))


@dataclass(frozen=True)
class Job:
    """What is to be run, and by the position in the report of a finding the targets that decide it, one a backend."""

    targets: list[Target]
    owners: dict[int, tuple[int, ...]]
    without: dict[int, str]  # findings that no function can be run for, and why


def planned(
    report: Report,
    pairs: Sequence[tuple[Target | NoTarget, list[Finding]]],
    further: Sequence[Target],
    backends: Collection[Backend] | None = None,
) -> Job:
    """The targets of the findings, and besides them those of `further` that are not among them; each for every one of
    the `backends`, None: for those that run its file, as the report says."""
    by_file = {str(Path(path).absolute()): found for path, found in report.backends.items()}

    def of_each(target: Target) -> list[Target]:
        chosen = by_file.get(target.file, _ON_TENSORFLOW) if backends is None else backends
        return [replace(target, backend=str(backend)) for backend in Backend if backend in chosen]

    positions = {id(finding): position for position, finding in enumerate(report.findings)}
    job = Job([], {}, {})
    for target, findings in pairs:
        here = [positions[id(finding)] for finding in findings]
        if isinstance(target, NoTarget):
            job.without.update(dict.fromkeys(here, target.reason))
        else:
            first = len(job.targets)
            job.targets.extend(of_each(target))
            job.owners.update(dict.fromkeys(here, tuple(range(first, len(job.targets)))))
    known = {(target.file, target.qualname) for target in job.targets}
    others = [target for target in further if (target.file, target.qualname) not in known]
    job.targets.extend(one for target in others for one in of_each(target))
    return job


def with_verdicts(
    report: Report,
    job: Job,
    settings: Settings,
    heard: Callable[[Run], None],
    *,
    files: Collection[Path] | None = None,
    confirmed_only: bool = False,
    told: Callable[[str], None] = lambda line: None,
) -> Report:
    """The report with what the probe says of its findings. Raises ProbeUnavailableError.

    `files`: those that were checked, where others are run too; `heard` and `told`: as for `run_targets`.
    """
    probe = settings.probe
    check_available(probe)
    ran = run_targets(job.targets, replace(probe, target="cpu"), settings.cache_dir, heard, told)
    runs = ran.runs
    if probe.target != "cpu" and ran.complete and not ran.trouble:
        ran = run_targets(job.targets, probe, settings.cache_dir, heard, told)
        runs = [_together(*both, probe.target) for both in zip(runs, ran.runs, strict=True)]
    owners = {position: [runs[index] for index in indices] for position, indices in job.owners.items()}
    for position, reason in job.without.items():
        finding = report.findings[position]
        nothing = Target(str(Path(finding.path).absolute()), "", (finding.span.line, finding.span.end_line))
        owners[position] = [Run(nothing, Outcome(not_run=reason))]
    decide = partial(judged, report, runs, owners, partial(_wanted, settings=settings, files=files))
    further = partial(run_targets, settings=replace(probe, target="cpu"), cache_dir=settings.cache_dir, told=told)
    around: list[Run] = []
    if ran.complete and not ran.trouble:
        callers, known = _callers(decide(), runs, settings), runs
        while len(around) < _MOST_AGAIN and (others := [*callers, *_elsewhere(decide(around=around), owners, known)]):
            known = further(others).runs
            around, callers = [*around, *known], []
    found = decide(around=around, confirmed_only=confirmed_only)
    problems = (*found.problems, Problem("", ran.trouble)) if ran.trouble else found.problems
    return replace(found, interrupted=not ran.complete, problems=problems)


def _callers(report: Report, runs: Sequence[Run], settings: Settings) -> list[Target]:
    """What calls the functions of findings that are left open, on the way from what is compiled: the nearest, with
    which a value is computed that alone nobody knows."""
    targets = Targets(settings.probe.inputs, settings.keras)
    known = {(run.target.file, run.target.qualname) for run in runs}
    found: dict[tuple[str, str], Target] = {}
    for finding in report.findings:
        if finding.verdict is None or finding.verdict.status != OPEN or not shown_by_callers(finding):
            continue
        for frame in islice(targets.callers_of(finding), _MOST_CALLERS):
            if (place := (frame.file, frame.qualname)) not in known:
                with suppress(TargetError):
                    caller = replace(targets.at(Path(frame.file), frame.qualname), backend=finding.verdict.backend)
                    found.setdefault(place, caller)
    return list(found.values())


def _elsewhere(report: Report, owners: Mapping[int, Sequence[Run]], latest: Sequence[Run]) -> list[Target]:
    """The functions of findings whose lines no call came to, to come to these: another setting of an object may lead
    there. `latest`: what ran last; functions that came to some lines in question are run for the others."""
    lines: dict[Target, set[int]] = {}
    for position, finding in enumerate(report.findings):
        for run in owners.get(position, ()) if finding.verdict and finding.verdict.text == UNREACHED else ():
            target = replace(run.target, wanted=())
            for other in (one for one in latest if replace(one.target, wanted=()) == target and one.outcome.calls):
                reached, wanted = other.outcome.reached.get(target.file, ()), other.target.wanted
                if finding.span.line in set(wanted).difference(reached) and not set(wanted).isdisjoint(reached):
                    lines.setdefault(target, set()).add(finding.span.line)
    return [replace(target, wanted=tuple(sorted(here))) for target, here in lines.items()]


def _together(run: Run, lowered: Run, target: str) -> Run:
    """What was seen of one target on the CPU and by the compiler of another device, `gpu` or `tpu`."""
    cpu, other = run.outcome, lowered.outcome
    device = f"a {target.upper()}"
    notes = tuple(note for note in other.notes if note not in cpu.notes)
    same = other.not_run is not None and other.not_run == cpu.not_run
    if (other.not_run is not None or other.death is not None) and not same:
        what = f"only this is compiled for {device}" if other.programs else f"not compiled for {device}"
        notes = (*notes, f"{what}: {other.not_run or f'the process {other.death}'}")
    library = JAX if run.target.backend == JAX else TENSORFLOW
    version = other.versions.get(library) if target == "tpu" else None
    return replace(
        run,
        outcome=replace(
            cpu,
            how=cpu.how or other.how,
            inputs=cpu.inputs or other.inputs,
            observations=tuple(dict.fromkeys((*cpu.observations, *other.observations))),  # what fails when traced: once
            programs=other.programs,
            notes=(*cpu.notes, *notes),
            seconds=cpu.seconds + other.seconds,
            versions={**cpu.versions, **({f"{library}-tpu": version} if version else {})},
        ),
    )


def _wanted(finding: Finding, settings: Settings, files: Collection[Path] | None) -> bool:
    """Whether a finding of the probe's own is in a checked file, is selected, and no comment switches it off."""
    path = Path(finding.path).absolute()
    if files is not None and path not in files:
        return False
    near = settings.of(path.parent)
    if finding.code not in near.codes or near.ignores(finding.code, path):
        return False
    try:
        return not suppressions_of(read_source(path, finding.path).text).suppress(finding)
    except UnreadableSource:
        return True


def within(report: Report, targets: Sequence[Target]) -> tuple[Report, list[tuple[Target | NoTarget, list[Finding]]]]:
    """The report of what stands in the targets only, and which findings stand in which."""
    kept: list[Finding] = []
    pairs: list[tuple[Target | NoTarget, list[Finding]]] = []
    for target in targets:
        first, last = target.lines
        here = [
            finding
            for finding in report.findings
            if str(Path(finding.path).absolute()) == target.file and first <= finding.span.line <= last
        ]
        pairs.append((target, [finding for finding in here if finding not in kept]))
        kept += pairs[-1][1]
    return replace(report, findings=tuple(kept)), pairs
