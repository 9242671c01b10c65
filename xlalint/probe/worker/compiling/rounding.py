"""Whether a difference is one of rounding: as great as one that inputs make which are changed in their last digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..backends import backend
from .compare import Leaf, close, is_exact

_LAST_DIGITS: Final = 4.0  # units in the last place, by which inputs are disturbed
_ROUNDING: Final = 16.0  # times what a change of the inputs in their last digits changes


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


def rounding(expected: Sequence[Leaf], actual: Sequence[Leaf], moved: Sequence[Leaf]) -> bool:
    """Whether results differ no more than those of inputs that were changed in their last digits.

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
            allowed = _ROUNDING * np.max(np.abs(three.array - one.array), initial=0.0)
            if not (np.abs(two.array - one.array) <= allowed).all():
                return False
    return True
