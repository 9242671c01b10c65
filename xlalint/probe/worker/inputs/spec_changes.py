"""Tensors like others, of another dtype, rank or size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import Final

from xlalint.sources.specs import Spec, spec

from .error_clues import MOST_RANK
from .numbers import SIZE
from .tensors import FORMS

LARGEST: Final = 1 << 18  # elements of a tensor


def of_dtype(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype)


def of_rank(one: Spec, rank: int) -> Spec:
    """With the sizes that it has of its last axes."""
    kept = one.shape()[-rank:] if rank else ()
    return spec(one.dtype, *(SIZE,) * (rank - len(kept)), *kept, style=one.style if one.style in FORMS else "")


def less(one: Spec, ranks: int) -> Spec:
    return of_rank(one, max(len(one.dims) - ranks, 0))


def as_float(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype) if one.dtype.startswith("float") else one


def of_equal_sizes(one: Spec, apart: Iterable[tuple[int, int]]) -> Iterator[Spec]:
    """With another size of one axis, where some sizes are to be equal and are not."""
    shape = one.shape()
    for size, other in (pair for sizes in apart for pair in (sizes, sizes[::-1])):
        for axis in reversed(range(len(shape))):
            made = (*shape[:axis], other, *shape[axis + 1 :])
            if shape[axis] == size and prod(made) <= LARGEST:
                yield spec(one.dtype, *made, style=one.style)


def is_other(shape: tuple[int, ...], known: tuple[int, ...]) -> bool:
    """Whether a shape is another one, which a small tensor may have."""
    return shape != known and 0 not in shape and len(shape) <= MOST_RANK and prod(shape) <= LARGEST


def _grown(*axes: int) -> Callable[[Spec], Spec]:
    """Longer at some axes."""

    def longer(spec: Spec) -> Spec:
        chosen = {axis % len(spec.dims) for axis in axes if -len(spec.dims) <= axis < len(spec.dims)}
        dims = tuple(
            (first + 1, last + 1) if axis in chosen else (first, last) for axis, (first, last) in enumerate(spec.dims)
        )
        return replace(spec, dims=dims)

    return longer


LONGER: Final[tuple[Callable[[Spec], Spec], ...]] = (
    _grown(0),
    _grown(1),
    _grown(0, 1),
    _grown(1, 2),
    _grown(-2),
    _grown(-1),
    _grown(-1, -2),
    lambda spec: replace(spec, dims=tuple((first * 2, last * 2) for first, last in spec.dims)),
    _grown(0, 1, 2, 3, 4),
)
