"""Plots of a step's results in the loop around it: each makes an array of the tensor, on the host."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import matplotlib.pyplot as plt
import pandas as pd
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(300)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        made = model(x)
        loss = tf.reduce_sum((made - y) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return made

for number, (x, y) in enumerate(data):
    made = step(x, y)
"""


def _found(folder: Path, lines: str) -> list[int]:
    text = PROGRAM + "".join(f"    {line}\n" for line in lines.splitlines())
    (folder / "train.py").write_text(text, encoding="utf-8")
    return [one.span.line for one in check([folder], Settings(target="tpu")).findings if one.code == "XLA516"]


@pytest.mark.parametrize("lines", ["plt.imshow(made)", "plt.plot(x[:, 0], made)", "table = pd.DataFrame(made)"])
def test_what_is_plotted_in_each_iteration_is_read(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == [18]


@pytest.mark.parametrize(
    "lines",
    ["plt.imshow(x)", "plt.title(number)", "plt.plot(made.shape)", "if number % 100 == 0:\n    plt.imshow(made)"],
)
def test_what_is_on_the_host_or_seldom_is_not(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == []
