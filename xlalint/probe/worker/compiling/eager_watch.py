"""Watches eager calls: the operations that run, and where Python reads a tensor, which has no content while traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Protocol

from tensorflow.python.framework import op_callbacks, ops  # type: ignore[import-untyped]

# How Python reads a tensor, in words, and whether AutoGraph comes between: it converts statements and these builtins.
READS: Final = {
    "__bool__": ("for the truth of a tensor", True),
    "__int__": ("for a tensor as an integer", True),
    "__float__": ("for a tensor as a number", True),
    "__index__": ("for a tensor as an index", True),
    "__iter__": ("to iterate over a tensor", True),
    "__len__": ("for the length of a tensor", True),
    "__array__": ("for a tensor as an array", False),
    "numpy": ("for the content of a tensor", False),
}


class Watcher(Protocol):
    """Who is told what happens."""

    def ran(self, kind: str, inputs: Any, attributes: Any, outputs: Any, frame: FrameType) -> None:
        """An operation ran, asked for by what `frame` executes."""

    def read(self, how: str, tensor: Any, frame: FrameType) -> None:
        """Python reads a tensor, by the method `how`."""


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of all that runs eagerly in the body."""
    owner = ops.EagerTensor.__mro__[1]  # the class in C takes no attributes, the one below does
    before = {name: getattr(owner, name) for name in READS}
    own = {name for name in READS if name in vars(owner)}

    def ran(op: str | bytes, inputs: Any, attributes: Any, outputs: Any, name: Any = None, graph: Any = None) -> None:
        if graph is None:  # by the way that it was run, the name is of either type
            watcher.ran(op.decode() if isinstance(op, bytes) else op, inputs, attributes, outputs, sys._getframe(1))

    for name in READS:
        setattr(owner, name, _reading(watcher, name, before[name]))
    op_callbacks.add_op_callback(ran)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(ran)
        for name in READS:
            if name in own:
                setattr(owner, name, before[name])
            elif name in vars(owner):
                delattr(owner, name)


def _reading(watcher: Watcher, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def read(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        asking = _asking(sys._getframe(1))
        if asking is not None:
            watcher.read(name, tensor, asking)
        return plain(tensor, *arguments, **keywords)

    return read


def _asking(frame: FrameType | None) -> FrameType | None:
    """The frame that asks, behind NumPy's own."""
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "numpy":
        frame = frame.f_back
    return frame
