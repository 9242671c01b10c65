"""What the rules about loops on the host share: how they tell what is read there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.linter.rule import DraftNote

MOST_NOTES: Final = 8
_TOLD: Final = {
    "array": "it is copied into a NumPy array",
    "text": "text is made of it",
    "format": "it is formatted",
    "bool": "its truth is asked",
    "summary": "a writer on the host is passed it",
    ".get_weights": "all weights are copied to the host",
    ".predict": "Keras builds a pipeline for this call, and returns arrays on the host",
    ".predict_on_batch": "Keras returns arrays on the host",
    ".test_on_batch": "Keras returns numbers on the host",
    ".train_on_batch": "Keras returns numbers on the host",
}


def counted(reads: Sequence[tuple[Location, str]]) -> str:
    return "a value of a tensor" if len(reads) == 1 else f"values of tensors at {len(reads)} places"


def read_notes(reads: Sequence[tuple[Location, str]]) -> tuple[DraftNote, ...]:
    """Where values are read: the first places."""
    return tuple(DraftNote(place, _TOLD.get(reader, "its value is read")) for place, reader in reads[:MOST_NOTES])


def usual_notes(usual: Sequence[tuple[Location, str]]) -> tuple[DraftNote, ...]:
    """The conditions that hold each time by default."""
    said = "by default this holds in each iteration, which {} decides"
    return tuple(DraftNote(place, said.format(setting)) for place, setting in usual)
