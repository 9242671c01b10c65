"""Summaries of a step's results in the loop around it: each is a copy to the host, unless few are recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
writer = tf.summary.create_file_writer("logs")
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(300)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

def log(value, step):
    with writer.as_default():
        tf.summary.scalar("loss", data=value, step=step)

for number, (x, y) in enumerate(data):
    loss = step(x, y)
"""
IN_WRITER: Final = "with writer.as_default():\n    "


def _found(folder: Path, lines: str) -> list[str]:
    text = PROGRAM + "".join(f"    {line}\n" for line in lines.splitlines())
    (folder / "train.py").write_text(text, encoding="utf-8")
    findings = [one for one in check([folder], Settings(target="tpu")).findings if one.code == "XLA516"]
    return [str(one.severity) for one in findings]


@pytest.mark.parametrize(
    "lines",
    [
        f"{IN_WRITER}tf.summary.scalar('loss', loss, step=number)",
        f"{IN_WRITER}tf.summary.scalar('lr', optimizer.learning_rate, step=number)",
        f"{IN_WRITER}tf.summary.image('made', model(x)[None, :, :, None], step=number)",
        "log(loss, number)",
    ],
)
def test_a_summary_in_each_iteration_is_a_read(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == ["info"]


@pytest.mark.parametrize(
    "lines",
    [
        f"{IN_WRITER}tf.summary.histogram('loss', loss, number)",
        f"{IN_WRITER}for weight in model.trainable_variables:\n"
        "        tf.summary.histogram(weight.name, weight, step=number)",
        f"{IN_WRITER}for layer in model.layers:\n        tf.summary.histogram(layer.name, layer.kernel, step=number)",
    ],
)
def test_a_histogram_is_dearer(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == ["warning"]


@pytest.mark.parametrize(
    "lines",
    [
        "if number % 100 == 0:\n    log(loss, number)",
        "if number % 100 == 0:\n    for weight in model.weights:\n        tf.summary.histogram('w', weight, number)",
        f"{IN_WRITER}tf.summary.scalar('rate', 0.1 * number, step=number)",
        f"{IN_WRITER}tf.summary.image('given', x, step=number)",
        "with writer.as_default(), tf.summary.record_if(number % 100 == 0):\n"
        "    tf.summary.scalar('loss', loss, step=number)",
        "with tf.summary.record_if(lambda: number % 100 == 0):\n    with writer.as_default():\n"
        "        tf.summary.scalar('loss', loss, step=number)",
    ],
)
def test_summaries_that_are_seldom_or_of_the_host_are_none(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == []
