"""What the rules about bounded dynamic shapes share: who made one, and what goes wrong with it further on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from xlalint.analysis.domain.bounds import FIRST, Axes, counted, meeting, numbers_of
from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import (
    NONE,
    Array,
    Dependence,
    Origin,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Value,
)
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ApiCall, Consume
from xlalint.facts.consumers import CONSUMERS, INDEXING, Consumer
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewriter
from xlalint.linter.rule import Draft, DraftNote, Effect, OnJax
from xlalint.syntax import nodes as cst

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
        self._known: dict[Location, tuple[str | None, Rewriter | None]] = {}
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
        yield Draft(message, effect, help, location, rewrite=rewrite, jax=jax)
        yield from self.follow(location, help)

    def follow(self, location: Location, help: str | None = None, rewrite: Rewriter | None = None) -> Iterator[Draft]:
        """The rule is about the shape that becomes dynamic there, of which perhaps nothing is to be said but what goes
        wrong with it."""
        self._known[location] = help, rewrite
        for draft in self._waiting.pop(location, ()):
            yield replace(draft, help=help, rewrite=rewrite)

    def consumed(self, event: Consume) -> Iterator[Draft]:
        """A draft at the place where the shape became dynamic, if this consumer goes wrong with it."""
        origin, consumer = event.tensor.bounded, _hazard(event)
        if origin is None or consumer is None:
            return
        what = f"`{brief(event.location.node)}` {consumer.consequence}"
        help, rewrite = self._known.get(origin.location, (None, None))
        draft = Draft(
            f"`{brief(origin.location.node)}` has a bounded dynamic shape, and {what}",
            consumer.effect,
            help,
            origin.location,
            (DraftNote(event.location, what, event.consumer),),
            rewrite=rewrite,
        )
        if origin.location in self._known:
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


def _is_cut(event: Consume) -> bool:
    """Whether something may have made the bound smaller, as a slice to a constant end does: it may be what is asked."""
    origin = event.tensor.bounded
    return origin is not None and origin.extent not in (0, 1)


def _to_a_full_shape(event: Consume) -> bool:
    if _is_cut(event):
        return False
    match event.arguments.get("shape", event.arguments.get("newshape")):
        case Sequence(items=(_, *_) as items):
            return all(_is_number(item, _is_of_window(event)) for item in items)
        case _:
            return False


def _is_number(size: Value, of_window: bool) -> bool:
    """Whether a dimension is given that XLA knows. It also knows what is computed of shapes: that may be as much as the
    upper bound of a selection, which has taken everything, but not of a window."""
    match size:
        case Static(constant):
            return constant not in (-1, None)
        case _:
            return of_window and isinstance(size, Tensor) and size.dependence <= Dependence.SHAPE


def _is_of_window(event: Consume) -> bool:
    """Whether a slice has made the shape a bounded dynamic one."""
    origin = event.tensor.bounded
    match origin and origin.location.node:
        case cst.Subscript(slice=elements):
            return any(isinstance(element.slice, cst.Slice) for element in elements)
        case _:
            return False


def _to_a_fixed_shape(event: Consume) -> bool:
    if _is_cut(event):
        return False
    match event.arguments.get("shape"):
        case Sequence(items=tuple(items)):
            return any(
                axis < len(items) and isinstance(size := items[axis], Static) and size.constant is not None
                for axis in _axes(event)
            )
        case _:
            return False


def _squeezed(event: Consume) -> bool:
    """No axis is given, or a bounded one, of which no cut has made a single element."""
    if not {"axis", "squeeze_dims"} & event.arguments.keys():
        return True
    named = numbers_of(event.arguments.get("axis", event.arguments.get("squeeze_dims")))
    origin = event.tensor.bounded
    whole = origin is not None and origin.axes is not None and not _is_cut(event)
    return whole and bool(counted(named or (), event.tensor.rank) & _axes(event))


def _summed_over(event: Consume) -> bool:
    """The axis that a product of two matrices sums over is bounded on one side, and on the other one it is not."""
    match event.node, [*event.arguments.values()]:
        case cst.BinaryOperation(operator=sign), _ if not isinstance(sign, cst.MatrixMultiply):
            return False
        case cst.BinaryOperation() | cst.Call(), [left, right]:
            return (_is_bounded(left, 1) and _is_whole(right)) or (_is_bounded(right, 2) and _is_whole(left))
        case _:
            return False


def _is_whole(side: Value) -> bool:
    return isinstance(side, Array | Structure) or (isinstance(side, Tensor) and side.bounded is None)


def _is_bounded(side: Value, place: int) -> bool:
    """Whether one of the last axes, counted from the end, is one of which it is known that it is bounded."""
    match side:
        case Tensor(rank=rank, bounded=Origin(axes=frozenset() as axes)):
            return not axes.isdisjoint({-place, (rank or 0) - place})
        case _:
            return False


def _of_an_image(event: Consume) -> bool:
    """Bounded in height or width, of one image or of a batch of them; where nobody knows which, in what is one of both
    for either."""
    sides = {3: {0, 1}, 4: {1, 2}, None: {1}}.get(event.tensor.rank, set())
    origin = event.tensor.bounded
    return origin is not None and origin.axes is not None and not sides.isdisjoint(_axes(event))


_FORMS: Final[Mapping[str, Callable[[Consume], bool]]] = {
    "always": lambda event: True,
    "along": _along_a_bounded_axis,
    "square": _square,
    "inside": _inside,
    "squeezed": _squeezed,
    "summed over": _summed_over,
    "filled": lambda event: event.tensor.dependence is not Dependence.VALUE,
    "full shape": _to_a_full_shape,
    "fixed": _to_a_fixed_shape,
    "image": _of_an_image,
}
