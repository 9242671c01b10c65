"""What a mask leaves out stays out of losses, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

CODE = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(y_true, y_pred):
    mask = {test}
    y_true = tf.boolean_mask(tensor=y_true, mask=mask)
    y_pred = tf.boolean_mask(tensor=y_pred, mask=mask)
    return tf.reduce_mean(tf.square(y_true - y_pred))
"""


@pytest.mark.parametrize(
    ("test", "is_safe"),
    [("tf.math.is_finite(y_true)", True), ("~tf.math.is_nan(y_true)", True), ("y_true > 0.5", False)],
)
def test_what_is_not_finite_is_replaced_before_it_is_weighed(tmp_path: Path, test: str, is_safe: bool) -> None:
    path = tmp_path / "m.py"
    path.write_text(CODE.format(test=test), encoding="utf-8")
    (change,) = fix([path], Settings(unsafe_fixes=True)).changes
    expected = "tf.where(mask > 0.0, y_true, 0)" if is_safe else "y_true"
    assert f"tf.square({expected} - y_pred) * mask" in change.after.decode()


TWICE = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(y_true, y_pred, first, second):
    loss = tf.keras.losses.MeanSquaredError(reduction="sum")
    return loss(y_true[tf.logical_or(first, second)], y_pred[tf.logical_or(first, second)])
"""


def test_a_mask_that_is_written_twice_has_one_name(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(TWICE, encoding="utf-8")
    (change,) = fix([path], Settings(unsafe_fixes=True)).changes
    assert change.after.decode().count("logical_or") == 1
