"""What eager code selects by a mask: its shape is static in a compiled step, and another one each time (XLA308)."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

SETUP = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(rows):
    return tf.reduce_sum(tf.cumsum(rows))

fixed = tf.constant([True, False, True, True])
data = tf.data.Dataset.from_tensor_slices(tf.random.normal([40, 3])).batch(4, drop_remainder=True)
"""
LARGEST = """\
@tf.function(jit_compile=True)
def largest(rows, scores):
    count = tf.reduce_sum(tf.cast(scores > 0.5, tf.int32))
    return tf.math.top_k(rows, count)[0]

for x in data:
    y = SELECTED
    largest(tf.reshape(x, [-1]), tf.where(y > 0, y, 0.0))
"""
SELECTED = ("x[x[:, 0] > 0]", "tf.boolean_mask(x, x[:, 0] > 0)", "tf.boolean_mask(x, x[0] > 0, axis=1)")
ALIKE = ("x[fixed]", "tf.boolean_mask(x, fixed)", "tf.where(x > 0, x, 0.0)", "tf.reduce_sum(x[x[:, 0] > 0], axis=0)")


def told(folder: Path, text: str) -> set[str]:
    (folder / "train.py").write_text(SETUP + text, encoding="utf-8")
    return {one.code for one in check([folder], Settings()).findings}


@pytest.mark.parametrize("text", SELECTED)
def test_another_number_is_selected_in_each_iteration(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, f"for x in data:\n    step({text})\n") == {"XLA308"}


@pytest.mark.parametrize("text", SELECTED)
def test_what_is_selected_once_is_of_one_size(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, f"x = tf.random.normal([4, 3])\nstep({text})\n") == set()


@pytest.mark.parametrize("text", ALIKE)
def test_what_is_as_long_each_time_is_not_told_of(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, f"for x in data:\n    step({text})\n") == set()


@pytest.mark.parametrize("text", SELECTED)
def test_a_size_from_what_was_selected_depends_on_data(tmp_path: Path, text: str) -> None:
    assert "XLA205" in told(tmp_path, LARGEST.replace("SELECTED", text))


def test_what_is_selected_in_the_step_has_a_bounded_shape(tmp_path: Path) -> None:
    text = "@tf.function(jit_compile=True)\ndef outer(x):\n    return step(tf.boolean_mask(x, x > 0))\n"
    assert "XLA201" in told(tmp_path, f"{text}outer(tf.random.normal([4]))\n")


@pytest.mark.compiler
@pytest.mark.parametrize("text", [*SELECTED, *ALIKE])
def test_each_number_of_rows_is_traced(text: str) -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    names: dict[str, object] = {}
    exec(SETUP.replace("random.normal([40, 3])", "random.stateless_normal([40, 3], [1, 2])"), names)
    step, data = names["step"], names["data"]
    assert callable(step)
    for x in data:  # type: ignore[attr-defined]
        step(eval(text, {"tf": tf, "fixed": names["fixed"], "x": x}))
    assert (step.experimental_get_tracing_count() > 1) is (text in SELECTED)  # type: ignore[attr-defined]
