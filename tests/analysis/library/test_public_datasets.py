"""How many examples the splits of public data sets have, and what that says of their last batch."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.analysis.library.public_datasets import examples_of

PROGRAM: Final = """
import tensorflow as tf
import tensorflow_datasets as tfds

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=True)
{loading}
model.fit(rows.map(lambda x, y: (tf.zeros([3]), y)).shuffle(100).batch({size}))
"""


@pytest.mark.parametrize(
    ("name", "split", "examples"),
    [
        ("imdb_reviews", "train", 25_000),
        ("mnist:3.*.*", "train+test", 70_000),
        ("tf_flowers", "train[:80%]", 2_936),
        ("tf_flowers", "train[80%:]", 734),
        ("cifar10", "test[:-500]", 9_500),
        ("cifar10", "train[100:228]", 128),
        ("cifar10", "validation", None),
        ("cifar10", "train[:50%]+validation", None),
        ("mnist", "train[::2]", None),
        ("somebody's own", "train", None),
    ],
)
def test_examples(name: str, split: str, examples: int | None) -> None:
    assert examples_of(name, split) == examples


@pytest.mark.parametrize(
    ("loading", "size", "told"),
    [
        ('rows, info = tfds.load(name="imdb_reviews", split="train", with_info=True)', 100, ""),
        ('rows, _ = tfds.load("mnist", split=["train[:50%]", "test"])', 500, ""),
        ('rows = tfds.load("mnist")["test"]', 500, ""),
        ('rows = tfds.load("mnist")["test"]', 128, "is smaller (10000 elements in batches of 128)"),
        ('rows = tfds.load("somebody\'s own", split="train")', 100, "may be smaller"),
    ],
)
def test_last_batch(loading: str, size: int, told: str) -> None:
    report = lint_source(PROGRAM.format(loading=loading, size=size))
    findings = [finding for finding in report.findings if finding.code == "XLA302"]
    assert [told in finding.message for finding in findings] == ([True] if told else [])
