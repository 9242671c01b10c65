"""A loop over batches that is left in its first iteration does not meet the smaller last batch (XLA302)."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(rows):
    return tf.reduce_sum(rows)

data = tf.data.Dataset.from_tensor_slices(tf.ones([70, 3])).batch(32)

def first():
    for x in data:
        return x

"""
LEFT = (
    "for x in data:\n    step(x)\n    break\n",
    "for x in data:\n    y = tf.reduce_mean(x, axis=1)\n    break\nstep(y)\n",
    "for number, x in enumerate(data):\n    step(x); break\n",
    "step(first())\n",
)
GONE_ON = (
    "for x in data:\n    step(x)\n    if tf.reduce_sum(x) > 1e9:\n        break\n",
    "for x in data:\n    for row in x:\n        break\n    step(x)\n",
    "for x in data:\n    y = x\nstep(y)\n",
)


def told(folder: Path, text: str) -> bool:
    (folder / "train.py").write_text(PROGRAM + text, encoding="utf-8")
    return any(one.code == "XLA302" for one in check([folder], Settings()).findings)


@pytest.mark.parametrize("text", LEFT)
def test_the_first_batch_is_whole(tmp_path: Path, text: str) -> None:
    assert not told(tmp_path, text)


@pytest.mark.parametrize("text", GONE_ON)
def test_a_loop_that_goes_on_meets_the_last(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text)
