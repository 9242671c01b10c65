"""Loops that pass a compiled function what it returned before: a cache that gets longer, or a state that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

ONE: Final = "x, past = step(x, past)"
# What the function does, and what the loop does with it.
LONGER: Final = {
    "a cache": ("past = tf.concat([past, x], 1)\n    return x, past", ONE),
    "in front": ("return x, tf.concat([x, past], axis=1)", ONE),
    "by a keyword": ("return x, tf.concat([past, x], 1)", "x, past = step(x, past=past)"),
    "another name": ("return tf.concat([past, x], 1), x", "new, x = step(x, past)\n        past = new"),
    "it alone": ("return tf.concat([past, x], 1)", "past = step(x, past)"),
    "computed with": ("past = tf.concat([past, x], 1)\n    return tf.nn.relu(x), past * 2.0", ONE),
    "as a mask, too": ("past = tf.concat([past, x], 1)\n    return tf.reduce_sum(past, 1, keepdims=True), past", ONE),
}
AS_LONG: Final = {
    "another result": ("past = tf.concat([past, x], 1)\n    return x, tf.reduce_sum(past, 1, keepdims=True)", ONE),
    "a window": ("return x, tf.concat([past[:, 1:], x], 1)", ONE),
    "a window of a cache": ("past = tf.concat([past, x], 1)\n    return x, past[:, -1:]", ONE),
    "a state and a weight": ("return x, tf.tanh(tf.matmul(tf.concat([x, past], 2), weight))", ONE),
    "along the features": ("return x, tf.einsum('bsd,de->bse', tf.concat([x, past], -1), weight)", ONE),
    "a layer": ("return x, dense(tf.concat([x, past], 2))", ONE),
    "split again": ("past, x = tf.split(tf.concat([past, x], 1), 2, 1)\n    return x, past", ONE),
    "to the other one": ("return tf.concat([x, x], 1)[:, :1], past", ONE),
    "begun anew": ("return x, tf.concat([past, x], 1)", "x, past = step(x, tf.zeros([2, 1, 4]))"),
    "within the function": (
        "for _ in range(2):\n        past = tf.concat([past, past], 1)\n    return x, past[:, :1]",
        ONE,
    ),
}
PROGRAM: Final = """\
import tensorflow as tf

weight = tf.ones([8, 4])
dense = tf.keras.layers.Dense(4)
dense.build([None, None, 8])

@tf.function(jit_compile=True)
def step(x, past):
    {}

def run(x, past):
    for _ in range(6):
        {}

run(tf.ones([2, 1, 4]), tf.ones([2, 1, 4]))
"""


@pytest.mark.parametrize("name", [*LONGER, *AS_LONG])
def test_what_a_call_returns_to_the_next(name: str, tmp_path: Path) -> None:
    (tmp_path / "generate.py").write_text(PROGRAM.format(*(LONGER | AS_LONG)[name]), encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings()).findings if one.code.startswith("XLA3")]
    assert found == ["XLA309"] * (name in LONGER)


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*LONGER, *AS_LONG])
def test_the_step_has_as_many_shapes(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(PROGRAM.format(*(LONGER | AS_LONG)[name]), namespace)
    traces = namespace["step"].experimental_get_tracing_count()  # type: ignore[attr-defined]
    assert (traces > 1) == (name in LONGER)
