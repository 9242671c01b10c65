"""What rules say of places, as partitions hand it to each other, and which of it is found: one finding for a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ..analysis.interpreter.contexts import ContextKind
from ..analysis.program.backends import ON_TENSORFLOW, Ran
from ..analysis.program.exposure import Exposed
from ..findings.findings import Effect, Exposure, Finding, Fix, Safety, Severity, Span
from .causes import few_of_a_cause, is_within, kind_of_place
from .lowering import INFERRED, LEFT_OUT, OUT_OF_PLAY, UNUSED, is_silent, reasons_of
from .on_backends import Said, of_all, run_by
from .severities import GRAVITY

_TRUST: Final = {safety: rank for rank, safety in enumerate(Safety)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one rule says of one place, as plain data that processes can hand to each other. `refused`: it has a
    rewrite, but not for every way in which the place is reached; `on_tpu`: what it says instead where the project
    turns out to be for TPUs, too, and `on_tpu_alone` where nothing else compiles the program; `withheld`: it says
    nothing where not; `unexposed`: how grave it is where nothing
    shows that XLA compiles the program; `lowered_by`: why it is no more than information, where its program is so;
    `on_tensorflow`: TensorFlow may run the place, and it is about that; `on_jax`: what it says where JAX runs it;
    `starts`: the files that the ways to the place start in."""

    gravity: tuple[Severity, int]
    finding: Finding
    refused: bool
    unexposed: Severity
    on_tpu: Candidate | None = None
    on_tpu_alone: Candidate | None = None
    withheld: bool = False
    lowered_by: tuple[str, ...] = ()
    on_tensorflow: bool = True
    on_jax: Said | None = None
    starts: tuple[str, ...] = ()


def gravest_of(
    candidates: Iterable[Candidate],
    tpu: bool = False,
    exposed: Callable[[str], Exposed] | None = None,
    ran: Callable[[str], Ran] = lambda path: ON_TENSORFLOW,
) -> Iterator[Finding]:
    """One finding for each place, whoever found what: where several rules flag it, the gravest says why it must
    change, and the others follow from the same code. `tpu`: the project turned out to be for TPUs; `exposed`: how sure
    it is of a file that XLA compiles its program, None: for certain; `ran`: what runs a file."""
    by_rule: dict[tuple[str, Span, str], list[Candidate]] = {}
    for candidate in candidates:
        of = None if exposed is None else _program_of(candidate, exposed)
        candidate = (of and of.tpu_alone and candidate.on_tpu_alone) or (tpu and candidate.on_tpu) or candidate
        told = None if candidate.withheld else _run_by(candidate, ran(candidate.finding.path))
        if told is None:
            continue
        candidate = told
        if of is not None:
            if is_silent(candidate.lowered_by, of):
                continue
            candidate = _of_exposure(candidate, of)
        finding = candidate.finding
        by_rule.setdefault((finding.path, finding.span, finding.code), []).append(candidate)
    spoken: dict[tuple[str, Span], list[str]] = {}
    for path, span, code in by_rule:
        spoken.setdefault((path, span), []).append(code)
    by_place: dict[tuple[str, Span, str], list[Candidate]] = {}
    for (path, span, code), found in sorted(by_rule.items()):
        if is_within(code, spoken[path, span]):
            continue
        by_place.setdefault((path, span, kind_of_place(code)), []).append(_joined(found))
    yield from few_of_a_cause(
        of_all(
            max(at_place, key=lambda candidate: _weight(candidate, exposed)).finding,
            [candidate.finding for candidate in at_place],
        )
        for at_place in by_place.values()
    )


def _program_of(candidate: Candidate, exposed: Callable[[str], Exposed]) -> Exposed:
    """How sure it is that XLA compiles what leads to a place. A file of several programs is of the surest of them;
    where all of them are here, another one alone may lead to the place."""
    own = exposed(candidate.finding.path)
    if not own.whole or own.exposure is Exposure.NONE:
        return own
    starts = [exposed(path) for path in candidate.starts]
    unseen = bool(starts) and all(start.exposure is Exposure.NONE for start in starts)
    return starts[0] if unseen else own


