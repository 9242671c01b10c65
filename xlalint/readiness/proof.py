"""The proof: what a TPU's compiler makes of the compiled functions and models of a program. This runs their code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..findings.findings import Finding
from ..linter.run import files_to_check
from ..probe.protocol import FAILS, TPU_BOUNDED, TPU_FAILS, Observation, Outcome
from ..probe.running import run_targets
from ..probe.target import Target
from ..probe.targets import NoTarget, Targets
from ..probe.verdicts import NOT_RUN, TPU_COMPILES, Run, lowered, told
from ..settings.config import Settings
from ..sources.text import display_path
from .checklist import Answer, Line, Proof, Readiness, State
from .evidence import OWN_LAYERS

NAME: Final = "proof"
_MORE: Final = "`xlalint probe FILE::NAME --target tpu` shows what a CPU does with it, too"
_NO_CODE: Final = "no code that can be compiled was seen: pass the files of the model and its layers, too"


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be compiled, and which places cannot be: each with why."""

    targets: tuple[Target, ...]
    without: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Proofs:
    """What was said of each. `complete`: the user did not end it early; `trouble`: what else did."""

    found: tuple[Proof, ...]
    complete: bool
    trouble: str = ""


def planned(readiness: Readiness, paths: Sequence[str | Path], settings: Settings) -> Job:
    """Where the program's compiled code begins, and the functions that give a whole Keras model; models first."""
    known = Targets(settings.probe.inputs, settings.keras)
    seen = {id(one): one for answer in readiness.answers for one in answer.evidence if _is_entry(one)}
    targets: dict[tuple[str, str], Target] = {}
    without: list[Proof] = []
    for target, findings in known.of_findings(seen.values()):
        if isinstance(target, NoTarget):
            told = (target.reason,)
            without += (Proof(one.path, one.span.line, _named(one), NOT_RUN, told) for one in findings)
        else:  # the line of its name is none that runs
            targets.setdefault((target.file, target.qualname), replace(target, wanted=()))
    for path, line in _compiled_at(readiness):
        if (model := known.receiver(Path(path), line)) is not None:
            targets.setdefault((model.file, model.qualname), model)
    for target in known.models(file.path for file in files_to_check(paths, settings)[0]):
        targets.setdefault((target.file, target.qualname), target)
    return Job(tuple(sorted(targets.values(), key=lambda target: not known.gives_model(target))), tuple(without))


def prove(
    job: Job, settings: Settings, heard: Callable[[Run], None], told: Callable[[str], None] = lambda line: None
) -> Proofs:
    """Lower and compile each; `heard` and `told`: as for `run_targets`. Raises ProbeUnavailableError."""
    ran = run_targets(job.targets, replace(settings.probe, target="tpu"), settings.cache_dir, heard, told)
    return Proofs((*map(_proof, ran.runs), *job.without), ran.complete, ran.trouble)


def with_proofs(readiness: Readiness, proofs: Sequence[Proof], settings: Settings, look: str = "") -> Readiness:
    """The list with one line more. `look`: the next step where nothing was compiled."""
    probe = settings.probe
    size = f", {probe.batch} examples at once" if probe.batch else ""
    line = Line(NAME, f"the TPU compiler accepts it ({probe.topology}{size})", (), "", look or _next(proofs))
    answer = Answer(line, _state(proofs), (), (), tuple(proofs))
    return replace(readiness, answers=(*readiness.answers, answer))


def _next(proofs: Sequence[Proof]) -> str:
    return _MORE if proofs else _NO_CODE


def _state(proofs: Sequence[Proof]) -> State:
    """`ok` where all of it compiles; what was not run is not seen."""
    outcomes = {proof.outcome for proof in proofs}
    if TPU_FAILS in outcomes:
        return State.ATTENTION
    return State.NOT_SEEN if NOT_RUN in outcomes or not outcomes else State.OK


def _is_entry(seen: Finding) -> bool:
    """Whether evidence is of compiled code, and not of a call that sets it up."""
    return seen.code == "compiled-code" and seen.context is not None and seen.context.kind == "xla"


def _compiled_at(readiness: Readiness) -> Iterator[tuple[str, int]]:
    """Where models of Keras's own layers are compiled."""
    for answer in readiness.answers:
        for one in answer.evidence:
            if one.code == "compiled-code" and one.message == OWN_LAYERS and one.cell is None:
                yield one.path, one.span.line


def _named(entry: Finding) -> str:
    return entry.message.split("`")[1]


def _proof(run: Run) -> Proof:
    outcome, target = run.outcome, run.target
    kinds = {one.kind for one in outcome.observations}
    kind = NOT_RUN
    if kinds & {FAILS, TPU_FAILS} or any(_untraced(outcome)):
        kind = TPU_FAILS
    elif outcome.programs and not (outcome.not_run or outcome.death) and all(one.compiles for one in outcome.programs):
        kind = TPU_BOUNDED if TPU_BOUNDED in kinds else TPU_COMPILES
    return Proof(
        display_path(Path(target.file)),
        target.lines[0],
        target.qualname,
        kind,
        tuple(_told(outcome)) or ("nothing was compiled",),
        outcome.programs,
        outcome.how,
        outcome.inputs,
        outcome.versions,
        outcome.seconds,
    )


def _untraced(outcome: Outcome) -> Iterator[Observation]:
    """The error that ends tracing, which no compiler sees."""
    for call in outcome.calls:
        if call.error is not None:
            text = f"tracing it fails with {call.error.kind}: {call.error.message}"
            yield Observation(FAILS, text, call.error.spots)


def _told(outcome: Outcome) -> Iterator[str]:
    yield from map(told, (*_untraced(outcome), *outcome.observations))
    for program in outcome.programs:
        if program.refusal is None:
            yield from lowered(program)
    if outcome.not_run is not None and not outcome.calls:
        yield outcome.not_run
    elif outcome.death is not None and not any(one.kind == FAILS for one in outcome.observations):
        yield f"the rest is not known: the process {outcome.death}"
    yield from outcome.notes
