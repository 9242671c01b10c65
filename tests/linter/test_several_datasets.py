"""A dataset that is one of many, some of which are batched: what each of them yields is what it may yield."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM = """\
import sys

import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(rows):
    return tf.reduce_sum(rows)

def load(name):
    rows = tf.data.Dataset.from_tensor_slices(np.load(name))
    if name == "a":
        return rows.map(lambda x: x[0])
    if name == "b":
        return rows.map(lambda x: {"image": x}).map(lambda x: x["image"])
    if name == "c":
        return tf.data.TFRecordDataset(name).map(lambda x: tf.io.parse_tensor(x, tf.float32))
    if name == "d":
        return tf.data.Dataset.range(100).map(lambda x: tf.cast(x, tf.float32))
    return rows

data = load(sys.argv[1])
"""
BATCHED = (
    "if sys.argv[2] != 'a':\n    data = data.batch(32)\ndata = data.repeat()",
    "if sys.argv[2] != 'a':\n    data = data.repeat().batch(32)\nelse:\n    data = data.batch(32)",
    "data = data.batch(32) if sys.argv[2] else data",
)
WHOLE = (
    "if sys.argv[2] != 'a':\n    data = data.batch(32, drop_remainder=True)",
    "if sys.argv[2] != 'a':\n    data = data.repeat().batch(32)\nelse:\n    data = data.batch(32, drop_remainder=True)",
    "data = data.repeat().batch(32) if sys.argv[2] else data",
)


def told(folder: Path, text: str) -> bool:
    (folder / "train.py").write_text(f"{PROGRAM}{text}\nfor x in data:\n    step(x)\n", encoding="utf-8")
    return any(one.code == "XLA302" for one in check([folder], Settings()).findings)


@pytest.mark.parametrize("text", BATCHED)
def test_batches_of_some_are_told_of(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text)


@pytest.mark.parametrize("text", WHOLE)
def test_whole_batches_are_not(tmp_path: Path, text: str) -> None:
    assert not told(tmp_path, text)
