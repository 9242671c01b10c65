"""Layers that are called with what their `call` does not take: it raises, and says nothing of what `call` is passed."""

from __future__ import annotations

import pytest

from xlalint import lint_source

PROGRAM = """
import tensorflow as tf

class Pair(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x{more}):
        first, second = x
        return self.dense(first) + second

model = Pair()
model({passed})
model.compile("sgd", "mse", jit_compile=True)
model.fit((tf.ones([8, 3]), tf.ones([8, 1])), tf.ones([8, 1]), batch_size=4)
"""


@pytest.mark.parametrize(
    ("passed", "more", "codes"),
    [
        ("tf.ones([2, 3]), tf.ones([2, 1])", "", []),
        ("tf.ones([2, 3]), second=None", "", []),
        ("tf.ones([2, 3])", "", ["XLA103"]),
        ("tf.ones([2, 3]), training=False", "", ["XLA103"]),
        ("tf.ones([2, 3]), tf.ones([2, 1])", ", second=None", ["XLA103"]),
        ("tf.ones([2, 3]), tf.ones([2, 1])", ", *others", ["XLA103"]),
        ("(tf.ones([2, 3]), tf.ones([2, 1]))", "", []),
    ],
)
def test_what_raises_says_nothing_of_the_inputs(passed: str, more: str, codes: list[str]) -> None:
    found = lint_source(PROGRAM.format(passed=passed, more=more)).findings
    assert [one.code for one in found if one.code == "XLA103"] == codes
