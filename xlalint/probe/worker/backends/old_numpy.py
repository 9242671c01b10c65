"""What NumPy has taken away since 1.24, under its old names: code that is written for it says `np.int` where it means
Python's own, and would not even be imported beside a NumPy of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

_OLD: Final[Mapping[str, Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "object": object,
    "str": str,
    "unicode": str,
    "float_": np.float64,
    "complex_": np.complex128,
    "unicode_": np.str_,
    "string_": np.bytes_,
    "NaN": np.nan,
    "Inf": np.inf,
    "Infinity": np.inf,
    "infty": np.inf,
    "PINF": np.inf,
    "NINF": -np.inf,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "alltrue": np.all,
    "sometrue": np.any,
    "round_": np.round,
    "row_stack": np.vstack,
    "mat": np.asmatrix,
}


def give_old_names() -> None:
    """From now on NumPy has them, where it has no others of these names."""
    known = dir(np)
    vars(np).update({name: value for name, value in _OLD.items() if name not in known})
