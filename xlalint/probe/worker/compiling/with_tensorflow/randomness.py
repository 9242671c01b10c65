"""Which operations draw random numbers, and of which the results are defined up to sign."""

from __future__ import annotations

import re
from typing import Any, Final

_RANDOM: Final = re.compile(r"Random|Multinomial|TruncatedNormal|Shuffle|Rng|ParameterizedTruncated|SampleDistorted")
# Operations whose results are defined up to sign.
SIGNLESS: Final = frozenset(("Svd", "SelfAdjointEigV2", "Eig", "Qr", "XlaSelfAdjointEig", "XlaSvd"))


def is_random(op: Any) -> bool:
    """Whether an operation draws random numbers."""
    return _RANDOM.search(op.type) is not None


def repeats(op: Any) -> bool:
    """Whether an operation is asked to draw the same numbers again: it is given a seed, or a state."""
    if not is_random(op):
        return False
    attributes = op.node_def.attr
    return "seed" not in attributes or bool(attributes["seed"].i or attributes["seed2"].i)
