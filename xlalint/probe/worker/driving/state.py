"""The variables that a call may change, and what they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ..backends import backend
from .keras_objects import variables_in

_DEEPEST: Final = 4  # of objects and containers that hold variables


class State:
    """The variables that a call may change: eager and compiled calls start from the same ones."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self._variables = [one for one in {id(one): one for one in variables}.values() if _has_value(one)]
        self._last: list[Any] = [None] * len(self._variables)
        self._saved = self.values()

    def values(self) -> list[Any]:
        """What the variables hold now; what did not change since the last time is the same object."""
        held = [_value(one) for one in self._variables]
        self._last = [
            before if before is not None and np.array_equal(before, after) else np.array(after)
            for before, after in zip(self._last, held, strict=True)
        ]
        return self._last

    def restore(self, values: Sequence[Any] | None = None) -> None:
        """Put back what they held at first, or what is given."""
        for variable, value in zip(self._variables, self._saved if values is None else values, strict=True):
            variable.assign(value)

    @property
    def trained(self) -> list[Any]:
        """What a gradient is asked for."""
        owned = (getattr(one, "value", one) for one in self._variables if getattr(one, "trainable", False))
        return [one for one in owned if backend.is_trained(one)]


def _value(variable: Any) -> np.ndarray[Any, Any]:
    now = getattr(variable, "value", variable)
    return np.asarray(now() if callable(now) else now)


def _has_value(variable: Any) -> bool:
    """Whether it can be read: one that was created in a graph which never ran has none."""
    try:
        return bool(_value(variable).shape == tuple(variable.shape))
    except Exception:  # of any kind, by its library
        return False


def variables_held(value: Any, modules: Collection[str]) -> list[Any]:
    """The variables in a value: itself, of a Keras object, and of what containers and objects of classes of these
    modules hold."""
    return list({id(one): one for one in _held(value, modules, 0)}.values())


def _held(value: Any, modules: Collection[str], depth: int) -> Iterator[Any]:
    if found := variables_in(value):
        yield from found
        return
    match value:
        case list() | tuple():
            parts: Sequence[Any] = value
        case dict():
            parts = list(value.values())
        case _ if not isinstance(value, type) and type(value).__module__ in modules:
            parts = list(getattr(value, "__dict__", {}).values())
        case _:
            return
    if depth < _DEEPEST:
        for part in parts:
            yield from _held(part, modules, depth + 1)


def take_over(originals: Sequence[Any], variables: Sequence[Any]) -> None:
    """A rewrite's variables begin with what its original's hold, which was called more often to find its inputs."""
    if [(tuple(one.shape), str(one.dtype)) for one in originals] == [
        (tuple(one.shape), str(one.dtype)) for one in variables
    ]:
        for original, variable in zip(originals, variables, strict=True):
            variable.assign(original)
