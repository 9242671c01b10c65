"""Are two results equal? Shapes, dtypes, and values up to rounding; NaN equals NaN. Imports no TensorFlow."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

# Relative and absolute, by the bytes of one (real) number.
TOLERANCES: Final = {1: 6e-2, 2: 1e-2, 4: 1e-4, 8: 1e-7}


@dataclass(frozen=True)
class Leaf:
    """One part of a result. `array` None: nothing that can be compared, only its `type` is."""

    type: str
    array: np.ndarray[Any, Any] | None
    tensor: bool = True


def difference(
    expected: Sequence[Leaf],
    actual: Sequence[Leaf],
    *,
    random: Container[int] = (),
    signs: bool = True,
    padded: bool = False,
) -> str:
    """What differs, in words; nothing when equal. Of the parts at `random`, only shapes and dtypes are compared.

    `signs` False: numbers of opposite sign are equal. `padded`: what is behind that which is expected does not count.
    """
    if len(expected) != len(actual):
        return f"{len(actual)} results instead of {len(expected)}"
    for place, (one, other) in enumerate(zip(expected, actual, strict=True)):
        other = _unpadded(one, other) if padded else other
        told = _leaf_difference(one, other, place not in random, signs)
        if told:
            return told if len(expected) == 1 else f"result {place}: {told}"
    return ""


def _unpadded(expected: Leaf, actual: Leaf) -> Leaf:
    """A result without what is behind that which is expected."""
    left, right = expected.array, actual.array
    if left is None or right is None or left.ndim != right.ndim:
        return actual
    return replace(actual, array=right[tuple(slice(size) for size in left.shape)])


def _leaf_difference(expected: Leaf, actual: Leaf, values: bool, signs: bool) -> str:
    left, right = expected.array, actual.array
    if left is None or right is None:
        same = (left is None) == (right is None) and expected.type == actual.type
        return "" if same else f"{actual.type} instead of {expected.type}"
    if left.shape != right.shape:
        return f"shape {list(right.shape)} instead of {list(left.shape)}"
    if expected.tensor and actual.tensor and left.dtype != right.dtype:
        return f"dtype {actual.type} instead of {expected.type}"
    if not values or close(left, right) or (not signs and close(np.abs(left), np.abs(right))):
        return ""
    return _example(left, right)


def close(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    """Equal up to rounding."""
    if is_exact(left) or is_exact(right):
        return bool(np.array_equal(left, right))
    return not _apart(left, right).any()


def is_exact(array: np.ndarray[Any, Any]) -> bool:
    """Whether values of this type are equal or not, with nothing between."""
    return array.dtype.kind in "OSUb"


def _apart(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which numbers differ by more than rounding."""
    tolerance = max(_tolerance(left), _tolerance(right))
    wide = [one.astype(np.complex128 if one.dtype.kind == "c" else np.float64) for one in (left, right)]
    with np.errstate(all="ignore"):
        return ~np.asarray(np.isclose(wide[1], wide[0], rtol=tolerance, atol=tolerance, equal_nan=True))


def _tolerance(array: np.ndarray[Any, Any]) -> float:
    if array.dtype.kind in "iu":
        return 0.0
    return TOLERANCES.get(array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1), TOLERANCES[8])


def _example(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> str:
    """The first place where two arrays differ."""
    apart = left != right if is_exact(left) or is_exact(right) else _apart(left, right)
    place = tuple(int(index) for index in np.argwhere(apart)[0]) if apart.shape else ()
    where = f"{'[' + ', '.join(map(str, place)) + '] of ' if place else ''}"
    return f"{where}{list(left.shape)} is {_number(right[place])} instead of {_number(left[place])}"


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
