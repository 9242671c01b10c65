"""Watches eager calls: the operations that run, and where Python reads a tensor, which has no content while traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.framework import op_callbacks, op_def_registry, ops  # type: ignore[import-untyped]

from ...backends.interface import Array
from ..program import Watcher

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


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of all that runs eagerly in the body."""
    owner = ops.EagerTensor.__mro__[1]  # the class in C takes no attributes, the one below does
    before = {name: getattr(owner, name) for name in READS}
    own = {name for name in READS if name in vars(owner)}

    def ran(
        op: str | bytes, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:  # the last two by these names, where a graph is built
        if graph is None:  # by the way that it was run, the name of the operation is of either type
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


def names_of(kind: str, inputs: Sequence[Any], attributes: Any) -> Iterator[str]:
    """For each input of an operation, the name of the argument that it is, or is one of."""
    definition = op_def_registry.get(kind)
    given = dict(zip(attributes[::2], attributes[1::2], strict=True)) if attributes else {}
    count = 0
    for one in definition.input_arg if definition is not None else ():
        number = 1
        if one.number_attr:
            number = int(given.get(one.number_attr, len(inputs) - count))
        elif one.type_list_attr:
            number = len(given.get(one.type_list_attr, inputs[count:]))
        for _ in range(min(number, len(inputs) - count)):
            count += 1
            yield one.name
    yield from (f"input {index}" for index in range(count, len(inputs)))


def content_of(value: Any) -> Array | None:
    """The values of a tensor, read by no method that is watched."""
    if not tf.is_tensor(value) or value.dtype in (tf.resource, tf.variant):
        return None
    return np.asarray(value._numpy())
