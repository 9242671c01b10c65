"""What a result of TensorFlow's is made of, and which operations draw random numbers."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

from .compare import Leaf

RANDOM: Final = re.compile(r"Random|Multinomial|TruncatedNormal|Shuffle|Rng|ParameterizedTruncated|SampleDistorted")
# Operations whose results are defined up to sign.
SIGNLESS: Final = frozenset(("Svd", "SelfAdjointEigV2", "Eig", "Qr", "XlaSelfAdjointEig", "XlaSvd"))


def leaves(result: Any) -> list[Leaf]:
    """The parts of a result in order, whatever it is made of."""
    return [_leaf(part) for part in tf.nest.flatten(result, expand_composites=True)]


def _leaf(part: Any) -> Leaf:
    if isinstance(part, tf.TensorArray):
        part = part.stack()
    if hasattr(part, "convert_to_tensor"):  # a variable of Keras 3
        part = part.convert_to_tensor()
    if isinstance(part, (tf.Tensor, tf.Variable)):
        if part.dtype in (tf.resource, tf.variant):
            return Leaf(part.dtype.name, None)
        return Leaf(part.dtype.name, np.asarray(part))
    if isinstance(part, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return Leaf(type(part).__name__, np.asarray(part), tensor=False)
    return Leaf(type(part).__name__, None)


def is_random(op: Any) -> bool:
    """Whether an operation draws random numbers."""
    return RANDOM.search(op.type) is not None


def repeats(op: Any) -> bool:
    """Whether an operation is asked to draw the same numbers again: it is given a seed, or a state."""
    if not is_random(op):
        return False
    attributes = op.node_def.attr
    return "seed" not in attributes or bool(attributes["seed"].i or attributes["seed2"].i)
