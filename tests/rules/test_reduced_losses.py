"""Losses that reduce by themselves under a strategy: which Keras runs them decides (XLA521)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

STEP: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
{made}

def step(x, y):
    with tf.GradientTape() as tape:
        loss = {called}
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

@tf.function
def train(x, y):
    strategy.run(step, args=(x, y))

for x, y in strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1])))):
    train(x, y)
"""
MADE: Final = "loss_of = tf.keras.losses.MeanSquaredError()"
CALLED: Final = "loss_of(y, model(x))"


def found(folder: Path, made: str, called: str, keras: int | None) -> list[Severity]:
    (folder / "train.py").write_text(STEP.format(made=made, called=called), encoding="utf-8")
    return [
        one.severity for one in check([folder], Settings(target="tpu", keras=keras)).findings if one.code == "XLA521"
    ]


@pytest.mark.parametrize(
    ("keras", "severities"),
    [(2, [Severity.WARNING]), (None, [Severity.INFO]), (3, [])],
)
def test_the_version_of_keras_decides(tmp_path: Path, keras: int | None, severities: list[Severity]) -> None:
    assert found(tmp_path, MADE, CALLED, keras) == severities


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("loss_of = tf.losses.MeanSquaredError()", CALLED),
        ("class Held:\n    loss_of = tf.keras.losses.Huber(delta=2.0)\n\nheld = Held()", "held.loss_of(y, model(x))"),
        ("losses = {'l': tf.keras.losses.MeanSquaredError()}", "losses['l'](y, model(x))"),
        ("def loss_of(y, x):\n    return tf.keras.losses.MeanSquaredError()(y, x)", CALLED),
    ],
)
def test_however_the_loss_is_kept(tmp_path: Path, made: str, called: str) -> None:
    assert found(tmp_path, made, called, 2) == [Severity.WARNING]


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("loss_of = tf.keras.losses.MeanSquaredError(reduction='none')", "tf.reduce_sum(loss_of(y, model(x))) / 8"),
        ("loss_of = tf.keras.losses.MeanSquaredError(tf.keras.losses.Reduction.SUM)", "loss_of(y, model(x)) / 8"),
        ("loss_of = tf.keras.losses.mse", "tf.nn.compute_average_loss(loss_of(y, model(x)))"),
        ("accuracy = tf.keras.metrics.MeanSquaredError()", "tf.reduce_sum(accuracy(y, model(x)))"),
    ],
)
def test_what_reduces_nothing_or_is_told_how(tmp_path: Path, made: str, called: str) -> None:
    assert found(tmp_path, made, called, 2) == []
