"""From what the probe saw to verdicts: findings confirmed, refuted or left open, and what only the probe saw."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from ..facts.errors.meant import candidates_of
from ..facts.families import family
from ..findings.codes import PROBE_ONLY, rule_names
from ..findings.findings import Effect, Finding, FindingContext, Probed, Report, Severity, Span, Verdict
from ..sources.text import display_path
from ..tpu.chips import chip_of
from .guessed import GUESSED, of_guess, passes_guess, sized_by_guess
from .likeness import BEARS_OUT, EFFECTS, LEAVES, ONLY_OF, is_of_inputs, is_of_layer, likeness, places
from .protocol import (
    BOUNDED,
    DIVERGES,
    FAILS,
    JAX,
    KINDS,
    TENSORFLOW,
    TPU_BOUNDED,
    Lowering,
    Observation,
    Outcome,
    Spot,
)
from .refutation import ops_of, outside, where, why_open
from .sizes import compiled_for_each_size
from .statements import Statements
from .target import Target

CONFIRMED: Final = "confirmed"
REFUTED: Final = "refuted"
OPEN: Final = "open"
ONLY: Final = "probe-only"
COMPILES: Final = "compiles"
TPU_COMPILES: Final = "tpu-compiles"
GPU_LOWERS: Final = "gpu-lowers"
NOT_RUN: Final = "not run"

_LOWER: Final = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}
_BRANCH: Final = "branch-on-tensor"
_LEAVING: Final = "leave-loop-on-tensor"
_NEAR: Final = 25  # lines: a value is made here and used there
_EMULATED: Final = "a TPU computes with 32 bits, and uses several such numbers for one"


@dataclass(frozen=True)
class Run:
    """A target and what became of it."""

    target: Target
    outcome: Outcome


@dataclass(frozen=True)
class _Seen:
    """An observation, and the run that made it."""

    run: Run
    observation: Observation


def judged(
    report: Report,
    runs: Sequence[Run],
    owners: Mapping[int, Sequence[Run]],
    wanted: Callable[[Finding], bool] = lambda finding: True,
    *,
    confirmed_only: bool = False,
    around: Sequence[Run] = (),
) -> Report:
    """The report with verdicts.

    `owners`: for the position of a finding, the runs of the function that it stands in, one a backend; `wanted`:
    whether to report a finding that only the probe has; `confirmed_only`: leave out what was refuted or left open;
    `around`: the runs of what calls these functions, which bear out findings and say nothing else.
    """
    seen = [_Seen(run, one) for run in runs for one in _meant(run.outcome)]
    at = _Places(report.findings, [*seen, *(_Seen(run, one) for run in around for one in _meant(run.outcome))])
    findings: list[Finding] = []
    for position, finding in enumerate(report.findings):
        verdict = None if finding.effect is None else _of_all(finding, position, owners.get(position, ()), at)
        severity = _LOWER[finding.severity] if verdict and verdict.status == REFUTED else finding.severity
        findings.append(replace(finding, verdict=verdict, severity=severity))
    if confirmed_only:
        findings = [one for one in findings if one.verdict is None or one.verdict.status == CONFIRMED]
    findings += filter(wanted, _only(seen, at))
    functions = tuple(probed(run) for run in runs)
    ordered = tuple(sorted(findings, key=lambda finding: finding.sort_key))
    return replace(report, findings=ordered, functions=functions)


class _Places:
    """Which observation stands at which finding."""

    def __init__(self, findings: Sequence[Finding], seen: Sequence[_Seen]) -> None:
        self.statements = Statements()
        self.of: dict[int, list[_Seen]] = {}
        self.shared: dict[int, _Seen] = {}  # by finding, what its statement does, for this hazard or another one
        self.known: set[int] = set()  # of the observations that stand at a finding, the identities
        self._places = [list(places(finding)) for finding in findings]
        self._findings = findings
        for one in seen:
            self._at_sources(one)
            for spot in one.observation.spots:
                backend = one.run.target.backend
                here = (
                    self._meant(one.observation, spot, backend)
                    or self._condition(one.observation, spot, backend)
                    or self._leaving(one.observation, spot)
                )
                if here:  # the innermost line at which there is a finding
                    self.known.add(id(one.observation))
                    certain = len({findings[position].code for position in here}) == 1
                    for position in here:
                        if certain:
                            self.of.setdefault(position, []).append(one)
                        else:
                            self.shared[position] = one
                    break

    def _condition(self, observation: Observation, spot: Spot, backend: str) -> list[int]:
        """The findings on the condition under which a place raises: while a function is traced, a `raise` under a
        condition on a tensor always runs."""
        line = self.statements.condition_of_raise(spot.path, spot.line)
        if line is None or observation.kind != FAILS or observation.ops:
            return []
        meant = self._meant(observation, replace(spot, line=line, span=None), backend)
        return [position for position in meant if self._findings[position].name == _BRANCH]

    def _leaving(self, observation: Observation, spot: Spot) -> list[int]:
        """The finding on what leaves the loop at a place, of which TensorFlow says that it leaves it by a tensor."""
        if observation.kind != FAILS or not LEAVES.search(observation.text):
            return []
        found = [
            position
            for position, one in enumerate(self._findings)
            if one.name == _LEAVING
            and os.path.abspath(one.path) == spot.path
            and self.statements.left_at(spot.path, one.span.line) == spot.line
        ]
        return found if len(found) == 1 else []

    def _at_sources(self, one: _Seen) -> None:
        """What differs from eager execution also bears out what says so of a selection that it is computed from."""
        for spot in one.observation.sources:
            for position, finding in enumerate(self._findings):
                path, span = os.path.abspath(finding.path), finding.span
                here = path == spot.path and self.statements.together(path, spot.line, span.line, span.end_line)
                if here and finding.effect is Effect.DIVERGES and not outside(span, spot):
                    self.known.add(id(one.observation))
                    self.of.setdefault(position, []).append(one)

    def spoken(self, one: _Seen, spot: Spot) -> str:
        """Which rule speaks of what was seen at a place, though no finding is there: of the line above or below, of
        the same operation or error elsewhere in the function or on the way there, or of such things at all."""
        target, observation, made = one.run.target, one.observation, frozenset(one.observation.ops)
        spots = observation.spots or (spot,)
        lines = {it.path: self.statements.lines(it.path, it.line) for it in reversed(spots)}
        here = [it for it in self._findings if it.effect is not None and os.path.abspath(it.path) in lines]
        codes = [it.code for it in candidates_of(observation.text, line_at(spot))] if observation.kind == FAILS else []

        def beside(finding: Finding) -> bool:
            first, last = lines[os.path.abspath(finding.path)]
            return finding.span.line - 1 <= last and first <= finding.span.end_line + 1

        def within(finding: Finding) -> bool:
            path, (first, last) = os.path.abspath(finding.path), target.lines
            near = any(it.path == path and abs(it.line - finding.span.line) <= _NEAR for it in spots)
            return near or (path == target.file and first <= finding.span.line <= last)

        said = (it for it in here if it.code in codes and (beside(it) or within(it)))
        alike = (it for it in here if made.intersection(ops_of(it.api)) and within(it))
        if (finding := next(chain(said, filter(beside, here), alike), None)) is not None:
            at = "" if os.path.abspath(finding.path) == spot.path else f"{display_path(Path(finding.path))}:"
            return f"{finding.code} reports {at or 'line '}{finding.span.line}"
        kernels = [family(op).code for op in observation.ops] if observation.lacking else []
        if (code := next(filter(None, kernels), None)) is not None:
            return f"{code} is about such operations, but did not find this one"
        if codes:
            return f"{codes[0]} is about such errors, but did not find this one"
        return "no rule reports this line"

    def _meant(self, observation: Observation, spot: Spot, backend: str) -> list[int]:
        """The findings that an observation is about; several where nothing tells them apart."""
        if spot.span is not None:
            spot = replace(spot, span=self.statements.unpacked(spot.path, spot.span))
        found: dict[int, tuple[int, ...]] = {}
        for position, finding in enumerate(one.on(backend) for one in self._findings):
            likely = (
                likeness(finding, location, observation, spot)
                for location in self._places[position]
                if location.path == spot.path and self.statements.together(spot.path, spot.line, *location.lines)
            )
            if best := max((one for one in likely if one is not None), default=None):
                found[position] = best
        most = max(found.values(), default=())
        return [position for position, likeness in found.items() if likeness == most]


def _of_all(finding: Finding, position: int, runs: Sequence[Run], at: _Places) -> Verdict | None:
    """The verdict by which a finding is borne out; else one that leaves it open; else one that refutes it. The verdicts
    with other backends behind it."""
    if not runs:
        return _verdict(finding, position, None, at)
    found = [one for run in runs if (one := _verdict(finding, position, run, at, run.target.backend)) is not None]
    if not found:
        return None
    first, *others = sorted(found, key=lambda one: (CONFIRMED, OPEN, REFUTED).index(one.status))
    return replace(first, others=tuple(others))


def _verdict(
    finding: Finding, position: int, run: Run | None, at: _Places, backend: str | None = None
) -> Verdict | None:
    """By what was seen with a backend, or with any; None where nothing is said of what it makes of the place."""
    if backend is not None and (finding := finding.on(backend)).effect is None:
        return None
    seen = [one for one in at.of.get(position, ()) if backend in (None, one.run.target.backend)]
    here = sorted(seen, key=lambda one: KINDS.index(one.observation.kind))
    if here and (borne := [one for one in here if not of_guess(finding, one.run.target, one.run.outcome)]):
        return _of(borne[0].run, CONFIRMED, borne[0].observation)
    if here:
        return _open(here[0].run, GUESSED)
    if run is not None and (each := compiled_for_each_size(finding, run.target, run.outcome)) is not None:
        return _of(run, CONFIRMED, each)
    shared = at.shared.get(position)
    if shared is not None and backend in (None, shared.run.target.backend):
        return _open(shared.run, f"this may come from another problem in the statement: {shared.observation.text}")
    if run is None:
        return None
    outcome, effect = run.outcome, finding.effect
    if outcome.not_run is not None:
        return _open(run, outcome.not_run)
    unplaced = [one for one in outcome.observations if not one.spots and effect and one.kind in BEARS_OUT[effect]]
    unplaced = [one for one in unplaced if one.per != "shape"]
    called = at.statements.called_at(os.path.abspath(finding.path), _stretch(finding.span)) if unplaced else ""
    if called and (of_layer := [one for one in unplaced if is_of_layer(one, called)]):
        at.known.add(id(of_layer[0]))
        return _of(run, CONFIRMED, of_layer[0])
    if unplaced:
        at.known.add(id(unplaced[0]))
        return _open(run, f"{unplaced[0].text}; the line is not known")
    if (why := why_open(finding, outcome, at.statements, run.target.backend)) is not None:
        return _open(run, why)
    return _of(run, REFUTED, text=_acquittal(finding, run))


def _stretch(span: Span) -> tuple[int, int, int, int]:
    return span.line, span.column, span.end_line, span.end_column


def _acquittal(finding: Finding, run: Run) -> str:
    """What the finding's function did instead, on what, and where it would not."""
    outcome = run.outcome
    bounded = [one for one in outcome.observations if one.kind == BOUNDED]
    differing = sum(bool(call.difference) for call in outcome.calls)
    said = f"compiles on {_tool(run)}"
    if bounded:
        said += " with a bounded dynamic shape"
    said += f", and {len(outcome.calls) - differing} of {_counted(len(outcome.calls), 'call')} equal eager execution"
    if bounded:
        return f"{said}; other versions refuse the shape"
    if finding.context is not None and finding.context.autograph and finding.effect is Effect.FAILS:
        return f"{said}; AutoGraph converts it here, but not where Keras 3 calls it"
    return said


