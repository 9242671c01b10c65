"""A number that `call` puts in range once is no counter, and no number that the host changes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from .marked import flagged, marked

CODE: Final = """\
import tensorflow as tf


class Spread(tf.keras.layers.Layer):
    def __init__(self, axis=-1, channels=-1, calls=-8):
        super().__init__()
        self.axis = axis
        self.channels = channels
        self.calls = calls

    def call(self, inputs):
        rank = len(inputs.shape)
        if self.axis < 0:
            self.axis = rank + self.axis
        if self.channels < 0:
            self.channels += rank
        if self.calls < 0:
            self.calls += 1  # flagged
        spread = tf.math.reduce_std(inputs, axis=self.axis, keepdims=True)
        return tf.concat([inputs, spread], axis=self.channels)


layer = Spread()
for size in (2, 3):
    layer(tf.ones([2, size]))
compiled = tf.function(layer, jit_compile=True)
compiled(tf.ones([2, 4]))
"""


def test_a_counter_alone_is_told(tmp_path: Path) -> None:
    assert {line for line, code in flagged(tmp_path, CODE) if code in ("XLA607", "XLA609")} == marked(CODE)


@pytest.mark.compiler
def test_compiled_code_keeps_what_is_in_range() -> None:
    names: dict[str, object] = {}
    exec(CODE, names)
    layer, compiled = names["layer"], names["compiled"]
    x = np.arange(8, dtype="float32").reshape(2, 4)
    assert callable(layer)
    assert callable(compiled)
    np.testing.assert_allclose(compiled(x), layer(x), rtol=1e-6)
