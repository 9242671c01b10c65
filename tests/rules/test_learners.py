"""Trainers that many programs share, and what their datasets make of each element: no program's data are another's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Backend, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

LEARNER: Final = """\
import tensorflow as tf

class Learner:
    def __init__(self, model):
        self.model = model
        self.train_batch = tf.function(self.train_batch, jit_compile=True)

    def train_batch(self, batch):
        return tf.reduce_sum(self.model(batch))

    @tf.function
    def train_step(self, batch):
        self.train_batch(batch)

    @tf.function
    def run(self, function, iterator):
        function(next(iterator))

    def fit(self, dataset):
        self.run(self.train_step, iter(dataset.repeat()))

def batches(dataset, size):
    return dataset.batch(size, drop_remainder=True)
"""
PROGRAM: Final = """\
import tensorflow as tf
from learner import Learner, batches

def model(x):
    return tf.cast(x, tf.float32) * 2.0

Learner(model).fit(batches(tf.data.Dataset.range(64), {}))
"""


def test_sizes_that_several_programs_have_one_function_use_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "learner.py").write_text(LEARNER, encoding="utf-8")
    for size in (4, 8):
        (tmp_path / f"train_{size}.py").write_text(PROGRAM.format(size), encoding="utf-8")
    assert [found for found in check([tmp_path], Settings()).findings if found.code == "XLA308"] == []


STEP: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch[1])

names = tf.data.Dataset.list_files("*.png")
"""
# What a program feeds, and whether strings are in it for certain.
TEXTS: Final = {
    "step((tf.constant(['a']), tf.ones([2])))": True,
    "step((tf.constant(['a']), tf.ones([2])) if random.random() > 0.5 else [tf.ones([1]), tf.ones([2])])": False,
    "step((tf.ones([1]), tf.ones([2])))": False,
}


@pytest.mark.parametrize("code", TEXTS)
def test_strings_are_told_where_nothing_else_may_be_passed(code: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(f"import random\n{STEP}\n{code}\n", encoding="utf-8")
    assert [found.code for found in check([tmp_path], Settings()).findings] == ["XLA404"] * TEXTS[code]


# What a dataset does to each image before it makes batches of them, which are of one size: else it raises.
MAPPED: Final = {
    "for _ in range(2):\n        image = joined(image, size)": "joins what it has cut",
    "image += tf.fill(tf.image.resize(image, size).shape, 1.0)": "makes as much as an image that it has resized",
}


@pytest.mark.parametrize("code", MAPPED, ids=MAPPED.values())
def test_what_a_dataset_makes_of_each_image_does_not_grow(code: str, tmp_path: Path) -> None:
    text = f"""{STEP}
def joined(image, size):
    top, bottom = image[: size[0]], image[size[0] :]
    return tf.concat([top, bottom], 0)

def changed(image):
    size = tf.random.uniform([2], 8, 16, tf.int32)
    {code}
    return image

def dataset():
    return names.map(tf.io.read_file).map(tf.io.decode_png).map(changed).batch(4, drop_remainder=True)

for epoch in range(3):
    for images in dataset():
        step((images, images))
"""
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = [each.code for each in check([tmp_path], Settings()).findings]
    assert not {"XLA308", "XLA309", "XLA310"}.intersection(found)


AGENT: Final = """\
import keras
import numpy as np

class Agent:
    def __init__(self):
        self.model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        {}self.model.compile("sgd", "mse", jit_compile=True)
        self.states = []

    def keep(self, state):
        self.states.append(state)

    def learn(self):
        self.model.{}(np.array(self.states){})
        self.states.clear()

agent = Agent()
for _ in range(9):
    while True:
        agent.keep(np.ones(4))
        if np.random.rand() > 0.9:
            break
    agent.learn()
"""


@pytest.mark.parametrize(("method", "targets"), [("train_on_batch", ", np.zeros(9)"), ("predict_on_batch", "")])
@pytest.mark.parametrize("sure", [True, False])
def test_a_model_is_fed_as_it_is_compiled(method: str, targets: str, sure: bool, tmp_path: Path) -> None:
    """Not as it was before, when nobody knew whether XLA would compile it."""
    way = "" if sure else "if keras.config.floatx() == 'float16':\n            "
    (tmp_path / "m.py").write_text(AGENT.format(way, method, targets), encoding="utf-8")
    found = [each.severity for each in check([tmp_path], Settings()).findings if each.code == "XLA308"]
    assert found == [Severity.WARNING]


BASE: Final = """\
import keras
from keras import ops

class Base(keras.Model):
    def test_step(self, data):
        return {"loss": ops.mean(self(data))}

    def predict_step(self, data):
        return self(data)
"""
ON_TENSORFLOW: Final = """\
import keras
from base import Base

class Net(Base):
    def train_step(self, data):
        return {}
"""
ON_JAX: Final = """\
import keras
import jax
from base import Base

class Net(Base):
    def test_step(self, state, data):
        return {}, state
"""


def test_steps_that_each_backend_replaces_are_those_of_the_others(tmp_path: Path) -> None:
    for name, text in (("base", BASE), ("on_tensorflow", ON_TENSORFLOW), ("on_jax", ON_JAX)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    found = check([tmp_path], Settings(backends=frozenset((Backend.JAX,)))).findings
    lines = {(Path(each.path).stem, each.span.line) for each in found if each.code == "XLA412"}
    assert lines == {("base", 8), ("on_tensorflow", 5)}
