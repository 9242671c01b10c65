"""A `tf.function` with an `input_signature` takes whatever it is given where it runs eagerly, unlike a traced one."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

_FUNCTION: Final = type(tf.function(lambda: None))


def keep_to_signatures() -> None:
    """Have such functions refuse, where they run eagerly, what they refuse where they are traced."""
    plain = _FUNCTION.__call__

    def called(self: Any, *positional: Any, **keywords: Any) -> Any:
        if self.input_signature is not None and tf.config.functions_run_eagerly():
            for asked, given in zip(self.input_signature, positional, strict=False):
                _check(asked, given)
        return plain(self, *positional, **keywords)

    # It counts as TensorFlow's: Keras shows the frames of an error that are no library's, or the last one of all.
    called.__code__ = called.__code__.replace(co_filename=plain.__code__.co_filename)
    _FUNCTION.__call__ = update_wrapper(called, plain)


def _check(asked: Any, given: Any) -> None:
    """Raise TypeError for a tensor of another shape or dtype than an argument is said to have."""
    specs, values = tf.nest.flatten(asked), tf.nest.flatten(given)
    if len(specs) != len(values):
        return
    for spec, value in zip(specs, values, strict=True):
        if not isinstance(spec, tf.TensorSpec) or not isinstance(value, tf.Tensor | tf.Variable | np.ndarray):
            continue
        if not spec.shape.is_compatible_with(value.shape):
            asks = "" if spec.shape.rank is None else f" of rank {spec.shape.rank}"
            raise TypeError(f"the input signature asks for a tensor{asks}, {spec.shape}, and got {tuple(value.shape)}")
        if not isinstance(value, np.ndarray) and spec.dtype != value.dtype:
            raise TypeError(f"the input signature asks for a tensor of {spec.dtype.name}, and got {value.dtype.name}")