def _weight(candidate: Candidate, exposed: Callable[[str], Exposed] | None) -> tuple[Severity, float]:
    """How grave it is; what a TPU refuses outweighs compilations in a program that only a TPU compiles."""
    severity, rank = candidate.gravity
    if candidate.finding.effect is Effect.TPU and exposed is not None and exposed(candidate.finding.path).tpu_alone:
        return severity, max(rank, GRAVITY[Effect.RECOMPILES] + 0.5)
    return severity, rank


def _run_by(candidate: Candidate, ran: Ran) -> Candidate | None:
    """What is said of a file that these backends run; None where that is nothing."""
    if ran is ON_TENSORFLOW and candidate.on_tensorflow:
        return candidate
    found = run_by(candidate.finding, candidate.on_jax, candidate.on_tensorflow, ran)
    if found is None:
        return None
    finding, unexposed = found
    if unexposed is None:
        return replace(candidate, finding=finding)
    gravity = finding.severity, GRAVITY[finding.effect] if finding.effect is not None else -1
    return replace(candidate, finding=finding, gravity=gravity, unexposed=max(unexposed, candidate.unexposed))


def _of_exposure(candidate: Candidate, exposed: Exposed) -> Candidate:
    """What is said of a file of which it is so sure that XLA compiles its program."""
    finding, (severity, effect) = candidate.finding, candidate.gravity
    so_far = finding.context.shown if finding.context is not None and exposed.shown else ""
    lowered, shown = False, f"{exposed.shown}; {so_far}" if so_far else exposed.shown
    left_out = exposed.clusters and finding.effect is not Effect.RECOMPILES
    kind = None if finding.context is None else finding.context.kind
    unseen = exposed.exposure is Exposure.NONE
    of_program = reasons_of(exposed, kind)
    reasons = [reason for reason in candidate.lowered_by if of_program[reason]] + [LEFT_OUT] * left_out
    if unseen or reasons:
        untraced = kind == ContextKind.OPEN and not {UNUSED, INFERRED}.isdisjoint(reasons)
        out_of_play = not OUT_OF_PLAY.isdisjoint(reasons)
        line_by_line = exposed.eager and kind != ContextKind.HOST
        least = Severity.INFO if untraced or out_of_play or line_by_line else candidate.unexposed
        severity = min(severity, least)
        lowered = unseen and least < finding.severity
        finding = replace(finding, severity=least)
        shown = "; ".join((shown, *reasons)) if shown else shown
    if finding.context is not None:
        context = replace(finding.context, exposure=exposed.exposure, shown=shown, lowered=lowered)
        finding = replace(finding, context=context)
    return replace(candidate, finding=finding, gravity=(severity, effect))


def _joined(found: list[Candidate]) -> Candidate:
    """What one rule says of one place: the gravest, by the shortest way there, with the notes of all."""
    found.sort(key=lambda candidate: candidate.finding.trail_key)
    best = max(found, key=lambda candidate: candidate.gravity)
    notes = dict.fromkeys((*best.finding.notes, *(note for other in found for note in other.finding.notes)))
    help = best.finding.help or next((other.finding.help for other in found if other.finding.help), None)
    refused = any(other.refused for other in found)
    fix = None if refused else agreed_fix(other.finding.fix for other in found)
    finding = replace(best.finding, notes=tuple(notes), help=help, fix=fix)
    finding = of_all(finding, [other.finding for other in found])
    return replace(best, finding=finding, refused=refused)


def agreed_fix(fixes: Iterable[Fix | None]) -> Fix | None:
    """The fix that all who have one agree upon, as safe as the one who trusts it least."""
    given = [fix for fix in fixes if fix is not None]
    if len({fix.edits for fix in given}) != 1:
        return None
    return min(given, key=lambda fix: (_TRUST[fix.safety], fix.title))
