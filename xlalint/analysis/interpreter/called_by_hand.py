"""Layers whose `call` the project calls itself, past Keras: `self.head.call(x, 16)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..domain.values import FunctionValue, Static, Value
from .contexts import NOT_TRACED
from .frames import Arguments, Frame

_KINDS: Final = ("layer", "model")


def is_called_by_hand(frame: Frame | None, value: FunctionValue, arguments: Arguments) -> bool:
    """Whether the arguments of a layer's `call` are seen: a step that is traced passes them, or host code passes Python
    numbers besides the inputs, where Keras would pass no tensors either. A `call` that overrides another passes on what
    it was passed."""
    function = value.function
    if frame is None or function.name != "call" or function.owner is None:
        return False
    if not any(map(function.owner.is_keras, _KINDS)) or _overrides(frame, value):
        return False
    return frame.context.kind not in NOT_TRACED or any(isinstance(one, Static) for one in _beside_inputs(arguments))


def _overrides(frame: Frame, value: FunctionValue) -> bool:
    return frame.function is not None and frame.function.name == "call" and frame.bound is value.bound


def _beside_inputs(arguments: Arguments) -> Iterator[Value]:
    yield from arguments.positional[1:]
    yield from (value for name, value in arguments.keywords.items() if name != "training")
