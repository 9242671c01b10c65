"""Whether a difference is one of rounding: as great as one that inputs make which are changed in their last digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..backends import backend
from .compare import Leaf, close, is_exact

_LAST_DIGITS: Final = 4.0  # units in the last place, by which inputs are disturbed
_ROUNDING: Final = 16.0  # times what a change of the inputs in their last digits changes
# The share of the greatest number of a result by which inexact arithmetic is taken to change it.
_INEXACT: Final = 0.02
_CHANCES: Final = 4


def disturbed(given: Any) -> Any:
    """Arguments whose floating tensors are changed in their last digits."""
    random = np.random.default_rng(0)

    def change(part: Any) -> Any:
        if not backend.is_tensor(part) or not backend.is_floating(part):
            return part
        dtype = np.dtype(backend.dtype_name(part.dtype))
        unit = _LAST_DIGITS * float(np.finfo(dtype).eps) if dtype.itemsize > 2 else 2.0**-7
        signs = random.choice([-unit, unit], size=part.shape)
        return part * backend.tensor_of(1.0 + signs, dtype.name)

    return backend.map_structure(change, given)


def rounding(
    expected: Sequence[Leaf], actual: Sequence[Leaf], moved: Sequence[Leaf], at_most: float = math.inf
) -> bool:
    """Whether results differ no more than those of inputs that were changed in their last digits, and by `at_most` this
    share of the greatest number.

    Sums that nearly cancel, and everything behind them, are as inexact as that in any order of evaluation.
    """
    if not len(expected) == len(actual) == len(moved):
        return False
    for one, two, three in zip(expected, actual, moved, strict=True):
        if one.array is None or two.array is None or three.array is None:
            continue
        if not one.array.shape == two.array.shape == three.array.shape:
            return False
        if close(one.array, two.array):
            continue
        if is_exact(one.array) or one.array.dtype.kind in "iu":
            return False
        with np.errstate(all="ignore"):
            allowed = _ROUNDING * np.fmax.reduce(np.abs(three.array - one.array), axis=None, initial=0.0)
            allowed = min(allowed, at_most * np.max(np.abs(one.array), initial=0.0)) if at_most < math.inf else allowed
            if not (np.abs(two.array - one.array) <= allowed).all():
                return False
    return True


def inexact(expected: Sequence[Leaf], actual: Sequence[Leaf], moved: Callable[[int], Sequence[Leaf]]) -> bool:
    """Whether results differ a little, and no more than those of arithmetic that is changed in its last digits, by one
    of some chances."""
    return any(rounding(expected, actual, moved(seed), at_most=_INEXACT) for seed in range(_CHANCES))
