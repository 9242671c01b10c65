"""What the rules about bounded dynamic shapes share: who made one, and what goes wrong with it further on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from xlalint.analysis.domain.bounds import FIRST, Axes, counted, meeting, numbers_of
from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import NONE, Dependence, Origin, Sequence, Slice, Static, Tensor, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ApiCall, Consume
from xlalint.facts.consumers import CONSUMERS, INDEXING, Consumer
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewriter
from xlalint.linter.rule import Draft, DraftNote, Effect, OnJax

# Measured with each of these versions, and with the TPU compiler (2.20) by shapes alone.
NAMED: Final = "TensorFlow 2.13 to 2.21 compile it with a bounded dynamic shape, which a TPU pads to its bound"


def made_by(call: ApiCall) -> Origin | None:
    """The bounded dynamic shape that begins with the result of this call."""
    return next((origin for origin in _bounded(call.result) if origin.location == call.location), None)


def _bounded(value: Value) -> Iterator[Origin]:
    for option in options(value):
        match option:
            case Tensor(bounded=Origin() as origin):
                yield origin
            case Sequence(items=items, element=element):
                for item in (*(items or ()), *((element,) if element is not None else ())):
                    yield from _bounded(item)


class BoundedShapes:
    """The places of one rule, and the drafts that consumers add to them, whichever event comes first."""

    def __init__(self) -> None:
        self._help: dict[Location, str | None] = {}
        self._waiting: dict[Location, list[Draft]] = {}

    def begin(
        self,
        location: Location,
        message: str,
        help: str | None = None,
        effect: Effect = Effect.NAMED,
        rewrite: Rewriter | None = None,
        jax: OnJax | None = None,
    ) -> Iterator[Draft]:
        """The rule flags `place`; what was consumed before is reported with it."""
        self._help[location] = help
        yield Draft(message, effect, help, location, rewrite=rewrite, jax=jax)
        for draft in self._waiting.pop(location, ()):
            yield Draft(draft.message, draft.effect, help, location, draft.notes)

    def consumed(self, event: Consume) -> Iterator[Draft]:
        """A draft at the place where the shape became dynamic, if this consumer goes wrong with it."""
        origin, consumer = event.tensor.bounded, _hazard(event)
        if origin is None or consumer is None:
            return
        what = f"`{brief(event.location.node)}` {consumer.consequence}"
        draft = Draft(
            f"`{brief(origin.location.node)}` has a bounded dynamic shape, and {what}",
            consumer.effect,
            self._help.get(origin.location),
            origin.location,
            (DraftNote(event.location, what, event.consumer),),
        )
        if origin.location in self._help:
            yield draft
        else:
            self._waiting.setdefault(origin.location, []).append(draft)


def _hazard(event: Consume) -> Consumer | None:
    if event.consumer == "index":
        return _index_hazard(event)
    consumer = CONSUMERS.get(event.consumer)
    return consumer if consumer is not None and _FORMS[consumer.when](event) else None


def _index_hazard(event: Consume) -> Consumer | None:
    """What the items of a subscript do that meet a bounded axis."""
    index = tuple(event.arguments.values())
    return next(filter(None, map(_item_hazard, meeting(event.tensor, index))), None)


def _item_hazard(item: Value) -> Consumer | None:
    match item:
        case Static(constant=int() as position) if position < 0:
            return INDEXING["negative"]
        case Slice(step=Static(constant=int() as step)) if step != 1:
            return INDEXING["stride"]
        case Slice(start=Static(constant=int() as start)) if start < 0:
            return INDEXING["tail"]
        case _:
            return None


def _axes(event: Consume) -> Axes:
    """The bounded axes of the tensor: the first, where they are not known."""
    origin = event.tensor.bounded
    known = origin.axes if origin is not None else None
    return FIRST if known is None else counted(known, event.tensor.rank)


def _along_a_bounded_axis(event: Consume) -> bool:
    """The axis of the call is a bounded one; without an argument it is the first, or all of them one after another."""
    axis = event.arguments.get("axis", NONE)
    named = (0,) if axis == NONE else numbers_of(axis)
    return named is not None and bool(counted(named, event.tensor.rank) & _axes(event))


def _square(event: Consume) -> bool:
    """A matrix of which neither side is static."""
    rank, axes = event.tensor.rank, _axes(event)
    return len(axes) > 1 if rank is None else axes >= {rank - 1, rank - 2}


def _inside(event: Consume) -> bool:
    """Bounded along an axis that is not the first, of a condition for which nothing is chosen."""
    return not {"x", "y", "x1", "x2"} & event.arguments.keys() and bool(_axes(event) - FIRST)


def _to_a_full_shape(event: Consume) -> bool:
    match event.arguments.get("shape", event.arguments.get("newshape")):
        case Sequence(items=(_, *_) as items):
            return all(isinstance(item, Static) and item.constant not in (-1, None) for item in items)
        case _:
            return False


_FORMS: Final[Mapping[str, Callable[[Consume], bool]]] = {
    "always": lambda event: True,
    "along": _along_a_bounded_axis,
    "square": _square,
    "inside": _inside,
    "no axis": lambda event: not {"axis", "squeeze_dims"} & event.arguments.keys(),
    "filled": lambda event: event.tensor.dependence is not Dependence.VALUE,
    "full shape": _to_a_full_shape,
}
