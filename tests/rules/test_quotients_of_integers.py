"""Quotients of integers: those that TensorFlow computes in float64, which a TPU has no numbers for (XLA507)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

WIDE: Final = {
    "by an operator": "hits / (hits + 1)",
    "by a number": "hits / 3",
    "of a number": "6 / tf.maximum(hits, 1)",
    "by a function": "tf.divide(hits, tf.range(1, 5))",
    "by another name": "tf.math.truediv(hits, 2)",
    "without zeros": "tf.math.divide_no_nan(hits, hits)",
    "of positions": "tf.argsort(x) / 4",
    "of 64 bits": "tf.cast(x, tf.int64) / tf.constant(3, tf.int64)",
    "of a sum so far": "tf.cumsum(hits) / 4",
    "cast behind": "tf.cast(hits / 4, tf.float32)",
    "counted in a loop": "counted(hits) / 2",
}
NARROW: Final = {
    "of 8 bits": "tf.cast(tf.abs(x), tf.uint8) / tf.cast(3, tf.uint8)",
    "of 16 bits": "tf.cast(x, tf.int16) / 3",
    "of floats": "x / 3.0",
    "cast before": "tf.cast(hits, tf.float32) / 4.0",
    "by Keras": "tf.keras.ops.divide(hits, 4)",
    "rounded down": "hits // 4",
    "a mean": "tf.reduce_mean(hits)",
}
SINGLE: Final = {
    "one number": "tf.reduce_sum(hits) / 4",
    "a size": "tf.size(x) / 2",
}
TEXT: Final = """\
import tensorflow as tf

def counted(n):
    for _ in range(3):
        n = tf.add(n, 1)
    return n

@tf.function(jit_compile=True)
def of(x):
    hits = tf.cast(x > 0.0, tf.int32)
    return {quotient}
"""


@pytest.mark.parametrize("name", [*WIDE, *NARROW, *SINGLE])
@pytest.mark.parametrize("target", ["tpu", None])
def test_what_is_divided_in_float64(name: str, target: str | None, tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(TEXT.format(quotient=(WIDE | NARROW | SINGLE)[name]), encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA507"]
    told = name in WIDE and target is not None and name != "counted in a loop"
    assert found == (["XLA507"] if told else [])


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*WIDE, *NARROW, *SINGLE])
def test_what_is_compiled(name: str) -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    namespace: dict[str, Any] = {}
    exec(TEXT.format(quotient=(WIDE | NARROW | SINGLE)[name]), namespace)
    compiled = namespace["of"].experimental_get_compiler_ir(tf.ones([4]))(stage="hlo")
    assert ("f64[" in compiled) == (name not in NARROW)
