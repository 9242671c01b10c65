"""Layers of Keras 2 that enlarge pictures by the nearest pixel, whose gradient XLA cannot compile for a CPU or a GPU:
only what is trained before them needs it (measured with tf_keras 2.21, `fit` with `jit_compile=True`)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Finding
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

class Up(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.up = UpSampling2D(2)

    def call(self, x):
        return self.up(x)

class Blocks(keras.Model):
    def __init__(self, first):
        super().__init__()
        self.first, self.ups = first, [Up(), Up()]

    def call(self, x):
        x = {blocks}
        for up in self.ups:
            x = up(x)
        return x

class Inner(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = {net}

    def call(self, x):
        return self.net(x)

class Own(keras.Model):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.generator(x) - y) ** 2)
        weights = self.generator.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {{"loss": loss}}

def conv(x):
    return Conv2D(3, 1)(x)

def up(x):
    return UpSampling2D(2)(x)

def added():
    net = keras.Sequential()
    net.add(Input((4, 4, 3)))
    {added}
    return net

def nested():
    def larger(x):
        return UpSampling2D(2)(x)

    inputs = Input((4, 4, 3))
    return keras.Model(inputs, {nested})

def small():
    inputs = Input((4, 4, 3))
    x = {small}
    return keras.Model(inputs, x)

inputs = keras.Input((4, 4, 3))
model = {model}
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([8, 4, 4, 3]), tf.ones([8, 8, 8, 3]))
"""
PLAIN: Final = {
    "call": "self.conv(x)",
    "small": "Conv2D(3, 1)(inputs)",
    "model": "Net()",
    "net": "None",
    "blocks": "x",
    "added": "pass",
    "nested": "inputs",
}
ADDED: Final = "net.add(Conv2D(3, 1)); net.add(UpSampling2D(2))"


def findings(parts: dict[str, str], **settings: Any) -> tuple[Finding, ...]:
    return lint_source(HEAD.format(**PLAIN | parts), settings=Settings(keras=2, **settings)).findings


def told(parts: dict[str, str], keras: int = 2) -> set[str]:
    return {one.code for one in lint_source(HEAD.format(**PLAIN | parts), settings=Settings(keras=keras)).findings}


@pytest.mark.parametrize(
    "parts",
    [
        {"call": "self.up(self.conv(x))"},
        {"model": "keras.Sequential([Input((4, 4, 3)), Conv2D(3, 1), UpSampling2D(2)])"},
        {"model": "keras.Model(inputs, UpSampling2D((2, 2))(Conv2D(3, 1)(inputs)))"},
        {"small": "UpSampling2D(size=2)(Conv2D(3, 1)(inputs))", "model": "small()"},
        {"small": "up(conv(inputs))", "model": "small()"},
        {"small": "Up()(conv(inputs))", "model": "small()"},
        {"nested": "larger(conv(inputs))", "model": "nested()"},
        {"added": ADDED, "model": "added()"},
        {"blocks": "self.first(x)", "model": "Blocks(Conv2D(3, 1))"},
        {"net": "keras.Sequential([Conv2D(3, 1), UpSampling2D(2)])", "model": "Inner()"},
        {"net": "added()", "added": ADDED, "model": "Inner()"},
        {"model": "Own(keras.Sequential([Input((4, 4, 3)), Conv2D(3, 1), UpSampling2D(2)]))"},
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
        {"small": "conv(up(inputs))", "model": "small()"},
        {"small": "conv(up(keras.layers.Rescaling(2.0)(inputs)))", "model": "small()"},
        {"small": "conv(Up()(inputs))", "model": "small()"},
        {"nested": "conv(larger(inputs))", "model": "nested()"},
        {"added": "net.add(UpSampling2D(2)); net.add(Conv2D(3, 1))", "model": "added()"},
        {"net": "keras.Sequential([UpSampling2D(2), Conv2D(3, 1)])", "model": "Inner()"},
        {"model": "Own(keras.Sequential([Input((4, 4, 3)), UpSampling2D(2), Conv2D(3, 1)]))"},
    ],
)
def test_nothing_is_trained_before_it(parts: dict[str, str]) -> None:
    assert told(parts) == set()


@pytest.mark.parametrize(
    "parts",
    [
        {"call": "self.up(self.conv(self.up(self.conv(x))))"},
        {"small": "UpSampling2D(2)(conv(UpSampling2D(2)(conv(inputs))))", "model": "small()"},
        {"added": f"{ADDED}; net.add(UpSampling2D(2))", "model": "added()"},
    ],
)
def test_one_finding_stands_for_a_model(parts: dict[str, str]) -> None:
    [found] = [one for one in findings(parts) if one.code == "XLA407"]
    assert [note.text for note in found.notes] == ["so does this one"]


def test_a_tpu_has_the_kernel() -> None:
    parts = {"call": "self.up(self.conv(x))"}
    assert "XLA407" in {one.code for one in findings(parts, target="gpu")}
    assert "XLA407" not in {one.code for one in findings(parts, target="tpu")}


def test_keras_3_repeats_the_pixels() -> None:
    assert told({"call": "self.up(self.conv(x))"}, keras=3) == set()
