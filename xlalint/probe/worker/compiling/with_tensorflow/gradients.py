"""The gradient of a driven function, as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf  # type: ignore[import-untyped]


def floats(*values: Any) -> list[Any]:
    """The floating tensors of nested values."""
    parts = tf.nest.flatten(values, expand_composites=True)
    return [part for part in parts if tf.is_tensor(part) and part.dtype.is_floating]


def total(result: Any) -> Any:
    """The sum of the floating parts of a result; None without any."""
    sums = [tf.reduce_sum(tf.cast(part, tf.float32)) for part in floats(result)]
    return tf.add_n(sums) if sums else None


def gradients_of(call: Callable[..., Any], trained: Sequence[Any]) -> Callable[..., list[Any]]:
    """Of the sum of all floating results, the gradients by all floating inputs and trained variables."""

    def gradients(*arguments: Any, **keywords: Any) -> list[Any]:
        watched = floats(arguments, keywords)
        with tf.GradientTape() as tape:
            tape.watch(watched)
            summed = total(call(*arguments, **keywords))
        found = tape.gradient(summed, [*watched, *trained]) if summed is not None else []
        return [tf.convert_to_tensor(one) for one in found if one is not None]

    return gradients
