"""Loops that multiply with weights themselves, and call no model for it."""

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

first, second = tf.Variable(tf.random.normal((2, 20))), tf.Variable(tf.random.normal((20, 1)))
state = tf.Variable(tf.random.normal((20, 20)))
points = np.random.rand(3600, 2).astype("float32")
data = tf.data.Dataset.from_tensor_slices((points, points[:, :1])).batch(8)
found, total, hidden = [], 0, tf.zeros([1, 20])
"""


def _told(folder: Path, lines: str) -> list[tuple[Severity, str]]:
    (folder / "program.py").write_text(PROGRAM + lines, encoding="utf-8")
    found = check([folder], Settings(target="tpu")).findings
    return [(one.severity, one.message.partition(" line by line")[0]) for one in found if one.code == "XLA517"]


@pytest.mark.parametrize(
    "lines",
    [
        "for x in tf.cast(points, tf.float32):\n    x = tf.nn.relu(x[None] @ first)\n"
        "    found.append(tf.nn.sigmoid(x @ second).numpy())",
        "for at in range(3600):\n    hidden = tf.nn.relu(tf.matmul(points[at : at + 1], first))\n"
        "    found.append(float(tf.matmul(hidden, second)))",
        "for x, y in data:\n    out = tf.nn.relu(x @ first) @ second\n"
        "    total += int(tf.reduce_sum(tf.cast(tf.round(out) == y, tf.int32)))",
        "for x, y in data:\n    print(tf.reduce_mean(tf.nn.softmax(x @ first)))",
        "found = [tf.nn.relu(x @ first).numpy() for x, y in data]",
    ],
)
def test_a_loop_that_computes_a_model_itself_and_reads_results_is_told(tmp_path: Path, lines: str) -> None:
    assert _told(tmp_path, lines) == [(Severity.WARNING, "each iteration multiplies with weights")]


@pytest.mark.parametrize(
    "lines",
    [
        "for x in tf.zeros([7, 2]):\n    hidden = tf.tanh(x[None] @ first + hidden @ state)\nprint(hidden)",
        "for _ in range(100):\n    hidden = hidden @ state\n    hidden = hidden / tf.norm(hidden)\nprint(hidden)",
        "for x, y in data:\n    print(y.numpy())\n    hidden = x @ first",
        "for x, y in data:\n    print(tf.reduce_mean(tf.matmul(x, y, transpose_b=True)))",
        "for number in range(100):\n    print(number, (hidden @ state).shape)",
    ],
)
def test_layers_of_their_own_and_other_products_are_silent(tmp_path: Path, lines: str) -> None:
    assert _told(tmp_path, lines) == []