def _only(seen: Sequence[_Seen], at: _Places) -> Iterator[Finding]:
    """What was seen where no rule spoke; the same thing seen from several functions once."""
    told: set[tuple[Spot, str]] = set()
    for one in seen:
        observation, target = one.observation, one.run.target
        if id(observation) in at.known or observation.kind not in EFFECTS or observation.per == "shape":
            continue
        if observation.kind == DIVERGES and one.run.outcome.random:
            continue  # rules tell of seeds that the source fixes; by others nobody asks for the same numbers
        if observation.extreme or observation.per in ONLY_OF or (is_of_inputs(observation) and not target.given):
            continue  # what no rule warns of where such inputs come is no problem by itself
        if not observation.spots and observation is not min(one.run.outcome.observations, key=_gravity):
            continue  # a consequence of something else, as far as anybody can tell
        spot = observation.spots[0] if observation.spots else Spot(target.file, target.lines[0])
        if (spot, observation.kind) in told or _is_of_guess(one, spot, at.statements):
            continue
        told.add((spot, observation.kind))
        context = FindingContext("open", bool(target.autograph))
        message = f"{at.spoken(one, spot)}, and {_tool(one.run)} shows: {observation.text}"
        span, path = _line_of(spot), display_path(Path(spot.path))
        effect, verdict = EFFECTS[observation.kind], _of(one.run, ONLY, observation)
        name = rule_names()[PROBE_ONLY]
        yield Finding(path, span, PROBE_ONLY, name, Severity.WARNING, effect, message, context, verdict=verdict)


