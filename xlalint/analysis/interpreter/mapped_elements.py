"""What is called for each element of a batch, one after the other, and what it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ...syntax import nodes as cst
from ..domain.values import UNKNOWN, Value
from .events import Event
from .frames import Arguments, Frame, Summary
from .interface import Interpreter


class MapElements(Event):
    """`tf.map_fn`, or Keras's `map` (`api`), has a loop in the graph call a function for each element; place: the whole
    call. `inside`: what the function, and all that it calls, does, as far as rules want it; `assigns`: it changes a
    variable."""

    api: str
    function: Value
    elements: Value
    keywords: Mapping[str, Value]
    inside: Sequence[Event]
    assigns: bool


def report_map(
    interpreter: Interpreter,
    frame: Frame,
    name: str,
    arguments: Arguments,
    node: cst.BaseExpression,
    before: tuple[int, int],
) -> None:
    """Say that a function was called for each element; `before`: how many events and calls there were then."""
    events, calls = before
    reached = _reached(callee for _, callee in frame.summary.calls[calls:])
    inside = [*frame.summary.events[events:], *chain.from_iterable(callee.events for callee in reached)]
    interpreter.emit(
        frame,
        MapElements,
        node,
        api=name,
        function=_argument(arguments, 0, "fn", "f"),
        elements=_argument(arguments, 1, "elems", "xs"),
        keywords=arguments.keywords,
        inside=inside,
        assigns=any(callee.assigns for callee in reached),
    )


def _argument(arguments: Arguments, position: int, *names: str) -> Value:
    found = (arguments.get(position, name) for name in names)
    return next((value for value in found if value is not None), UNKNOWN)


def _reached(callees: Iterable[Summary]) -> dict[Summary, None]:
    """The analyses of functions, and of all that they call."""
    found: dict[Summary, None] = {}
    pending = [*callees]
    while pending:
        callee = pending.pop()
        if callee not in found:
            found[callee] = None
            pending += (inner for _, inner in callee.calls)
    return found
