"""Which parameters of library calls decide a shape, so that what is passed is mostly a Python number."""

from __future__ import annotations

from functools import cache
from typing import Final

from ...facts import tables

# What the parameters are called that JAX takes Python values for.
PYTHON_VALUES: Final = frozenset(
    (
        *("axes", "axis", "axis1", "axis2", "bins", "destination", "indices_or_sections", "k", "kth", "limit_index"),
        *("limit_indices", "n", "N", "newshape", "new_shape", "new_sizes", "num", "num_segments", "shape", "size"),
        *("sizes", "slice_size", "slice_sizes", "source", "*0", "*1", "*2"),
    )
)


@cache
def size_parameters(name: str) -> frozenset[str]:
    """The parameters of a call that decide a shape: as it was measured, or as they are called."""
    fact = tables.api(name)
    if fact is None:
        return PYTHON_VALUES
    resizing = (follows for case in fact.cases for follows in case.follows.items())
    return PYTHON_VALUES.union(parameter for parameter, one in resizing if one.resizes)
