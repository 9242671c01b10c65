"""Batches that a loop of a program makes for its own compiled step, before the program moves to a TPU."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

HEAD: Final = """\
import random
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
optimizer = tf.keras.optimizers.SGD()

@tf.function
def step(x, *further):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

@tf.function
def draw(x):
    return model(x)

def batches():
    for i in range(9):
        yield np.full([8, 4], i), np.ones([8, 1])

class Pairs:
    def __len__(self):
        return 9

    def __getitem__(self, i):
        return np.full([8, 4], i), np.ones([8, 1])

class Rows:
    def __iter__(self):
        for i in range(9):
            yield np.full([8, 4], i)

data = np.load("data.npy")
rows = [data[i] for i in range(8)]
pairs = Pairs()
"""
BY_LOOPS: Final = {
    "a generator": "for x, y in batches():\n    step(x, y)",
    "a generator with numbers": "for i, (x, y) in enumerate(batches()):\n    step(x, y)",
    "an iterator": "it = iter(batches())\nfor _ in range(9):\n    x, y = next(it)\n    step(x, y)",
    "objects with items": "for i in range(len(pairs)):\n    x, y = pairs[i]\n    step(x, y)",
    "an object that is iterated": "for x in Rows():\n    step(x)",
    "slices": "for i in range(0, 64, 8):\n    step(data[i:i + 8])",
    "slices with names": "for i in range(8):\n    x = data[i * 8:(i + 1) * 8]\n    step(x)",
    "drawn positions": "for _ in range(9):\n    chosen = np.random.choice(64, 8)\n    step(data[chosen])",
    "a stack": "for _ in range(9):\n    step(np.stack(random.sample(rows, 8)))",
    "an array of a list": "for _ in range(9):\n    step(np.array([data[i] for i in range(8)]))",
    "drawn numbers": "for _ in range(9):\n    step(np.random.normal(size=(8, 4)).astype('float32'))",
    "a tensor of a batch": "for x, y in batches():\n    step(tf.convert_to_tensor(x), tf.constant(y))",
    "a constant of a batch": "for x, y in batches():\n    step(tf.constant(x, tf.float32))",
    "a `while`": "it = iter(batches())\nwhile True:\n    x, y = next(it)\n    step(x, y)",
    "a function that a loop calls": "def train(x):\n    step(x)\n\nfor x, y in batches():\n    train(x)",
    "a method": "class Trainer:\n    def train(self):\n        for x, y in batches():\n            self.step(x, y)\n\n"
    "    def step(self, x, y):\n        step(x, y)\n\nTrainer().train()",
    "a step of a factory": "def make():\n    @tf.function\n    def inner(x):\n        with tf.GradientTape() as tape:\n"
    "            loss = tf.reduce_mean(model(x) ** 2)\n        variables = model.trainable_variables\n"
    "        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))\n\n    return inner\n\n"
    "made = make()\nfor x, y in batches():\n    made(x)",
    "Keras's own step": "for x, y in batches():\n    model.train_on_batch(x, y)",
    "Keras's own step of a slice": "for i in range(0, 64, 8):\n    model.train_on_batch(x=data[i:i + 8], y=data[i:8])",
    "arrays of a dataset": "for x in tf.data.Dataset.range(9).batch(3).as_numpy_iterator():\n    step(x)",
}
OTHERS: Final = {
    "a dataset": "for x in tf.data.Dataset.from_tensor_slices(data).batch(8):\n    step(x)",
    "numbers": "for i, x in enumerate(tf.data.Dataset.from_tensor_slices(data).batch(8)):\n"
    "    step(x, np.float32(i), np.mean(data), len(data), np.random.rand())",
    "what does not train": "for x in tf.data.Dataset.from_tensor_slices(data).batch(8):\n    step(x)\n"
    "for x, y in batches():\n    draw(x)",
    "no loop": "step(data)\nmodel.fit(data, data)",
    "Keras's own loop": "model.fit(data, np.ones([64, 1]), batch_size=8)",
    "a step that runs line by line": "def plain(x):\n    with tf.GradientTape() as tape:\n"
    "        loss = tf.reduce_mean(model(x) ** 2)\n    variables = model.trainable_variables\n"
    "    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))\n\n"
    "for x, y in batches():\n    plain(x)",
    "tensors of Keras's step": "for x in tf.data.Dataset.from_tensor_slices(data).batch(8):\n"
    "    model.train_on_batch(x, x)",
    "a pipeline": "def ready(x):\n    return x * 2.0\n\n"
    "for x in tf.data.Dataset.from_tensor_slices(data).map(ready).batch(8).prefetch(1):\n    step(x)",
}


def _told(code: str, target: str | None) -> list[Severity]:
    found = lint_source(f"{HEAD}\n{code}\n", settings=Settings(target=target)).findings
    return [one.severity for one in found if one.code == "XLA513"]


@pytest.mark.parametrize("code", BY_LOOPS.values(), ids=BY_LOOPS.keys())
def test_batches_of_a_loop(code: str) -> None:
    assert _told(code, "tpu") == [Severity.INFO]
    assert _told(code, None) == []


@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS.keys())
def test_other_batches(code: str) -> None:
    assert _told(code, "tpu") == []
