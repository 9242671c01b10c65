"""Layers that Keras compiles no model with, in what a model holds: the finding, and what Keras makes of the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.linter.run import check
from xlalint.settings.config import Settings

MARK: Final = "  # flagged"
PROGRAM: Final = """\
import keras
from keras import layers

class Holder(keras.Model):
    def __init__(self, held, head):
        super().__init__()
        self.held = held
        self.head = head

    def train_step(self, images):
        return {"loss": keras.ops.mean(self.head(images))}

class Pair(layers.Layer):
    def __init__(self, turn):
        super().__init__()
        self.parts = {"turn": turn, "flat": layers.Flatten()}

class Chosen(keras.Model):
    def __init__(self, augment, head):
        super().__init__()
        self.augment = augment
        self.head = head

    def compile(self, optimizer, **settings):
        super().compile(**settings)
        self.chosen = optimizer

def functional():
    inputs = keras.Input((8, 8, 3))
    outputs = layers.RandomTranslation(0.1, 0.1)(inputs)  # flagged
    outputs = eval("abs")(outputs)  # which nobody can know
    return keras.Model(inputs, outputs)

head = keras.Sequential([layers.Flatten(), layers.Dense(1)])
chain = keras.Sequential([layers.RandomFlip(), layers.RandomRotation(0.2)])  # flagged
zoom = layers.RandomZoom(0.1)  # flagged
crop = keras.Sequential([layers.RandomCrop(4, 4)])  # flagged
hashed = keras.Sequential([layers.Hashing(4)])  # flagged
beside = keras.Sequential([layers.RandomRotation(0.3)])
first = Holder(functional(), head)
second = Holder([layers.Flatten(), chain], head)
third = Holder((zoom,), head)
fourth = Holder(Pair(crop), head)
last = Chosen(hashed, head)
fine = Chosen(keras.Sequential([layers.RandomFlip()]), head)
first.compile("adam", jit_compile=True)
second.compile("adam", jit_compile=True)
third.compile("adam", jit_compile=True)
fourth.compile("adam", jit_compile=True)
last.compile("adam", jit_compile=True)
fine.compile("adam", jit_compile=True)
"""
ON_TPU: Final = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

class Gan(keras.Model):
    def __init__(self, augment, unused, head):
        super().__init__()
        self.augment = augment
        self.unused = unused
        self.head = head

    def train_step(self, images):
        return {"loss": tf.reduce_mean(self.head(self.augment(images)))}

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    augment = keras.Sequential([layers.RandomRotation(0.2)])  # flagged
    unused = keras.Sequential([layers.RandomZoom(0.2)])
    model = Gan(augment, unused, keras.Sequential([layers.Flatten(), layers.Dense(1)]))
    model.compile("adam")
"""
FUNCTIONAL: Final = """\
import keras
import tensorflow as tf
from keras import layers

WORDS = {"colour": ["red", "green"], "kind": ["dry", "wet"]}

def looked_up(inputs):
    parts = []
    for name in inputs:
        if name in WORDS:
            table = layers.StringLookup(vocabulary=WORDS[name])
            parts.append(layers.Embedding(4, 2)(table(inputs[name])))  # flagged
        else:
            parts.append(layers.Reshape((1, 2))(layers.Dense(2)(inputs[name])))
    return layers.concatenate(parts)

texts = {name: keras.Input((1,), name=name, dtype="string") for name in WORDS}
numbers = {"size": keras.Input((1,), name="size")}
first = keras.Model(texts | numbers, looked_up({**texts, **numbers}))

text = keras.Input((1,), dtype="string")
numbered = layers.StringLookup(vocabulary=["a", "b"])(text)  # flagged
vectors = keras.ops.reshape(layers.Embedding(3, 4)(numbered), (-1, 4))
second = keras.Model(text, layers.Dense(1)(vectors))

before = layers.Hashing(8)(text)
behind = keras.Model(before, layers.Dense(1)(keras.ops.mean(layers.Embedding(8, 4)(before), 1)))
first.compile("adam", "mse", jit_compile=True)
second.compile("adam", "mse", jit_compile=True)
behind.compile("adam", "mse", jit_compile=True)
"""
ON_THE_HOST: Final = """\
import keras
import tensorflow as tf
from keras import layers

before = keras.Sequential([layers.RandomRotation(0.1)])
within = keras.Sequential([layers.RandomZoom(0.1)])  # flagged

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        inputs = keras.Input((8, 8, 3))
        self.body = keras.Model(inputs, layers.Dense(1)(layers.Flatten()(inputs)))

    def call(self, images):
        return self.body(images)

net = Net()

@tf.function(jit_compile=True)
def step(images):
    return net(images)

@tf.function(jit_compile=True)
def other(images):
    return net(within(images))

for images in tf.data.Dataset.from_tensors(tf.ones([2, 8, 8, 3])).map(before):
    step(images)
    step(before(images))
    other(images)
"""


def _lines(text: str, folder: Path) -> list[int]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    found = check([folder], Settings(codes=frozenset({"XLA408"}))).findings
    return sorted(one.span.line for one in found)


def _marked(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]


def test_a_model_holds_them_however_it_got_them(tmp_path: Path) -> None:
    assert _lines(PROGRAM, tmp_path) == _marked(PROGRAM)


def test_a_functional_model_holds_those_between_its_inputs_and_outputs(tmp_path: Path) -> None:
    assert _lines(FUNCTIONAL, tmp_path) == _marked(FUNCTIONAL)


def test_what_the_host_has_applied_to_the_inputs_is_not_in_the_step(tmp_path: Path) -> None:
    assert _lines(ON_THE_HOST, tmp_path) == _marked(ON_THE_HOST)


def test_on_a_tpu_those_count_that_are_called(tmp_path: Path) -> None:
    assert _lines(ON_TPU, tmp_path) == _marked(ON_TPU)


@pytest.mark.compiler
@claim(PROGRAM, FUNCTIONAL, sampled=False)
def test_keras_compiles_no_model_that_holds_one() -> None:
    for program, names, compiled in (
        (PROGRAM, "first, second, third, fourth, last, fine", [False] * 5 + [True]),
        (FUNCTIONAL, "first, second, behind", [False, False, True]),
    ):
        said = f"print([model.jit_compile for model in ({names})])"
        run = subprocess.run([sys.executable, "-c", program + said], capture_output=True, text=True, check=True)
        assert run.stdout.split("\n")[-2] == str(compiled)
