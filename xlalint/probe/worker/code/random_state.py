"""The generators of random numbers that Python and NumPy share among all code."""

from __future__ import annotations

import random

import numpy as np


def random_state() -> object:
    """What changes with each number that is drawn."""
    _, keys, *numpy = np.random.get_state(legacy=True)
    *_, python = random.getstate()[1]
    return int(keys[0]), numpy, python
