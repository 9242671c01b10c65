"""Code with a `GradientTape` that runs line by line: with a target it is judged as what that would compile."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.codes import BUT_FOR_STRATEGY
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SETUP = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
data = tf.data.Dataset.from_tensor_slices((tf.ones([70, 3]), tf.ones([70, 1]))).batch(32)
"""
LOSS = """
def loss_of(x, y):
    kept = tf.boolean_mask(model(x), y > 0)
    if tf.reduce_sum(kept) > 1:
        kept = kept * 2
    print(kept.numpy())
    return tf.reduce_mean(kept)
"""
STEP = """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
LOOP = """
for x, y in data:
    step(x, y)
"""
APART = """
@tf.function
def shifted(x, by):
    return x + by

for epoch in range(9):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(shifted(model(tf.ones([8, 3])), epoch))
"""


def found(folder: Path, text: str, target: str | None = "tpu") -> set[tuple[str, Severity]]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return {
        (one.code, one.severity) for one in check([folder], Settings(target=target, codes=BUT_FOR_STRATEGY)).findings
    }


def test_a_target_judges_what_a_tape_records(tmp_path: Path) -> None:
    assert found(tmp_path, SETUP + LOSS + STEP + LOOP) == {
        ("XLA506", Severity.WARNING),
        ("XLA302", Severity.WARNING),
        ("XLA201", Severity.WARNING),
        ("XLA106", Severity.WARNING),
        ("XLA101", Severity.INFO),  # AutoGraph would convert it
    }


@pytest.mark.parametrize("text", [SETUP + LOSS + STEP + LOOP, SETUP + APART])
def test_nothing_is_said_without_a_target(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text, None) == set()


def test_a_compiled_loss_stays_an_error_beside_an_eager_step(tmp_path: Path) -> None:
    compiled = LOSS.replace("\ndef", "\ndef plain(x, y):\n    return loss_of(x, y)\n\ndef", 1)
    called = LOOP + "    tf.function(plain, jit_compile=True)(x, y)\n"
    assert ("XLA106", Severity.ERROR) in found(tmp_path, SETUP + compiled + STEP + called)


def test_a_function_that_is_compiled_by_itself_is_none_of_the_step(tmp_path: Path) -> None:
    assert ("XLA306", Severity.WARNING) in found(tmp_path, SETUP + APART)


TAPE = "with tf.GradientTape() as tape:\n    y = tf.reduce_sum(x**2)\nprint(tape.gradient(y, x))\n"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (TAPE, Severity.INFO),
        ("if __name__ == '__main__':\n" + indent(TAPE, "    "), Severity.INFO),
        ("for _ in range(9):\n" + indent(TAPE, "    "), Severity.WARNING),
        ("def step():\n" + indent(TAPE, "    ") + "\nstep()\n", Severity.INFO),
        ("def step():\n" + indent(TAPE, "    ") + "\nfor _ in range(9):\n    step()\n", Severity.WARNING),
    ],
)
def test_a_step_that_a_script_runs_once_is_information(text: str, severity: Severity, tmp_path: Path) -> None:
    assert found(tmp_path, f"import tensorflow as tf\n\nx = tf.Variable([3.0])\n{text}") == {("XLA506", severity)}
