"""Steps that run line by line on arrays of NumPy: what a loop passes them will be tensors, once they are compiled."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(9)
weights = np.ones([8, 1], "float32")

def ranked(loss, y):
    {ranked}

for x, y in {batches}:
    with tf.GradientTape() as tape:
        loss = ranked((model(x) - y) ** 2, y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    {behind}
"""
ITERATOR: Final = "data.as_numpy_iterator()"
PLAIN: Final = {"ranked": "return tf.reduce_sum(loss)", "batches": ITERATOR, "behind": "pass"}
FOUND: Final = {
    "in an array": ({"ranked": "return tf.reduce_sum(loss if 1.0 in y else -loss)"}, "XLA104"),
    "as many as": ({"ranked": "return tf.reduce_sum(tf.math.top_k(loss[:, 0], int(y[0, 0])).values)"}, "XLA205"),
    "a mask": ({"ranked": "return tf.cumsum(tf.boolean_mask(loss, y > 0.0))[-1]"}, "XLA201"),
    "of a list": (
        {"ranked": "return tf.reduce_sum(loss if 1.0 in y else -loss)", "batches": f"list({ITERATOR})"},
        "XLA104",
    ),
    "by NumPy": ({"ranked": "return tf.reduce_sum(loss) * float(np.mean(y))"}, "XLA106"),
}
SILENT: Final = {
    "its shape": {"ranked": "return tf.reduce_sum(loss) if y.shape[0] > 1 else loss"},
    "made before": {"ranked": "return tf.reduce_sum(loss if 1.0 in weights else -loss)"},
    "behind the step": {"behind": "print(np.mean(y), 1.0 in y)"},
    "computed with": {"ranked": "return tf.reduce_sum(loss * tf.abs(y))"},
}


def told(parts: dict[str, str], target: str | None = "tpu") -> set[str]:
    findings = lint_source(PROGRAM.format(**PLAIN | parts), settings=Settings(target=target)).findings
    return {one.code for one in findings} - {"XLA302", "XLA506", "XLA512", "XLA516", "XLA518"}


@pytest.mark.parametrize("name", FOUND)
def test_what_a_step_asks_of_arrays(name: str) -> None:
    parts, code = FOUND[name]
    assert code in told(parts)
    assert not told(parts, None)


@pytest.mark.parametrize("name", SILENT)
def test_what_is_known_of_arrays(name: str) -> None:
    assert not told(SILENT[name])


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*FOUND, *SILENT])
def test_the_programs_run_line_by_line(name: str) -> None:
    parts = FOUND[name][0] if name in FOUND else SILENT[name]
    exec(PROGRAM.format(**PLAIN | parts), {})
