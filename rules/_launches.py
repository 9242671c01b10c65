"""What the rules about Accelerate's `notebook_launcher` share: what happens inside of the function that it launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlalint.analysis.domain.values import FunctionValue, Static
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.setup_events import SetupCall
from xlalint.analysis.library.strategies import LAUNCHERS

CORES = 8  # of one TPU board: what the launcher starts where Accelerate finds a TPU


def launched(steps: Sequence[SetupCall]) -> Iterator[tuple[SetupCall, list[SetupCall]]]:
    """Each launch that may be for a TPU, with the calls inside of what it launches."""
    for step in steps:
        function = step.arguments.get("function", step.arguments.get("*0"))
        processes = step.arguments.get("num_processes", step.arguments.get("*2", Static(None)))
        known = isinstance(processes, Static) and processes.known
        # What nobody knows is what the launcher is told by whoever starts the program.
        several = not known or processes in (Static(None), Static(CORES))
        if step.api in LAUNCHERS and isinstance(function, FunctionValue) and several:
            label = function.function.label
            yield step, [inner for inner in steps if _starts_at(inner, label.node)]


def _starts_at(step: SetupCall, node: object) -> bool:
    """Whether the way to a call begins with the function of that name."""
    trail = step.trail
    while trail is not None and trail.parent is not None:
        trail = trail.parent
    return trail is not None and trail.location.node is node


def call_in_launched(step: SetupCall) -> Location:
    """The call in the launched function itself that leads to a call."""
    trail, inside = step.trail, step.location
    while trail is not None and trail.parent is not None:
        trail, inside = trail.parent, trail.location
    return inside
