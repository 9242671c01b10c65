"""Watches eager calls: the primitives that run, and where Python reads an array, which has no content while traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, Final

import jax
import numpy as np
from jax._src import array, core

from xlalint.probe.protocol import FAILS, Observation

from ...backends.interface import Array
from ...code.user_lines import UserLines
from ..evidence import STATIC
from ..program import Watcher

# How Python reads an array, in words. Where one is iterated over or its length is asked for, a tracer answers, too.
READS: Final = {
    "__bool__": "for the truth of an array",
    "__int__": "for an array as an integer",
    "__float__": "for an array as a number",
    "__complex__": "for an array as a number",
    "__index__": "for an array as an index",
    "__array__": "for an array as one of NumPy",
    "item": "for the content of an array",
    "tolist": "for the content of an array",
}
_ASKED: Final = "for the value of an array, which has to be known when it is compiled"
# Where JAX refuses a tracer as a mask. Elsewhere what is not concrete takes another way.
_INDEXING: Final = "jax._src.numpy.indexing"
# What JAX itself calls where it needs a value; it refuses a tracer.
_CONCRETE: Final = ("concrete_or_error", "concrete_dim_or_error")


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of all that runs eagerly in the body."""
    owner: Any = array.ArrayImpl
    inside = [False]  # one read leads to others
    with ExitStack() as undo:
        for name in READS:
            if hasattr(owner, name):
                own = getattr(owner, name)
                undo.callback(setattr, owner, name, own)
                setattr(owner, name, _reading(watcher, name, own, inside))
        for name in _CONCRETE:
            own = getattr(core, name)
            undo.callback(setattr, core, name, own)
            setattr(core, name, _asking(watcher, own))
        own = core.is_concrete
        undo.callback(setattr, core, "is_concrete", own)
        core.is_concrete = _masking(watcher, own)
        plain = core.EvalTrace.process_primitive
        undo.callback(setattr, core.EvalTrace, "process_primitive", plain)

        def ran(trace: Any, primitive: Any, inputs: Any, parameters: Any) -> Any:
            result = plain(trace, primitive, inputs, parameters)
            outputs = result if primitive.multiple_results else [result]
            watcher.ran(primitive.name, inputs, parameters, outputs, sys._getframe(1))
            return result

        core.EvalTrace.process_primitive = ran
        yield


def _reading(watcher: Watcher, name: str, plain: Callable[..., Any], inside: list[bool]) -> Callable[..., Any]:
    def read(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        if inside[0]:
            return plain(tensor, *arguments, **keywords)
        inside[0] = True
        try:
            watcher.read(name, tensor, sys._getframe(1))
            return plain(tensor, *arguments, **keywords)
        finally:
            inside[0] = False

    return read


def _asking(watcher: Watcher, plain: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*arguments: Any, **keywords: Any) -> Any:
        for one in arguments:
            if isinstance(one, jax.Array) and not isinstance(one, core.Tracer):
                watcher.read(STATIC, one, sys._getframe(1))
        return plain(*arguments, **keywords)

    return asked


def _masking(watcher: Watcher, plain: Callable[..., Any]) -> Callable[..., Any]:
    def asked(value: Any) -> Any:
        frame = sys._getframe(1)
        if frame.f_globals.get("__name__") == _INDEXING and _is_mask(value):
            watcher.read(STATIC, value, frame)
        return plain(value)

    return asked


def _is_mask(value: Any) -> bool:
    return isinstance(value, jax.Array) and not isinstance(value, core.Tracer) and value.dtype == bool


def names_of(kind: str, inputs: Sequence[Any], attributes: Any) -> Iterable[str]:
    """For each input of a primitive, what it is called: they have no names."""
    return (f"input {index}" for index in range(len(inputs)))


def content_of(value: Any) -> Array | None:
    """The values of an array, read by no method that is watched."""
    if isinstance(value, jax.Array) and not isinstance(value, core.Tracer):
        return np.asarray(value) if not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key) else None
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic | bool | int | float) else None


class Refused:
    """Watches one eager call, whose arguments are the arrays `given`, for what a trace would refuse."""

    def __init__(self, user_lines: UserLines, given: list[Any]) -> None:
        self._user_lines = user_lines
        self._kept = list(given)  # as long as they live, no other object has their identity
        self._made = {id(one) for one in given}
        self.seen: dict[Observation, None] = {}

    def ran(self, kind: str, inputs: Any, attributes: Any, outputs: Any, frame: FrameType) -> None:
        """See `Watcher`. What a primitive makes, a trace would make as well."""
        self._kept += outputs
        self._made.update(map(id, outputs))

    def read(self, how: str, tensor: Any, frame: FrameType) -> None:
        """See `Watcher`."""
        if id(tensor) not in self._made:
            return
        if how == STATIC or self._user_lines.owns(frame.f_code.co_filename):
            said = f"tracing would fail here, too: Python asks {READS.get(how, _ASKED)}"
            if spots := self._user_lines.called_from(frame):
                self.seen.setdefault(Observation(FAILS, said, spots))
