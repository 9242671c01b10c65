"""A loop that asks for one batch after the other meets the smaller last one where the data begin again behind it, or
where it asks for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

SETUP = """\
import itertools
import math
import sys

import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(*rows):
    return tf.reduce_sum(rows[0])

def passes(data, size, epochs):
    for epoch in range(epochs):
        data = data[np.random.permutation(len(data))]
        for start in range(0, len(data), size):
            yield data[start : start + size]

def forever(data, size):
    while True:
        for start in range(0, len(data), size):
            yield data[start : start + size]

def once(data, size):
    for start in range(0, len(data), size):
        yield data[start : start + size]

data = np.ones((70, 3), "float32")
dataset = tf.data.Dataset.from_tensor_slices(data).batch(32)
many = int(sys.argv[1]) if sys.argv[1:] else 100
"""
MEETING = (
    "rows = passes(data, 32, 900)\nfor number in range(2000):\n    step(next(rows))",
    "rows = passes(data, 32, 900)\nfor number in range(many):\n    batch = next(rows)\n    step(batch)",
    "rows = forever(data, 32)\nfor epoch in range(3):\n    for number in range(2):\n        step(next(rows))",
    "rows = iter(dataset.repeat())\nfor number in range(many):\n    step(next(rows))",
    "rows = forever(data, 32)\nwhile True:\n    step(next(rows))",
    "rows = iter(dataset)\nfor number in range(len(dataset)):\n    step(next(rows))",
    "rows = iter(dataset)\nfor number in range(math.ceil(len(data) / 32)):\n    batch = next(rows)\n    step(batch)",
    "rows = iter(dataset)\nfor number in range(3):\n    step(next(rows))",
    "for batch in once(np.array(list(zip(data, data)), dtype=object), 32):\n"
    "    x, y = zip(*batch)\n    step(np.array(x, 'float32'), np.array(y, 'float32'))",
    "for batch in once(list(zip(data, data)), 32):\n    x, y = zip(*batch)\n    step(x, y)",
)
BEFORE = (
    "for number in range(many):\n    step(next(iter(dataset.repeat())))",
    "rows = passes(data, 32, 3)\nfor number in range(2):\n    step(next(rows))",
    "rows = passes(data, 32, 3)\nstep(next(rows))",
    "for epoch in range(3):\n    rows = forever(data, 32)\n    for number in range(2):\n        step(next(rows))",
    "rows = forever(data, 32)\nfor number in range(len(data) // 32):\n    step(next(rows))",
    "rows = once(data, 32)\nfor number in range(2):\n    step(next(rows))",
    "rows = iter(dataset)\nfor number in range(2):\n    step(next(rows))",
    "rows = iter(dataset)\nfor number in range(len(data) // 32):\n    step(next(rows))",
    "rows = iter(dataset.repeat())\nfor number in range(len(data) // 32):\n    step(next(rows))",
)


def told(folder: Path, text: str) -> bool:
    (folder / "train.py").write_text(f"{SETUP}\n{text}\n", encoding="utf-8")
    return any(one.code == "XLA302" for one in check([folder], Settings()).findings)


@pytest.mark.parametrize("text", MEETING)
def test_the_smaller_batch_is_met(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text)


@pytest.mark.parametrize("text", BEFORE)
def test_the_loop_ends_before_it(tmp_path: Path, text: str) -> None:
    assert not told(tmp_path, text)


@pytest.mark.compiler
@pytest.mark.parametrize("text", [*(text for text in MEETING if "while" not in text), *BEFORE])
def test_how_often_the_step_is_traced(text: str) -> None:
    names: dict[str, object] = {}
    exec(f"import sys\nsys.argv = ['train.py']\n{SETUP}\n{text}\n", names)
    traces = names["step"].experimental_get_tracing_count()  # type: ignore[attr-defined]
    assert traces == (2 if text in MEETING else 1)
