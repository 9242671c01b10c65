"""Several models that are trained on the same arrays: one cause, which is said once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import FeedCompiled
from xlalint.linter.rule import Draft, DraftNote
from xlalint.syntax import nodes as cst

# The arguments of `fit` and its like that decide how large the last batch is, with their positions.
_SIZES: Final = {"x": 0, "batch_size": 2, "validation_split": None}
_TOO = "here, too: the same arrays in batches of the same size"


class SameArrays:
    """The calls that have been met, by what they pass."""

    def __init__(self) -> None:
        self._first: dict[Hashable, Location] = {}

    def once(self, event: FeedCompiled, draft: Draft) -> Draft:
        """What is said of a call; of a further one that passes the same arrays to the same method, at the first."""
        location = event.location
        given = _given(location)
        if given is None or draft.location is None or draft.location.node is not location.node:
            return draft
        owner = location.unit.function_around(location.node)
        reached = (event.context.kind, event.certain, event.often, event.single)
        first = self._first.setdefault((location.unit, owner, given, draft.message, reached), location)
        if first == location or _is_bound_between(first, location):
            return draft
        return replace(draft, location=first, notes=(DraftNote(location, _TOO),))


def _given(location: Location) -> tuple[str, ...] | None:
    """How a call is written: its method, the arrays and what else decides on the batches; None where it makes the
    arrays itself, or another number of them each time."""
    match location.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)), args=args) if not any(arg.star for arg in args):
            pass
        case _:
            return None
    named = {arg.keyword.value: arg.value for arg in args if arg.keyword is not None}
    positional = [arg.value for arg in args if arg.keyword is None]
    found = [method]
    for name, position in _SIZES.items():
        value = named.get(name)
        if value is None and position is not None and position < len(positional):
            value = positional[position]
        if value is None and name == "x":
            return None
        if value is not None and any(isinstance(part, cst.Call) for part in cst.within(value)):
            return None
        found.append("" if value is None else location.unit.compact(value))
    return tuple(found)


def _is_bound_between(first: Location, further: Location) -> bool:
    """Whether one of the names that a call passes is bound to something else between two calls."""
    unit = first.unit
    assert isinstance(further.node, cst.Call)
    names = {part.value for arg in further.node.args for part in cst.within(arg.value) if isinstance(part, cst.Name)}
    start, end = sorted((unit.span(first.node), unit.span(further.node)))
    around = [each for each in unit.around(first.node) if isinstance(each, cst.FunctionDef | cst.Module)]
    for target in cst.targets_in(around[0]) if around else ():
        bound = cst.names_within(target)
        if not bound.isdisjoint(names) and start < unit.span(target) < end:
            return True
    return False
