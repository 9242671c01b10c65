"""Functions that nothing is seen to call and that train step by step in a loop: whoever calls them, nobody compiles
them, since a loop over batches is of the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.contexts import ContextKind
from ..interpreter.events import Event, TakeGradients
from ..interpreter.frames import Act, Summary
from .call_paths import reached_from, with_callers

_ENDS: Final = (cst.FunctionDef, cst.Lambda, cst.ClassDef)


def training_loops(roots: Iterable[Summary]) -> set[Summary]:
    """The analyses of such functions among what these lead to, and of those that call them."""
    seen = reached_from(roots)
    found = {summary for summary in seen if _is_open(summary) and _trains_in_loop(summary)}
    return with_callers(found, seen, _is_open)


def is_of_step(event: Event, summary: Summary) -> bool:
    """Whether something happens in a step that such a loop takes itself, behind a tape: a target would compile that."""
    tapes = {each.location.node for each in summary.events if isinstance(each, TakeGradients)}
    around = event.location.unit.around(event.location.node) if tapes else ()
    return event.context.eager or any(
        isinstance(block, cst.With) and not tapes.isdisjoint(block.items) for block in around
    )


def _is_open(summary: Summary) -> bool:
    return summary.context.kind is ContextKind.OPEN


def _trains_in_loop(summary: Summary) -> bool:
    """Whether a loop of a function takes steps of training, by itself or by what it calls."""
    own = any(done.act is Act.OPTIMIZE and _is_in_loop(done.location) for done in summary.done)
    return own or any(_takes_step(callee) for callee in summary.looped)


def _takes_step(callee: Summary) -> bool:
    if callee.context.becomes_graph:
        return callee.trains
    return any(done.act is Act.OPTIMIZE for done in callee.done)


def _is_in_loop(place: Location) -> bool:
    """Whether a loop is around a place in its function."""
    for around in place.unit.around(place.node):
        if isinstance(around, _ENDS):
            return False
        if isinstance(around, cst.For | cst.While):
            return True
    return False
