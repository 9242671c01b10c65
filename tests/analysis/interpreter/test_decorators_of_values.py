"""Decorators that name what their module makes, of functions that the module itself calls."""

from __future__ import annotations

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM = """
import tensorflow as tf

DTYPES = [tf.float32, tf.int32]
model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])

{decorator}
def score(x):
    return model(x)

def main(rows):
    for row in rows:
        score(row)

main(tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(1))
"""


@pytest.mark.parametrize(
    ("decorator", "codes"),
    [
        ("", {"XLA517"}),
        ("@tf.function", set()),
        ("@tf.function(input_signature=[tf.TensorSpec([None, 4], DTYPES[0])])", set()),
        ("@tf.function(input_signature=[tf.TensorSpec([None, 4], dtype) for dtype in DTYPES[:1]])", set()),
    ],
)
def test_the_function_is_compiled_where_its_module_calls_it(decorator: str, codes: set[str]) -> None:
    findings = lint_source(PROGRAM.format(decorator=decorator), settings=Settings(target="tpu")).findings
    assert {one.code for one in findings} == codes
