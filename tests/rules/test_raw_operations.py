"""Operations that a program calls by their raw names: as much is told of them as of the functions around them."""

from __future__ import annotations

import pytest

from xlalint import lint_source


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("tf.raw_ops.Range(start=0, limit=n, delta=1)", "XLA205"),
        ("tf.range(0, n, 1)", "XLA205"),
        ("tf.raw_ops.Range(start=0, limit=9, delta=1)", None),
    ],
)
def test_size_from_a_value(call: str, code: str | None) -> None:
    text = f"import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef f(n: tf.Tensor):\n    return {call}\n"
    assert [one.code for one in lint_source(text).findings] == [code] * (code is not None)
