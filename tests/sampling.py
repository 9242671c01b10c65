"""What the tests try of what is too much to try whole: the same in each run, so that a change is judged by what it
changes. `XLALINT_SEED=7` takes other samples, `XLALINT_SAMPLE=5000` takes more of a measured table, or all of it."""

from __future__ import annotations

import os
import random
from typing import Final

_SEED: Final = os.environ.get("XLALINT_SEED", "")
IS_USUAL: Final = not _SEED


def chance() -> random.Random:
    """What chooses."""
    return random.Random(int(_SEED or 0))


def size(usual: int) -> int:
    """How many are chosen, where nobody says otherwise `usual`."""
    return int(os.environ.get("XLALINT_SAMPLE", usual))
