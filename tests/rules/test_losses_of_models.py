"""Losses that `compile` is passed under a strategy: which of them Keras scales (XLA518)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

# What a loss returns, and by which factor the step of two replicas is longer than that of one device (Keras 3).
LOSSES: Final = {
    "a mean": ("return tf.reduce_mean((t - p) ** 2)", 2),
    "a mean with a weight": ("loss = 3.0 * tf.reduce_mean(tf.abs(t - p))\n    return loss", 2),
    "of losses of Keras": ("return tf.reduce_mean(tf.keras.losses.huber(t, p))", 2),
    "by Keras's operations": ("return tf.keras.ops.mean((t - p) ** 2)", 2),
    "in a helper": ("return helped(t, p)", 2),
    "one for each example": ("return tf.reduce_mean((t - p) ** 2, axis=-1)", 1),
    "a sum": ("return tf.reduce_sum((t - p) ** 2)", 1),
    "sums and a number": ("return tf.reduce_sum(tf.abs(t - p)) * 0.5 + tf.reduce_sum((t - p) ** 2)", 1),
    "a sum for each example": ("return tf.reduce_sum((t - p) ** 2, axis=-1)", 1),
    "a sum by the batch": ("return tf.reduce_sum((t - p) ** 2) / 8.0", 1),
    "as they are": ("return (t - p) ** 2", 1),
}
TEXT: Final = """\
import tensorflow as tf

strategy = tf.distribute.{strategy}

def helped(t, p):
    return tf.reduce_mean(tf.square(t - p))

def loss_of(t, p):
    {body}

class Own(tf.keras.losses.Loss):
    def call(self, t, p):
        return loss_of(t, p)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.001), {loss})
before = model.get_weights()[0]
model.fit(tf.random.stateless_normal([8, 3], [1, 2]), tf.ones([8, 2]), batch_size=8, verbose=0, shuffle=False)
step = model.get_weights()[0] - before
"""
# Which cases do not have the factor that they claim.
MEASURING: Final = """
import json
import sys
import numpy as np
import tensorflow as tf

[cpu] = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
text, two, cases = json.loads(sys.argv[1])

def step_of(body, loss, strategy):
    names = {}
    exec(text.format(body=body, loss=loss, strategy=strategy), names)
    return names["step"]

wrong = []
for body, loss, factor in cases:
    one, both = (step_of(body, loss, strategy) for strategy in ("get_strategy()", two))
    if not np.allclose(both, factor * one, rtol=1e-2):
        wrong.append([body, loss, (both / one).tolist()])
print(json.dumps(wrong))
"""
TWO: Final = 'MirroredStrategy(["CPU:0", "CPU:1"])'
PASSED: Final = ("loss_of", "loss=[loss_of]", "Own()")


def found(folder: Path, body: str, loss: str, keras: int | None, strategy: str = TWO) -> list[Severity]:
    (folder / "train.py").write_text(TEXT.format(body=body, loss=loss, strategy=strategy), encoding="utf-8")
    return [one.severity for one in check([folder], Settings(keras=keras)).findings if one.code == "XLA518"]


@pytest.mark.parametrize("loss", PASSED)
@pytest.mark.parametrize("name", LOSSES)
def test_what_keras_3_does_not_scale(name: str, loss: str, tmp_path: Path) -> None:
    body, factor = LOSSES[name]
    assert found(tmp_path, body, loss, 3) == ([Severity.WARNING] if factor == 2 else [])


@pytest.mark.parametrize(
    ("name", "keras", "severities"),
    [
        ("a mean", 2, []),
        ("a mean", None, [Severity.INFO]),
        ("a sum", 2, [Severity.WARNING]),
        ("a sum", None, [Severity.INFO]),
        ("a sum for each example", 2, []),
        ("one for each example", None, []),
    ],
)
def test_the_version_of_keras_decides(name: str, keras: int | None, severities: list[Severity], tmp_path: Path) -> None:
    assert found(tmp_path, LOSSES[name][0], "loss_of", keras) == severities


def test_one_device_adds_nothing_up(tmp_path: Path) -> None:
    assert found(tmp_path, LOSSES["a mean"][0], "loss_of", 3, 'MirroredStrategy(["CPU:0"])') == []


@pytest.mark.compiler
@claim(MEASURING, TEXT, TWO, LOSSES, PASSED, sampled=False)
def test_the_steps_of_two_replicas() -> None:
    cases = [[body, loss, factor] for body, factor in LOSSES.values() for loss in PASSED]
    command = [sys.executable, "-c", MEASURING, json.dumps([TEXT, TWO, cases])]
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)
    assert json.loads(done.stdout.splitlines()[-1]) == []
