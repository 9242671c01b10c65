"""Lists of tensors of different sizes that a constructor fills: an element at a fixed index has one size."""

from __future__ import annotations

import pytest

from xlalint import lint_source

PROGRAM = """
import tensorflow as tf
import numpy as np

class Pyramid:
    def __init__(self, picture, scales):
        self.scales = scales
        self.fill(picture)

    def fill(self, picture):
        self.pictures = []
        for i in range(self.scales):
            self.pictures.append(tf.image.resize(picture, [8 + 4 * i, 8 + 4 * i]))

    {other}

    @tf.function(jit_compile=True)
    def step(self, x):
        return tf.reduce_sum(x)

    def train(self):
        {train}

pyramid = Pyramid(tf.ones([1, 4, 4, 3]), 5)
for _ in range(10):
    pyramid.train()
"""


def _codes(train: str, other: str = "") -> list[str]:
    return [one.code for one in lint_source(PROGRAM.format(train=train, other=other)).findings]


@pytest.mark.parametrize("index", ["-1", "0", "self.scales - 1", "self.unknown"])
def test_a_fixed_element_has_one_size(index: str) -> None:
    assert _codes(f"self.step(self.pictures[{index}])") == []
    assert _codes(f"self.step(np.zeros(self.pictures[{index}].shape))") == []


@pytest.mark.parametrize(
    ("train", "other"),
    [
        ("[self.step(self.pictures[i]) for i in range(self.scales)]", ""),
        ("[self.step(picture) for picture in self.pictures]", ""),
        ("self.step(self.pictures[-1])", "def more(self, x):\n        self.pictures.append(x)"),
        ("self.step(self.pictures[0])", "def other(self, x):\n        self.pictures[0] = x"),
        ("self.fill(tf.ones([1, 2, 2, 3])); self.step(self.pictures[0])", ""),
    ],
)
def test_several_elements_or_changed_ones_have_several(train: str, other: str) -> None:
    assert _codes(train, other) == ["XLA308"]
