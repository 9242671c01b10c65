"""One cause, few findings: what follows from a value that several findings name already is information."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ..findings.findings import BY_KERAS, Effect, Finding, Note, Severity

# Rules whose first note says where a value comes from, each with the effects that are meant: whoever makes a number of
# what decides sizes and positions, or a variable of what the host changes, has mended them all.
_OF_VALUES: Final = {
    "XLA205": (Effect.RECOMPILES, Effect.FAILS),  # a TPU's compiler refuses what others compile again
    "XLA206": (Effect.RECOMPILES, Effect.FAILS),
    "XLA609": (Effect.DIVERGES,),
}
# Rules about what a function does several times, each with the effect that is meant: whoever keeps the shape of one
# selection keeps that of all, whoever moves one summary, one read of a tensor, or one layer that is created, out of
# compiled code moves all, and whoever compiles the function around one tape compiles the others.
_OF_FUNCTIONS: Final = {
    "XLA106": Effect.FAILS,
    "XLA201": Effect.NAMED,
    "XLA203": Effect.NAMED,
    "XLA403": Effect.FAILS,
    "XLA409": Effect.FAILS,
    "XLA506": Effect.TPU,
    "XLA606": Effect.DIVERGES,
}
# The same of all that is reached from where tracing begins: a layer that keeps its state in tensors does so in each of
# its methods.
_OF_ENTRIES: Final = {"XLA607": Effect.FAILS}
# Rules about what a file does everywhere in one way, where no rewrite is shown for the place itself: arrays that Keras
# cuts into batches, by model after model of a notebook; names that TensorFlow does not have any longer.
_OF_FILES: Final = frozenset(("XLA302", "XLA534"))
_ALL: Final = frozenset(
    ("XLA106", "XLA205", "XLA206", "XLA403", "XLA409", "XLA606", "XLA607")
)  # of which errors, too, are said a few times
# Rules about something else than the value at their place: a loop, whose place is what it iterates over; the machine
# that makes the batches, whose place is what they come from. Who mends what another rule says of that has done nothing
# about it.
_KINDS: Final = {"XLA513": "pipeline", "XLA516": "loop"}
# Rules that have nothing to say where another one speaks of the same place: who takes Python out of a pipeline has no
# rank to tell any more.
_WITHIN: Final = {"XLA316": "XLA504"}
_ENOUGH: Final = 3  # findings of one cause, by which its reader knows
_ONE: Final = frozenset(("XLA409", "XLA506", "XLA534", "XLA606", "XLA609"))  # of which one is enough
_SAME_VALUE: Final = "here, too, the same value decides"
_SELECTS: Final = "here, too, the function selects by the values of a tensor"
_CREATES: Final = "here, too, the function creates variables"
_SAID: Final = {
    "XLA106": "here, too, the function reads a tensor",
    "XLA201": _SELECTS,
    "XLA203": _SELECTS,
    "XLA302": "here, too, the last batch is smaller",
    "XLA403": "here, too, the function prints or logs",
    "XLA409": _CREATES,
    "XLA506": "one `tf.function` around both is enough",
    "XLA534": "here, too, a name is missing",
    "XLA606": _CREATES,
    "XLA607": "here, too, tensors of the graph are kept",
    "XLA609": "here, too, compiled code reads it",
}


def few_of_a_cause(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings in the order of the lines of their files. Where several have one cause, the further ones become
    information."""
    first: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        cause = _cause(finding)
        if cause is not None:
            cell = None if finding.code in _OF_FILES else finding.cell
            alike = first.setdefault((finding.path, cell, finding.code, cause), [])
            alike.append(finding)
            if len(alike) > (1 if finding.code in _ONE else _ENOUGH):
                said = _SAID.get(finding.code, _SAME_VALUE)
                notes = (*finding.notes, Note(alike[0].path, alike[0].span, said))
                finding = replace(finding, severity=Severity.INFO, notes=notes)
        yield finding


def is_within(code: str, others: Collection[str]) -> bool:
    """Whether a rule has nothing to say at a place that others speak of as well."""
    return _WITHIN.get(code) in others


def kind_of_place(code: str) -> str:
    """What a rule's places are, where others may flag the same text for what is no business of its own."""
    return _KINDS.get(code, "")


def _cause(finding: Finding) -> Hashable:
    """What a finding has in common with others of its rule; None where it stands for itself, as most errors do."""
    if finding.severity is not Severity.WARNING and finding.code not in _ALL:
        return None
    if finding.notes and finding.effect in _OF_VALUES.get(finding.code, ()):
        origin = finding.notes[0]
        return None if origin.text.startswith(BY_KERAS) else (origin.path, origin.span, origin.text)
    if finding.code in _OF_FILES and finding.fix is None:
        return finding.effect
    if finding.effect is _OF_FUNCTIONS.get(finding.code) and finding.context is not None:
        return tuple((step.path, step.name) for step in finding.context.trail[-1:]) or None
    if finding.effect is _OF_ENTRIES.get(finding.code) and finding.context is not None:
        return tuple((step.path, step.name) for step in finding.context.trail[:1]) or None
    return None
