"""Loops that call one layer, or one model, after the other: together they are one call, which a loop may repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices((tf.zeros([100, 4]), tf.zeros([100]))).batch(10)

class Weighted(tf.Module):
    def __init__(self):
        self.weight = tf.Variable(tf.random.normal([4, 4]))

    def __call__(self, x):
        return tf.nn.sigmoid(tf.matmul(x, self.weight))

class Net:
    def __init__(self):
        self.own = [Weighted(), Weighted()]
        self.dense = [tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)]

    def encode(self, x):
        for layer in self.own:
            x = layer(x)
        return x

    def by_index(self, x):
        for at in range(len(self.own)):
            x = self.own[at](x)
        return x

    def of_keras(self, x):
        for layer in self.dense:
            if layer.trainable:
                x = layer(x)
        return x

def combined():
    made = inputs = tf.keras.Input([4])
    for model in models:
        made = model(made)
    return tf.keras.Model(inputs, made)

net, votes = Net(), []
models = [tf.keras.Sequential([tf.keras.layers.Dense(4)]) for _ in range(3)]
"""


def _told(folder: Path, lines: str) -> list[Severity]:
    (folder / "program.py").write_text(PROGRAM + lines, encoding="utf-8")
    found = check([folder], Settings(target="tpu")).findings
    return [one.severity for one in found if one.code == "XLA517"]


@pytest.mark.parametrize(
    "lines",
    [
        "votes = [(net.encode(x), y) for x, y in data]",
        "for x, y in data:\n    votes.append(net.by_index(x).numpy())",
        "for x, y in data:\n    votes.append([model(x, training=False) for model in models])",
        "for x, y in data:\n    for model in models:\n        votes.append(model(x).numpy())",
        "for x, y in data:\n    total = 0\n    for model in models:\n        total += model.predict(x)\n"
        "    votes.append(total)",
        "def vote(x):\n    return np.mean([model.predict(x) for model in models], axis=0)\n"
        "for x, y in data:\n    votes.append(vote(x))",
    ],
)
def test_a_loop_around_one_layer_or_model_after_the_other_is_told(tmp_path: Path, lines: str) -> None:
    assert _told(tmp_path, lines) == [Severity.WARNING]


@pytest.mark.parametrize(
    "lines",
    [
        "net.encode(tf.zeros([1, 4]))",
        "for model in models:\n    votes.append(model.predict(np.zeros([50, 4])))",
        "all_of_them = [combined() for _ in range(30)]",
        "for model in models:\n    model(tf.zeros([1, 4]))",
        "run = tf.function(net.encode)\nfor x, y in data:\n    votes.append(run(x))",
    ],
)
def test_such_a_loop_by_itself_is_silent(tmp_path: Path, lines: str) -> None:
    assert _told(tmp_path, lines) == []
