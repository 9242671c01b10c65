"""Layers whose `call` a program calls itself, past Keras: what it passes there is known."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.marked import flagged, marked

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf

BOXES = np.ones((3, 4))

class Inner(tf.keras.Model):
    def call(self, features, width):
        return features * np.round(BOXES * width / 16)[0, 0]{inner}

class Outer(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def call(self, inputs, width, training=False):
        return self.inner.call(inputs, width)

{main}
"""
FLAGGED: Final = "  # flagged"
MAINS: Final = {
    "numbers": ("print(Outer().call(tf.ones([1, 4]), 16))", ""),
    "a number by its name": ("print(Outer().call(tf.ones([1, 4]), width=16))", ""),
    "a number of a shape": (
        "image = np.expand_dims(np.load('image.npy'), 0)\nprint(Outer().call(image, np.shape(image)[1]))",
        "",
    ),
    "in a step": (
        "model = Outer()\n@tf.function(jit_compile=True)\ndef step(x):\n    return model.call(x, 16)\nstep(tf.ones(4))",
        "",
    ),
    "a tensor in a step": (
        "model = Outer()\n@tf.function(jit_compile=True)\n"
        "def step(x):\n    return model.call(x, x[0])\nstep(tf.ones(4))",
        FLAGGED,
    ),
    "a tensor": ("print(Outer().call(tf.ones([1, 4]), tf.reduce_sum(tf.ones(3))))", FLAGGED),
    "what it overrides": (
        "class Heir(Inner):\n    def call(self, features, width):\n        return super().call(features, width)\n"
        "print(Outer().call(tf.ones([1, 4]), 16))",
        FLAGGED,
    ),
    "nothing": ("", FLAGGED),
}


@pytest.mark.parametrize(("main", "inner"), MAINS.values(), ids=MAINS)
def test_numbers_that_a_program_passes_are_no_tensors(main: str, inner: str, tmp_path: Path) -> None:
    code = PROGRAM.format(main=main, inner=inner)
    assert {line for line, _ in flagged(tmp_path, code)} == marked(code)
