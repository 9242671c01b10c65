"""What the rules about loops on the host share: how they tell what is read there."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.frames import ROWS
from xlalint.analysis.interpreter.setup_events import LoopOfSteps
from xlalint.analysis.library.call_kinds import RETURNS_TO_HOST
from xlalint.linter.rule import Draft, DraftNote
from xlalint.sources.testing import is_of_tests
from xlalint.syntax import nodes as cst

WHO: Final = ("each iteration", "Keras calls this at each batch, and it")  # by whether Keras calls it
WEIGHTS: Final = ".get_weights"
READ_APART: Final = frozenset((ROWS, WEIGHTS))  # what rules of their own are about
MOST_NOTES: Final = 8
OTHER_LOOP: Final = "this loop runs the same"
_LOGS: Final = frozenset(("debug", "error", "info", "log", "print", "warning", "write"))
_TOLD: Final = {
    "array": "it is copied into a NumPy array",
    "text": "text is made of it",
    "format": "it is formatted",
    "bool": "its truth is asked",
    "summary": "a writer on the host is passed it",
    "histogram": "operations sort it one by one, and a writer on the host is passed what they count",
    ROWS: "each of its rows is an operation of its own",
    WEIGHTS: "all weights are copied to the host",
    ".predict": "Keras builds a pipeline for this call, and returns arrays on the host",
    ".predict_on_batch": "Keras returns arrays on the host",
    ".test_on_batch": "Keras returns numbers on the host",
    ".train_on_batch": "Keras returns numbers on the host",
}


class SameReads:
    """The loops that have been met, by what the functions read that they call: one cause is said once."""

    def __init__(self) -> None:
        self._first: dict[Hashable, Location] = {}

    def once(self, loop: Location, reads: Sequence[tuple[Location, str]], draft: Draft) -> Draft:
        """What is said of a loop; of a further one that reads at the same places alone, at the first. The loop of a
        test stands for no other."""
        if is_of_tests(loop.path):
            return draft
        around = loop.unit.function_around(loop.node)
        if any(place.unit is loop.unit and place.unit.function_around(place.node) is around for place, _ in reads):
            return draft
        first = self._first.setdefault((tuple(reads), draft.message, draft.at_most), loop)
        return draft if first == loop else replace(draft, location=first, notes=(DraftNote(loop, OTHER_LOOP),))


def is_quiet(event: LoopOfSteps) -> bool:
    """Whether the loop needs what it reads, or nobody is seen to run it."""
    return event.needed or (event.context.kind is ContextKind.OPEN and not event.by_keras)


def around(event: LoopOfSteps) -> DraftNote:
    """What runs again and again."""
    return DraftNote(event.location, "Keras calls this" if event.by_keras else "the loop around the steps")


def only_writes(reads: Sequence[tuple[Location, str]]) -> bool:
    """Whether all is read for a writer of summaries, where one is set, which may record less."""
    return all(reader == "summary" for _, reader in reads)


def is_shown(reads: Sequence[tuple[Location, str]]) -> bool:
    """Whether all is read to be shown, and nothing to be kept."""
    return all(reader in ("format", "text") or _is_printed(place) for place, reader in reads)


def _is_printed(place: Location) -> bool:
    """Whether a read stands in a statement that prints or logs."""
    line = next((node for node in place.unit.around(place.node) if isinstance(node, cst.SimpleStatementLine)), None)
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Name(value="print")))]):
            return True
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=name))))]):
            return name in _LOGS
        case _:
            return False


def asks_keras(reads: Sequence[tuple[Location, str]]) -> bool:
    """Whether one of Keras's methods returns what is read."""
    return any(reader.lstrip(".") in RETURNS_TO_HOST for _, reader in reads)


def counted(reads: Sequence[tuple[Location, str]]) -> str:
    return "a value of a tensor" if len(reads) == 1 else f"values of tensors at {len(reads)} places"


def read_notes(reads: Sequence[tuple[Location, str]]) -> tuple[DraftNote, ...]:
    """Where values are read: the first places."""
    return tuple(DraftNote(place, _TOLD.get(reader, "its value is read")) for place, reader in reads[:MOST_NOTES])


def usual_notes(usual: Sequence[tuple[Location, str]]) -> tuple[DraftNote, ...]:
    """The conditions that hold each time by default."""
    said = "by default this holds in each iteration, which {} decides"
    return tuple(DraftNote(place, said.format(setting)) for place, setting in usual)