def _is_of_guess(one: _Seen, spot: Spot, statements: Statements) -> bool:
    """Whether what was seen at a place holds for the guess only that something is a tensor."""
    observation, target, outcome = one.observation, one.run.target, one.run.outcome
    if observation.lacking:
        return False  # it has no kernel, whatever it is given
    way = [spot, *(other for other in observation.spots if other.path == target.file)]
    of_size = observation.kind != FAILS or bool(observation.ops)
    holds_for = sized_by_guess if of_size else passes_guess
    return any(holds_for(it.path, _statement(it, statements), target, outcome) for it in way)


def _statement(spot: Spot, statements: Statements) -> Span:
    """The lines of the statement at a place."""
    first, last = statements.lines(spot.path, spot.line)
    return Span(first, 1, last + 1, 1)


def line_at(spot: Spot) -> str:
    """The text of a line; nothing where the file is gone."""
    try:
        return Path(spot.path).read_text("utf-8", "replace").splitlines()[spot.line - 1]
    except (OSError, IndexError):
        return ""


def _line_of(spot: Spot) -> Span:
    """The extent of the text of a line; its first column where the file is gone."""
    text = line_at(spot)
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return Span(spot.line, start + 1, spot.line, max(end, start) + 1)


def probed(run: Run) -> Probed:
    """What became of a function as a whole: the gravest thing that was seen."""
    outcome = run.outcome
    path = display_path(Path(run.target.file))
    elsewhere = [line for program in outcome.programs if program.refusal is None for line in lowered(program)]
    seen = _meant(outcome)
    if (outcome.not_run is not None and not outcome.programs) or not (seen or outcome.calls):
        verdict = _of(run, OPEN, text=outcome.not_run or "nothing was compiled")
        return Probed(path, run.target.lines[0], verdict, (*map(told, seen), *elsewhere, *outcome.notes))
    graver = [one for one in outcome.observations if one.per != "shape"]
    gravest = min(graver, key=_gravity, default=None)
    status = CONFIRMED if gravest is not None and gravest.kind not in (BOUNDED, TPU_BOUNDED) else REFUTED
    details = [one.text if one.per == "shape" else told(one) for one in outcome.observations]
    verdict = _of(run, status, gravest, text="" if gravest else _compiled(outcome))
    details += elsewhere
    if outcome.not_run is not None:
        details.append(f"not run on a CPU: {outcome.not_run}")
    if outcome.training:
        details.append(outcome.training)
    if verdict.text and not graver and (details or outcome.notes):
        details.insert(0, verdict.text)
    return Probed(path, run.target.lines[0], verdict, (*details, *outcome.notes))


