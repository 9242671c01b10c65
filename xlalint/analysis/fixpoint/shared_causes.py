"""Loops around calls of models that have one cause: loops in one another, and loops that run the same calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...syntax import nodes as cst
from ..interpreter.setup_events import LoopOfCalls
from ..record import Record, replace


class Nest(Record):
    """A loop around calls of models. `loop`: its node; `within`: those of the loops in it, also in what it calls."""

    event: LoopOfCalls
    loop: cst.CSTNode
    within: frozenset[cst.CSTNode]


def one_for_each_cause(nests: Sequence[Nest]) -> Iterator[LoopOfCalls]:
    """The outermost loop of each nest, with all calls in it, and of those that run the same calls the gravest one."""
    outermost = [nest for nest in nests if not any(_is_in(nest, other) for other in nests)]
    whole = [_together(nest.event, [each.event for each in nests if _is_in(each, nest)]) for nest in outermost]
    told: list[LoopOfCalls] = []
    for event in sorted(whole, key=lambda event: (event.is_quiet, -len(event.calls))):
        same = next((at for at, one in enumerate(told) if set(event.calls) <= set(one.calls)), None)
        if same is None:
            told.append(event)
        else:
            told[same] = replace(told[same], others=(*told[same].others, event.location))
    yield from told


def _is_in(inner: Nest, outer: Nest) -> bool:
    """Whether a loop is in another one; what is line by line in one of them, and `predict` in the other, differs."""
    return inner.loop in outer.within and inner.event.predicts == outer.event.predicts


def _together(event: LoopOfCalls, inner: Iterable[LoopOfCalls]) -> LoopOfCalls:
    """A loop with the loops in it."""
    for one in inner:
        event = replace(
            event,
            calls=tuple(dict.fromkeys((*event.calls, *one.calls))),
            reads=tuple(dict.fromkeys((*event.reads, *one.reads))),
            needed=event.needed and one.needed,
            open=event.open and one.open,
            unsure=event.unsure and one.unsure,
            unknown=event.unknown and one.unknown,
            by_chance=event.by_chance and one.by_chance,
            by_hand=event.by_hand and one.by_hand,
        )
    return event
