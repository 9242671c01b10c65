"""The numbers of a tensor that a spec stands for: drawn so that both sides of a branch are reached, the same at every
draw. Imports no TensorFlow."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from xlalint.sources.specs import BELOW, Spec

SIZE: Final = 4  # of every dimension, as long as nothing speaks against it: equal sizes fit each other

# Values that code may not be made for, whole numbers and others: just beyond a small axis, negative, zero or no number,
# great. Great ones come last: as sizes they may end the process.
# Those are no greater than integers hold, so that one that is cast to an index stays one.
_EXTREME: Final = ((2 * SIZE + 1, 0.0), (-7, -5e4), (0, np.nan), (50_000, 5e4))
_FIRST_EXTREME: Final = 100  # of the numbers of such sets
_MOST_APART: Final = 16

# Sets of values of one shape: half of the signs positive or true, all but one, one, as many again elsewhere; none; all.
VALUE_SETS = 6
_NONE, _ALL = 4, 5


def signs(size: int, value_set: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Which elements are positive or true: both kinds in each of the first four sets, and another number of each."""
    if value_set in (_NONE, _ALL):
        return np.full(size, value_set == _ALL)
    positive = (size // 2, size - 1, min(1, size // 2), max(1, size // 2))[value_set]
    chosen = np.zeros(size, bool)
    chosen[:positive] = True
    if size == 1:
        chosen[:] = value_set % 2 == 0
    return chosen if value_set == 0 else random.permutation(chosen)


def extremes(tensors: int) -> list[int]:
    """The numbers of the sets in which all tensors of a call hold values that code may not be made for, and of those in
    which one of them does: with all of them, it may not come far."""
    whose = range(1 + (min(tensors, _MOST_APART) if tensors > 1 else 0))
    return [_FIRST_EXTREME + kind + len(_EXTREME) * one for kind in range(len(_EXTREME)) for one in whose]


def _extreme_values(value_set: int, position: int) -> tuple[int, float] | None:
    """What a tensor holds in a set of extremes, as a whole number and as another; None for nothing special."""
    if value_set < _FIRST_EXTREME:
        return None
    one, kind = divmod(value_set - _FIRST_EXTREME, len(_EXTREME))
    return _EXTREME[kind] if one in (0, position + 1) else None


def further(value_set: int, position: int) -> int:
    """How much further what a sparse tensor holds lies in a set of extremes: beyond all of what goes with it."""
    beyond, _ = _EXTREME[0]
    return beyond if _extreme_values(value_set, position) == _EXTREME[0] else 0


def like_seen(values: np.ndarray[Any, Any], value_set: int, position: int) -> np.ndarray[Any, Any]:
    """Values like those that were seen somewhere: smaller, in another order, all alike. Whole numbers stay such. Of a
    set of extremes, those of the tensor at a position."""
    if value_set >= _FIRST_EXTREME:
        extreme, is_integer = _extreme_values(value_set, position), np.issubdtype(values.dtype, np.integer)
        return (
            values
            if extreme is None or values.dtype.kind not in "iuf"
            else np.full_like(values, extreme[not is_integer])
        )
    if value_set % 2 == 0:
        return np.roll(values.ravel(), value_set // 2).reshape(values.shape)
    if values.dtype == bool:
        return ~values
    if np.issubdtype(values.dtype, np.integer):
        less = (value_set + 1) // 2
        return np.asarray(np.maximum(values, less) - less)
    return np.asarray(values / (1 + value_set)) if np.issubdtype(values.dtype, np.inexact) else values


def numbers(spec: Spec, variant: int, value_set: int, position: int) -> np.ndarray[Any, Any]:
    """The values of one tensor, to be cast to its dtype. Integers are 1, 2 or 3: valid as sizes and as indices of most
    axes."""
    shape = spec.shape(variant)
    size = int(np.prod(shape))
    is_integer = spec.dtype.startswith(("int", "uint"))
    below = BELOW.fullmatch(spec.style)
    extreme = _extreme_values(value_set, position)
    if extreme is not None and not below and (is_integer or spec.dtype.startswith(("float", "bfloat"))):
        return np.full(shape, extreme[not is_integer])
    value_set = 0 if value_set >= _FIRST_EXTREME else value_set
    random = np.random.default_rng([position, value_set, variant])
    if spec.dtype == "bool" or spec.style == "flags":
        values: Any = signs(size, value_set, random)
    elif spec.style == "sorted":
        values = np.sort(signs(size, value_set, random))
    elif is_integer and below:
        limit = int(below[1])
        values = np.array([_single(value_set, position) % limit]) if size == 1 else random.integers(0, limit, size)
    elif is_integer or spec.dtype == "string":
        values = np.array([1 + _single(value_set, position) % 3]) if size == 1 else random.integers(1, 4, size)
    else:
        magnitude = random.uniform(0.25, 2.0, size) * (8.0 if value_set == 1 else 1.0)
        values = _styled(spec.style, magnitude, shape)
        if values is None:
            values = np.where(signs(size, value_set, random), magnitude, -magnitude)
    if spec.dtype == "string":
        values = np.array(["one", "two", "three"], object)[values - 1]
    made: np.ndarray[Any, Any] = values.reshape(shape)
    return made


def _single(value_set: int, position: int) -> int:
    """A whole number that stands alone: another one in each set, and of two of them each is the larger one in some."""
    return value_set + position * (1 + value_set // 3)


def _styled(style: str, magnitude: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    """Numbers of the kind that a spec names; None for those of both signs."""
    if style == "unit":
        return magnitude / (1.0 + magnitude.max(initial=0.0))
    if style == "positive":
        return magnitude
    if style == "definite" and len(shape) >= 2 and shape[-1] == shape[-2]:
        rows = magnitude.reshape(shape) / (1.0 + magnitude.max(initial=0.0))
        return rows @ np.swapaxes(rows, -1, -2) + np.eye(shape[-1])
    return None
