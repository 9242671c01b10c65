"""The ways from entry points to a place: how they are shown, and which files they start in."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.interpreter.contexts import CallPath
from ..analysis.interpreter.events import Event
from ..findings.findings import TrailStep


def steps(trail: CallPath | None) -> tuple[TrailStep, ...]:
    """The frames, outermost first."""
    found = []
    while trail is not None:
        found.append(TrailStep(trail.location.path, trail.location.span[0], trail.name))
        trail = trail.parent
    return tuple(reversed(found))


def start_of(event: Event) -> str:
    """The file that the way to an event starts in: its own where host code gets there by itself."""
    path, trail = event.location.path, event.trail
    while trail is not None:
        path, trail = trail.location.path, trail.parent
    return path


def starts_of(events: Iterable[Event]) -> tuple[str, ...]:
    """The files that the ways to some events start in, each once."""
    return tuple(dict.fromkeys(map(start_of, events)))
