"""What the rules about loops share: which loops run under a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from xlalint.analysis.domain.kinds import options
from xlalint.analysis.domain.values import Sequence, Static, Tensor, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.linter.rule import ApiCall, DraftNote
from xlalint.syntax import nodes as cst

GRADIENTS: Final = frozenset(
    (
        "tf.gradients",
        "tf.GradientTape.gradient",
        "tf.GradientTape.jacobian",
        "tf.GradientTape.batch_jacobian",
    )
)
Loop = TypeVar("Loop", bound=Event)


class LoopsUnderGradients(Generic[Loop]):
    """Pairs loops with the gradients that are taken around them, in whatever order the two are heard of."""

    def __init__(self) -> None:
        self._loops: list[Loop] = []
        self._gradients: list[ApiCall] = []

    def gradient(self, gradient: ApiCall) -> Iterator[tuple[Loop, ApiCall]]:
        """A gradient is taken: the loops under it that are known by now, each with it."""
        self._gradients.append(gradient)
        return ((loop, gradient) for loop in self._loops if _runs_under(loop, gradient))

    def loop(self, loop: Loop) -> Iterator[tuple[Loop, ApiCall]]:
        """A loop runs: it with each of the gradients around it that are known by now."""
        self._loops.append(loop)
        return ((loop, gradient) for gradient in self._gradients if _runs_under(loop, gradient))


def has_floats(value: Value) -> bool:
    """Some of the loop's values may be floating point tensors."""
    for option in options(value):
        match option:
            case Sequence(items=tuple(items)):
                found = any(map(has_floats, items))
            case Sequence(element=element):
                found = element is None or has_floats(element)
            case Tensor(dtype=dtype):
                found = dtype not in ("int", "bool", "string")
            case Static(constant):
                found = isinstance(constant, float)
            case _:
                found = True
        if found:
            return True
    return False


def note_of(gradient: ApiCall) -> DraftNote:
    """Where a gradient is taken."""
    return DraftNote(gradient.location, "the gradient is taken here")


def _runs_under(loop: Event, gradient: ApiCall) -> bool:
    """The frames around the loop lead through the one that takes the gradient, there from where its tape records."""
    if gradient.trail is None:
        return loop.location.unit is gradient.location.unit
    location, trail = loop.location, loop.trail
    while trail is not None and trail != gradient.trail:
        location, trail = trail.location, trail.parent
    return trail is not None and _is_recorded(location, gradient)


def _is_recorded(location: Location, gradient: ApiCall) -> bool:
    """The place stands in a block of `with .. as tape`, where the gradient's tape is bound so in the same function."""
    match gradient.node.func:
        case cst.Attribute(value=cst.Name(value=tape)) if location.unit is gradient.location.unit:
            blocks = [one for one in cst.within(location.unit.tree) if isinstance(one, cst.With) and _binds(one, tape)]
            return not blocks or any(one is location.node for block in blocks for one in cst.within(block.body))
        case _:
            return True


def _binds(block: cst.With, name: str) -> bool:
    return any(
        item.asname is not None and isinstance(item.asname.name, cst.Name) and item.asname.name.value == name
        for item in block.items
    )
