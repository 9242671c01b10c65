"""Layers of Keras 2 that enlarge pictures by the nearest pixel, whose gradient XLA cannot compile for a CPU or a GPU:
only what is trained before them needs it (measured with tf_keras 2.21, `fit` with `jit_compile=True`)."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

HEAD: Final = """\
import tensorflow as tf
import tf_keras as keras
from tf_keras.layers import Conv2D, Input, UpSampling2D

class Net(keras.Model):
    def __init__(self, first):
        super().__init__()
        self.conv, self.up = Conv2D(3, 1), UpSampling2D(2)
        self.bilinear = UpSampling2D(2, interpolation="bilinear")

    def call(self, x):
        return {call}

def small():
    inputs = Input((4, 4, 3))
    x = {small}
    return keras.Model(inputs, x)

inputs = keras.Input((4, 4, 3))
model = {model}
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([8, 4, 4, 3]), tf.ones([8, 8, 8, 3]))
"""
PLAIN: Final = {"call": "self.conv(x)", "small": "Conv2D(3, 1)(inputs)", "model": "Net()"}


def told(parts: dict[str, str], keras: int = 2) -> set[str]:
    return {one.code for one in lint_source(HEAD.format(**PLAIN | parts), settings=Settings(keras=keras)).findings}


@pytest.mark.parametrize(
    "parts",
    [
        {"call": "self.up(self.conv(x))"},
        {"model": "keras.Sequential([Input((4, 4, 3)), Conv2D(3, 1), UpSampling2D(2)])"},
        {"model": "keras.Model(inputs, UpSampling2D((2, 2))(Conv2D(3, 1)(inputs)))"},
        {"small": "UpSampling2D(size=2)(Conv2D(3, 1)(inputs))", "model": "small()"},
    ],
)
def test_what_is_trained_before_it_needs_the_gradient(parts: dict[str, str]) -> None:
    assert told(parts) == {"XLA407"}


@pytest.mark.parametrize(
    "parts",
    [
        {"call": "self.conv(self.up(x))"},
        {"call": "self.bilinear(self.conv(x))"},
        {"model": "keras.Sequential([Input((4, 4, 3)), UpSampling2D(2), Conv2D(3, 1)])"},
        {"model": "keras.Model(inputs, Conv2D(3, 1)(UpSampling2D((2, 2))(inputs)))"},
        {"small": "Conv2D(3, 1)(UpSampling2D(size=2)(inputs))", "model": "small()"},
    ],
)
def test_nothing_is_trained_before_it(parts: dict[str, str]) -> None:
    assert told(parts) == set()


def test_keras_3_repeats_the_pixels() -> None:
    assert told({"call": "self.up(self.conv(x))"}, keras=3) == set()
