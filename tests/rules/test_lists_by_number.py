"""Lists that get one thing for each of a number of iterations, where that number is another one each time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import random
import numpy as np
import tensorflow as tf

memory = [(np.ones(3, np.float32), 1.0) for _ in range(1000)]

@tf.function(jit_compile=True)
def learn(states):
    return tf.reduce_mean(states)

class Memory:
    def __init__(self, memory):
        self.memory = memory

    def sample(self, n):
        rows = []
        for position in np.random.uniform(0, 1000, n):
            rows.append(self.memory[int(position)])
        return rows

kept = Memory(memory)
for t in range(100):
    {size}
    {rows}
    learn({states})
"""
CHANGES: Final = "n = random.randint(64, 128)"
ROWS: Final = {
    "comprehension": "rows = [memory[i] for i in range(n)]",
    "loop": "rows = []\n    for i in range(n):\n        rows.append(memory[i])",
    "loop over an array": "rows = []\n    for i in np.random.uniform(0, 1, n):\n        rows.append(memory[int(i)])",
    "method": "rows = kept.sample(n)",
    "comprehension of a list": "rows = [row for row in kept.sample(n)]",
}
STATES: Final = {
    "rows": "np.stack([row[0] for row in rows])",
    "columns": "[np.asarray(column, np.float32) for column in zip(*rows)][0]",
    "mapped columns": "list(map(np.stack, zip(*rows)))[0]",
}


@pytest.mark.parametrize("states", STATES.values(), ids=STATES)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_as_long_as_a_number_that_changes(tmp_path: Path, rows: str, states: str) -> None:
    assert _codes(tmp_path, PROGRAM.format(size=CHANGES, rows=rows, states=states)) == ["XLA308"]


@pytest.mark.parametrize("states", STATES.values(), ids=STATES)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_as_long_as_a_number_that_stays(tmp_path: Path, rows: str, states: str) -> None:
    assert _codes(tmp_path, PROGRAM.format(size="n = 64", rows=rows, states=states)) == []


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_of_as_many_as_are_asked_for_later(tmp_path: Path, rows: str) -> None:
    states = "np.stack([row[0] for row in rows][:64])"
    assert _codes(tmp_path, PROGRAM.format(size=CHANGES, rows=rows, states=states)) == []


@pytest.mark.parametrize(
    ("arrays", "found"),
    [
        ("np.ones([n, 3]), np.ones([n, 3])", 1),
        ("tf.random.normal([n, 3]), tf.random.normal([n, 3])", 1),
        ("np.ones([n, 3]), np.ones([m, 3])", 2),
    ],
)
def test_arrays_that_are_made_alike_are_one_finding(tmp_path: Path, arrays: str, found: int) -> None:
    text = f"""\
import random
import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def learn(states, values):
    return tf.reduce_mean(states), tf.reduce_sum(values)

for t in range(100):
    n, m = random.randint(64, 128), random.randint(64, 128)
    learn({arrays})
"""
    assert _codes(tmp_path, text) == ["XLA308"] * found


def _codes(folder: Path, text: str) -> list[str]:
    file = folder / "train.py"
    file.write_text(text, encoding="utf-8")
    report = check([file], Settings())
    assert report.problems == ()
    return [finding.code for finding in report.findings]
