"""Loops that read values by the same function: one cause, which is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

STEP: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
    return loss

def run(x):
    return step(x).numpy()
"""
TWO: Final = """
def warm(data):
    for x in data:
        {first}

def train(data):
    for x in data:
        run(x)

warm([tf.ones([8, 3])] * 9)
train([tf.ones([8, 3])] * 9)
"""


@pytest.mark.parametrize(
    ("first", "lines", "others"),
    [
        ("run(x)", [17], 1),
        ("step(x).numpy()", [17, 21], 0),  # its own read
    ],
)
def test_loops_that_call_one_function(tmp_path: Path, first: str, lines: list[int], others: int) -> None:
    (tmp_path / "m.py").write_text(STEP + TWO.format(first=first), encoding="utf-8")
    findings = [found for found in check([tmp_path], Settings(target="tpu")).findings if found.code == "XLA516"]
    assert [found.span.line for found in findings] == lines
    assert [note.span.line for note in findings[0].notes if "loop" in note.text] == [21] * others


def test_a_loop_of_a_test_stands_for_no_other(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(STEP, encoding="utf-8")
    loop = "import tensorflow as tf\nfrom m import run\n\n{}for x in [tf.ones([8, 3])] * 9:\n        run(x)\n"
    (tmp_path / "main.py").write_text(loop.format("def main():\n    ") + "\nmain()\n", encoding="utf-8")
    (tmp_path / "a_test.py").write_text(loop.format("def test_it():\n    "), encoding="utf-8")
    findings = [found for found in check([tmp_path], Settings(target="tpu")).findings if found.code == "XLA516"]
    assert ("main.py", 0) in [(Path(found.path).name, len(found.notes) - 1) for found in findings]


NUMBERED: Final = """
def train(data):
    total = 0.0
    for number, x in data.enumerate():
        loss = step(x)
        if {asked}:
            total = 0.0
        total += loss
    return total

train(tf.data.Dataset.from_tensors(tf.ones([8, 3])).repeat(9))
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("number == 0", False),  # the dataset counts on the host
        ("not number", False),
        ("loss > 1.0", True),
        ("number * loss > 1.0", True),
    ],
)
def test_number_of_an_element(tmp_path: Path, asked: str, found: bool) -> None:
    (tmp_path / "m.py").write_text(STEP + NUMBERED.format(asked=asked), encoding="utf-8")
    codes = [finding.code for finding in check([tmp_path], Settings(target="tpu")).findings]
    assert ("XLA516" in codes) is found
