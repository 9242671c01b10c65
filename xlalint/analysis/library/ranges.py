"""How many numbers NumPy makes between two ends: in steps, or so many of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from ..domain.counts import Rows
from ..domain.kinds import rows_of
from ..domain.values import Static, Value

_SPACED: Final = frozenset(("np.geomspace", "np.linspace", "np.logspace"))
_DEFAULT: Final = 50
_MOST: Final = 1 << 40  # what is larger is no length
RANGES: Final = _SPACED | {"np.arange"}


def count_of(name: str, arguments: Mapping[str, Value]) -> Rows | None:
    """The length of what one of `RANGES` makes, where it is known."""
    if name in _SPACED:
        number = arguments.get("num", arguments.get("*2", Static(_DEFAULT)))
        return None if _is_list(arguments) else rows_of(number)
    places = (("start", "*0"), ("stop", "*1"), ("step", "*2"))
    bounds = [arguments[name] for names in places for name in names if name in arguments]
    if len(bounds) == 1:
        return rows_of(bounds[0])
    numbers = [bound.constant for bound in bounds if isinstance(bound, Static) and type(bound.constant) in (int, float)]
    if not 1 < len(numbers) == len(bounds) or numbers[2:] == [0] or not all(abs(each) < _MOST for each in numbers):
        return None
    start, stop, step = map(float, (*numbers, 1)[:3])
    return max(math.ceil((stop - start) / step), 0)


def _is_list(arguments: Mapping[str, Value]) -> bool:
    """Whether an end is no number: a row of numbers each."""
    ends = [arguments[name] for name in ("start", "stop", "*0", "*1") if name in arguments]
    return not all(isinstance(end, Static) for end in ends)
