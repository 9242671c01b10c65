"""What einops makes of tensors is a tensor, and of arrays an array (measured with einops 0.8.1 and TensorFlow 2.21)."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source

LAYER: Final = """\
import einops
import numpy as np
import tensorflow as tf
from einops import rearrange, reduce, repeat
from einops.layers.tensorflow import Rearrange

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.flat = Rearrange("b n d -> (b n) d")

    def call(self, x):
        {}
        return x
"""


def told(line: str) -> list[str]:
    return [one.code for one in lint_source(LAYER.format(line)).findings]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("q, k = rearrange(x, 'b n (two d) -> two b n d', two=2)", "XLA103"),
        ("rows = [row for row in einops.rearrange(x, 'b n d -> n b d')]", "XLA103"),
        ("x = x if reduce(x, 'b n d -> ', 'max') > 1.0 else x * 2.0", "XLA101"),
        ("x = x[repeat(x, 'b n d -> b n (d r)', r=1) > 0.0]", "XLA201"),
        ("x = self.flat(x)[self.flat(x) > 0.0]", "XLA201"),
        ("x = np.max(rearrange([x, x], 'l b n d -> b n (l d)'))", "XLA106"),
    ],
)
def test_what_it_makes_of_a_tensor_is_one(line: str, code: str) -> None:
    assert told(line) == [code]


@pytest.mark.parametrize(
    "line",
    [
        "x = rearrange(x, 'b n (h d) -> b h n d', h=4)",
        "for row in rearrange(np.ones([2, 3]), 'a b -> b a'): x = x + row",
        "x = x * 2.0 if rearrange(x, 'b n d -> n b d').shape[0] > 3 else x",
        "x = x * np.max(reduce(np.ones([2, 3]), 'a b -> a', 'max'))",
    ],
)
def test_arrays_and_shapes_are_known_while_tracing(line: str) -> None:
    assert told(line) == []