def _meant(outcome: Outcome) -> Sequence[Observation]:
    """What was seen; of what was not run on a CPU, what statements and another device's compiler show."""
    if outcome.not_run is None or outcome.programs:
        return outcome.observations
    return tuple(one for one in outcome.observations if one.spots)


def _of_tpu(program: Lowering) -> bool:
    return program.untried is None and program.topology != ""


def told(observation: Observation) -> str:
    """An observation in a line."""
    return f"{observation.kind}{where(observation.spots)}: {observation.text}"


def taken(program: Lowering) -> str:
    """What a program that a TPU's compiler takes needs."""
    return f"{_bytes(program.memory)} of the {_bytes(chip_of(program.topology).memory)} of a core's memory"


def lowered(program: Lowering) -> Iterator[str]:
    """What another device's compiler says of a program that it compiles, or why it was not asked."""
    if program.untried is not None:
        yield f"{program.of} is not compiled for a {'TPU' if program.topology else 'GPU'}: {program.untried}"
        return
    if not program.topology:
        yield f"{GPU_LOWERS}: {program.of}, in {program.seconds:.1f} s"
        return
    yield f"{TPU_COMPILES}: {program.of}, for {program.topology} in {program.seconds:.1f} s; {taken(program)}"
    for name, spot in program.wide:
        yield f"{name}{where((spot,))}: {_EMULATED}"


