"""A layer's gradient is Keras's where Keras trains: what XLA makes of it asks whether XLA compiles that step."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

NET: Final = """\
import tensorflow as tf

class Net(tf.keras.Model):
    def build(self, shape):
        self.dense = tf.keras.layers.Dense(3)
        self.dense.build(shape)

    @tf.function(jit_compile=True)
    def call(self, x):
        return tf.concat([self.dense(x), x], 1)
"""
FIT: Final = """\
import json
import tensorflow as tf
from net import Net

net = Net()
net.compile("sgd", "mse"{settings})
net.fit(tf.ones([8, 3]), tf.ones([8, 6]))
"""
LOOP: Final = """\
import tensorflow as tf
from elsewhere import pick
from net import Net

def step(net, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x))
    return tape.gradient(loss, net.trainable_variables)

net = Net()
{run}
"""
PREDICT: Final = """\
import tensorflow as tf
from net import Net

print(Net().predict(tf.ones([8, 3])))
"""
OTHER: Final = """\
import tensorflow as tf

other = tf.keras.Sequential([tf.keras.layers.Dense(1)])
other.compile("sgd", "mse", jit_compile=True)
other.fit(tf.ones([8, 3]), tf.ones([8, 1]))
"""
BLOCK: Final = """\
import tensorflow as tf

class Block(tf.keras.layers.Layer):
    @tf.function
    def joined(self, x):
        return tf.concat([tf.exp(x), x], 1)

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)
        self.block = Block()

    def call(self, x):
        return x

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.block.joined(self.dense(data[0])))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}
"""


def _told(folder: Path, train: str, net: str = NET, settings: Settings | None = None) -> bool:
    for name, text in {"net.py": net, "train.py": train}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return "XLA312" in {one.code for one in check([folder], settings or Settings()).findings}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("", False),
        (", jit_compile=False", False),
        (", jit_compile=True", True),
        (", jit_compile=bool(tf.ones([1])[0] > 0)", True),
        (', **{"jit_compile": True}', True),
        (', **json.load(open("settings.json"))', True),
        (", run_eagerly=True", False),
    ],
)
def test_keras_2_compiles_a_step_where_it_is_told_to(tmp_path: Path, settings: str, told: bool) -> None:
    """Measured with tf_keras 2.21: `fit` without `jit_compile` compiles two programs, with it one for each step."""
    assert _told(tmp_path, FIT.format(settings=settings), settings=Settings(keras=2)) is told
    assert _told(tmp_path, FIT.format(settings=settings), BLOCK, Settings(keras=2)) is told


def test_keras_3_decides_by_itself(tmp_path: Path) -> None:
    assert _told(tmp_path, FIT.format(settings=""))
    assert not _told(tmp_path, FIT.format(settings=", jit_compile=False"))


def test_autoclustering_compiles_no_step_as_a_whole(tmp_path: Path) -> None:
    """Measured with TensorFlow 2.21, Keras 2 and 3: two or three programs in all, however many steps."""
    train = FIT.format(settings=", jit_compile=False").replace("net =", "tf.config.optimizer.set_jit(True)\nnet =")
    assert not _told(tmp_path, train)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("step(net, tf.ones([8, 3]))", False),
        ("tf.function(step)(net, tf.ones([8, 3]))", False),
        ("tf.function(step, jit_compile=True)(net, tf.ones([8, 3]))", True),
        ("tf.function(step, jit_compile=True)(pick(net), tf.ones([8, 3]))", True),
        ("tf.function(step)(pick(net), tf.ones([8, 3]))", False),
    ],
)
def test_a_step_that_takes_its_gradients_itself(tmp_path: Path, run: str, told: bool) -> None:
    assert _told(tmp_path, LOOP.format(run=run)) is told


def test_a_program_that_only_predicts(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(OTHER, encoding="utf-8")
    assert not _told(tmp_path, PREDICT)
    assert _told(tmp_path, f"{PREDICT}\nimport other\n")


def test_what_users_elsewhere_compile(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    assert "XLA312" in {one.code for one in check([tmp_path], Settings()).findings}


def test_a_target_compiles_every_step(tmp_path: Path) -> None:
    assert _told(tmp_path, FIT.format(settings=", jit_compile=False"), settings=Settings(target="gpu"))
