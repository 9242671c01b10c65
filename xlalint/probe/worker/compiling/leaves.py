"""What a result is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends import backend
from .compare import Leaf


def leaves(result: Any) -> list[Leaf]:
    """The parts of a result in order, whatever it is made of."""
    return [_leaf(part) for part in backend.flatten(result)]


def _leaf(part: Any) -> Leaf:
    if (known := backend.content(part)) is not None:
        return Leaf(*known)
    if isinstance(part, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return Leaf(type(part).__name__, np.asarray(part), tensor=False)
    return Leaf(type(part).__name__, None)