def _bytes(number: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if number >= size / 10:
            return f"{number / size:.1f} {unit}"
    return f"{number / 2**10:.1f} KiB"


def _gravity(observation: Observation) -> tuple[bool, int]:
    """What is seen of the function itself comes before what is seen of its gradient, the graver first."""
    return observation.gradient, KINDS.index(observation.kind)


def _compiled(outcome: Outcome) -> str:
    count = sum(call.compilations for call in outcome.calls)
    gradient = "; so does the gradient" if outcome.gradient == "equal" else ""
    return f"{_counted(count, 'compilation')} for {_counted(len(outcome.calls), 'call')}, each equals eager{gradient}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _open(run: Run, why: str) -> Verdict:
    """No verdict on the finding, though the function did what it did."""
    found = _of(run, OPEN, text=why)
    gravest = min(run.outcome.observations, key=_gravity, default=None)
    return found if gravest is None or found.outcome == NOT_RUN else replace(found, outcome=gravest.kind)


def _of(run: Run, status: str, observation: Observation | None = None, text: str = "") -> Verdict:
    outcome, kind = run.outcome, COMPILES
    if observation is not None:
        kind = observation.kind
    elif outcome.not_run is not None or not outcome.calls:
        kind = NOT_RUN
    spot = observation.spots[0] if observation and observation.spots else None
    return Verdict(
        status=status,
        outcome=kind,
        text=observation.text if observation else text,
        function=run.target.qualname or "<the whole file>",
        how=outcome.how,
        inputs=outcome.inputs,
        line=spot.line if spot else None,
        per=(observation.per or None) if observation else None,
        gradient=observation.gradient if observation else False,
        compilations=sum(call.compilations for call in outcome.calls),
        calls=len(outcome.calls),
        versions=dict(outcome.versions),
        seconds=outcome.seconds,
        backend=run.target.backend,
    )


def _tool(run: Run) -> str:
    name = {TENSORFLOW: "TensorFlow", JAX: "JAX"}[run.target.backend]
    return f"{name} {run.outcome.versions.get(run.target.backend, '')} (CPU)"
