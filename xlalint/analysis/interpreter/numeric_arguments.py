"""Arguments of library functions that are Python numbers, so that no parameter passed there is a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..domain.values import Sequence, Static, Value
from .frames import Frame
from .interface import Interpreter

_NUMBERS: Final = ("axis", "axes", "num_or_size_splits", "perm")


def refute_numbers(interpreter: Interpreter, frame: Frame, bound: Mapping[str, Value]) -> None:
    """What is an axis is no tensor, nor is the number of parts that something is split into, which raises for a tensor
    (measured), nor the size of a part beside others that are written."""
    for parameter in _NUMBERS:
        if parameter in bound:
            interpreter.refute_tensor(frame, bound[parameter])
    match bound.get("num_or_size_splits"):
        case Sequence(items=tuple(sizes)) if any(isinstance(size, Static) and size.known for size in sizes):
            for size in sizes:
                interpreter.refute_tensor(frame, size)
