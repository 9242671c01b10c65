"""What gradients are taken of."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.compiler
def test_the_loss_depends_on_every_value_of_a_result() -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    from xlalint.measuring.loss import loss

    for result in (tf.constant([1.0, -2.0]), tf.constant([1.0 + 2.0j, 3.0j]), tf.constant([1.0], tf.float64)):
        with tf.GradientTape() as tape:
            tape.watch(result)
            total = loss(tf, [result, tf.constant([1])])
        np.testing.assert_allclose(tape.gradient(total, result), 2.0 * result)
    assert float(loss(tf, [tf.constant([1])])) == 0.0
