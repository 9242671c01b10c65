"""What the gradients of measured calls are taken of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def loss(tf: Any, results: Sequence[Any]) -> Any:
    """The sum of the squares of all that is floating or complex among the results of a call.

    The gradient of a plain sum is constant: TensorFlow folds what computes with it, before XLA sees that. Squares do
    not depend on the sign of an eigenvector, nor on its phase, which are nobody's to say.
    """
    squares = [_squares(tf, one) for one in results if one.dtype.is_floating or one.dtype.is_complex]
    return tf.add_n([tf.reduce_sum(one) for one in squares]) if squares else tf.constant(0.0)


def _squares(tf: Any, result: Any) -> Any:
    if result.dtype.is_complex:
        result = tf.cast(result, tf.complex64)
        return tf.square(tf.math.real(result)) + tf.square(tf.math.imag(result))
    return tf.square(tf.cast(result, tf.float32))
