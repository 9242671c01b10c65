"""Functions that nothing is seen to call and that train step by step in a loop: whoever calls them, nobody compiles
them, since a loop over batches is of the host. Their steps a target would compile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from ...syntax import nodes as cst
from ..files.unit import Location
from ..interpreter.contexts import ContextKind
from ..interpreter.events import Event
from ..interpreter.frames import Act, Summary
from ..interpreter.setup_events import TakeGradients
from ..record import Record
from .call_paths import reached_from, with_callers

_ENDS: Final[frozenset[type[object]]] = frozenset((cst.FunctionDef, cst.Lambda, cst.ClassDef))
_LOOPS: Final[frozenset[type[object]]] = frozenset(
    (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
)


class TrainingLoops(Record, eq=False):
    """Such functions, and those that call them, each with what it calls to take a step, or calls that does. `targeted`:
    there is a target that would compile the steps, whatever else the loop does."""

    steps: Mapping[Summary, Collection[Summary]]
    targeted: bool

    def told(self, summary: Summary) -> Iterator[Event]:
        """What happens in an analysis and is of any interest: not what only eager code can do, nor what happens in
        such a loop, but for the steps it takes."""
        if summary.host_only and _is_open(summary) and not (self.targeted and summary in self.steps):
            return iter(())
        return _of_steps(summary) if summary in self.steps else iter(summary.events)

    def leads(self, caller: Summary, callee: Summary) -> bool:
        """Whether such a loop leads to the steps that it calls, though it does what only eager code can."""
        return self.targeted and callee in self.steps.get(caller, ())


def training_loops(roots: Iterable[Summary], *, targeted: bool) -> TrainingLoops:
    """Such functions among what these lead to."""
    seen = reached_from(roots)
    taking = {summary: set(_steps_of(summary)) for summary in seen if _is_open(summary)}
    found = {summary for summary, steps in taking.items() if steps or _steps_itself(summary)}
    loops = with_callers(set(found), seen, _is_open)
    steps = {one: taking[one] | {callee for _, callee in one.calls if callee in loops} for one in loops}
    return TrainingLoops(steps, targeted)


def _is_open(summary: Summary) -> bool:
    return summary.context.kind is ContextKind.OPEN


def _steps_of(summary: Summary) -> Iterator[Summary]:
    """What a function calls in its loops that takes a step of training."""
    for callee in summary.looped:
        if callee.trains if callee.context.becomes_graph else any(done.act is Act.OPTIMIZE for done in callee.done):
            yield callee


def _steps_itself(summary: Summary) -> bool:
    """Whether a loop of a function has an optimizer take steps."""
    return any(done.act is Act.OPTIMIZE and is_in_loop(done.location) for done in summary.done)


def is_in_loop(place: Location) -> bool:
    """Whether a loop, or a comprehension, is around a place in its function."""
    for around in place.unit.around(place.node):
        if type(around) in _ENDS:
            return False
        if type(around) in _LOOPS:
            return True
    return False


def _of_steps(summary: Summary) -> Iterator[Event]:
    """What happens behind a tape: a target would compile that."""
    tapes = {each.location.node for each in summary.events if isinstance(each, TakeGradients)}
    for event in summary.events:
        around = event.location.unit.around(event.location.node) if tapes else ()
        if event.context.eager or any(
            isinstance(block, cst.With) and not tapes.isdisjoint(block.items) for block in around
        ):
            yield event
