"""Which parameters of library calls decide a shape, so that what is passed is mostly a Python number."""

from __future__ import annotations

from functools import cache
from typing import Final

from ...facts import tables
from ...facts.names import parameters

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
    follows = () if fact is None else (one for case in fact.cases for one in case.follows.items())
    found = PYTHON_VALUES.union(parameter for parameter, one in follows if one.resizes)
    own = parameters(name)
    return found if own is None else found.intersection(own)
