"""Batches and elements that a filter keeps by their size, and those that it does not keep by that."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

BATCHES: Final = """\
import tensorflow as tf

SIZE = 32
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
data = tf.data.Dataset.from_tensor_slices((tf.ones([70, 3]), tf.ones([70, 1])))

def is_whole(x, y):
    return tf.shape(x)[0] == SIZE

model.fit(data.batch(SIZE).filter({kept}), epochs=2)
"""
ROWS: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

rows = tf.data.Dataset.range(1, 9).map(lambda length: tf.ones([4 + length % 2]))
for tokens in rows.filter({kept}).padded_batch(2, drop_remainder=True):
    step(tokens)
"""


def _codes(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    return [finding.code for finding in check([tmp_path], Settings()).findings if finding.code.startswith("XLA3")]


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("is_whole", []),
        ("lambda x, y: tf.shape(x)[0] == 32", []),
        ("lambda x, y: SIZE == tf.shape(y)[0]", []),
        ("lambda x, y: tf.equal(tf.shape(x)[0], SIZE)", []),
        ("lambda x, y: tf.math.equal(SIZE, tf.shape(x)[0])", []),
        ("lambda x, y: tf.cast(tf.shape(x)[0], tf.int64) == SIZE", []),
        ("lambda x, y: tf.shape(x, out_type=tf.int64)[0] == SIZE", []),
        ("lambda x, y: tf.shape(x)[0] > 1", ["XLA302"]),
        ("lambda x, y: tf.shape(x)[0] != 1", ["XLA302"]),
        ("lambda x, y: tf.shape(x)[1] == 3", ["XLA302"]),
        ("lambda x, y: tf.shape(x)[0] == tf.shape(y)[0]", ["XLA302"]),
        ("lambda x, y: tf.reduce_sum(x) == 96.0", ["XLA302"]),
    ],
)
def test_batches(tmp_path: Path, kept: str, found: list[str]) -> None:
    assert _codes(tmp_path, BATCHES.format(kept=kept)) == found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("lambda row: tf.shape(row)[0] == 4", []),
        ("lambda row: tf.shape(row)[0] > 3", ["XLA303"]),
        ("lambda row: tf.reduce_sum(row) > 3.0", ["XLA303"]),
    ],
)
def test_padded_elements(tmp_path: Path, kept: str, found: list[str]) -> None:
    assert _codes(tmp_path, ROWS.format(kept=kept)) == found
