"""The variables that a call may change, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends import backend


class State:
    """The variables that a call may change: eager and compiled calls start from the same ones."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self._variables = list({id(one): one for one in variables}.values())
        self._last: list[Any] = [None] * len(self._variables)
        self._saved = self.values()

    def values(self) -> list[Any]:
        """What the variables hold now; what did not change since the last time is the same object."""
        now = (getattr(one, "value", one) for one in self._variables)
        held = [np.asarray(one() if callable(one) else one) for one in now]
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
