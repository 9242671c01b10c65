"""Layers of TensorFlow Addons that traced code creates."""

from __future__ import annotations

import pytest

from xlalint import lint_source

LAYER = """
import tensorflow as tf
import tensorflow_addons as tfa

class Norm(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.held = tfa.layers.InstanceNormalization()

    def call(self, x):
        return {}
"""


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        ("tfa.layers.InstanceNormalization(axis=3)(x)", ["XLA409"]),
        ("tfa.layers.normalizations.GroupNormalization(2)(x)", ["XLA409"]),
        ("tfa.layers.WeightNormalization(tf.keras.layers.Dense(2))(x)", ["XLA409", "XLA409"]),
        ("self.held(x)", []),
        ("tfa.layers.Maxout(2)(x)", []),
        ("tfa.activations.mish(x)", []),
    ],
)
def test_what_adds_weights(made: str, codes: list[str]) -> None:
    assert [one.code for one in lint_source(LAYER.format(made)).findings if one.code == "XLA409"] == codes
