"""Which rules an error may be about, by its message and the line that it is raised at."""

from __future__ import annotations

from . import PATTERNS
from .forms import forms_of
from .pattern import UNLIKELY, Candidate


def candidates_of(message: str, line: str) -> tuple[Candidate, ...]:
    """The rules that may be meant, the likeliest first, without those for which nothing in the line speaks."""
    forms = forms_of(line)
    for pattern in PATTERNS:
        if pattern.wording.search(message) and (pattern.beside is None or pattern.beside.search(message)):
            likely = (one for one in pattern.candidates if one.weight(forms) < UNLIKELY)
            return tuple(sorted(likely, key=lambda one: one.weight(forms)))
    return ()
