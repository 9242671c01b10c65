"""Functions that `tf.map_fn` calls for one element after the other: those that take a batch, and others (XLA313)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

# Bodies of `of(row)`, of which `tf.vectorized_map` leaves no loop.
BATCHED: Final = {
    "arithmetic": "return row * 2.0 + 1.0",
    "a product of matrices": "return row @ tf.ones([4, 3])",
    "a reduction": "return tf.reduce_sum(row, -1)",
    "a choice": "return tf.where(row > 0.0, row, 0.0)",
    "a fixed slice": "return row[1:3]",
    "gathered": "return tf.gather(row, tf.argmax(row[:, 0]))",
    "another shape": "return tf.transpose(tf.reshape(row, [4, 6]))",
    "joined": "return tf.concat([row, tf.zeros_like(row)], 0)",
    "sorted": "return tf.sort(row)",
    "the largest": "return tf.math.top_k(row, 2).values",
    "a condition in the graph": "return tf.cond(tf.reduce_sum(row) > 0.0, lambda: row, lambda: -row)",
    "a sum so far": "return tf.cumsum(row)",
    "a picture": "return tf.image.flip_left_right(row[..., None])",
    "a layer": "return dense(row)",
    "a helper": "return normed(row)",
    "a Python condition": "if row.shape[0] == 6:\n        row = row[:5]\n    return tf.exp(row)",
    "a Python loop": "for _ in range(2):\n        row = tf.tanh(row)\n    return row",
    "the inverse": "return tf.linalg.inv(row[:4] + 9.0 * tf.eye(4))",
}
# Those of which it leaves one, or which it cannot convert, or for which it computes something else.
SINGLE: Final = {
    "a loop in the graph": "return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, row])[1]",
    "a scan": "return tf.scan(lambda a, b: a + b, row)",
    "random numbers": "return row + tf.random.normal([6, 4])",
    "seeded numbers": "return row + tf.random.stateless_normal([6, 4], [tf.cast(row[0, 0], tf.int32), 1])",
    "boxes": "return tf.cast(tf.image.non_max_suppression(row, row[:, 0], 3), tf.float32)",
    "a variable": "total.assign_add(tf.reduce_sum(row))\n    return row * total",
    "a mask": "return tf.reduce_sum(tf.boolean_mask(row, row > 0.0))",
    "places": "return tf.reduce_sum(tf.cast(tf.where(row > 0.0), tf.float32))",
    "distinct values": "return tf.cast(tf.size(tf.unique(tf.reshape(row, [-1]))[0]), tf.float32)",
    "resized": "return tf.image.resize(row[..., None], [3, 3])",
    "singular values": "return tf.linalg.svd(row, compute_uv=False)",
    "a helper": "return drawn(row)",
}
TEXT: Final = """\
import tensorflow as tf

dense = tf.keras.layers.Dense(3)
dense.build([None, 4])
total = tf.Variable(0.0)

def normed(rows):
    return rows / (tf.norm(rows, axis=-1, keepdims=True) + 1.0)

def drawn(rows):
    return rows * tf.random.uniform([4])

def of(row):
    {body}

@tf.function(jit_compile=True)
def step(rows):
    return tf.map_fn(of, rows, fn_output_signature=tf.float32)
"""
# What is said of a whole program.
PROGRAMS: Final = {
    "compiled by a plain `tf.function`": (TEXT.replace("(jit_compile=True)", ""), [Severity.INFO]),
    "on the host": (TEXT.replace("@tf.function(jit_compile=True)\n", "") + "\nstep(tf.ones([8, 6, 4]))\n", []),
    "one element": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(of, tf.expand_dims(rows, 0),"), []),
    "one element by a name": (
        TEXT.replace("return tf.map_fn(of, rows,", "one = rows[None]\n    return tf.map_fn(of, one,"),
        [],
    ),
    "several": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(of, tf.expand_dims(rows, 1),"), [Severity.WARNING]),
    "ragged results": (TEXT.replace("=tf.float32)", "=tf.RaggedTensorSpec([None], tf.float32))"), []),
    "by keyword": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(elems=rows, fn=of,"), [Severity.WARNING]),
    "an operation": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(tf.nn.softmax, rows,"), [Severity.WARNING]),
    "a layer itself": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(dense, rows,"), [Severity.WARNING]),
    "an operation that draws": (TEXT.replace("tf.map_fn(of, rows,", "tf.map_fn(tf.random.shuffle, rows,"), []),
    "a function that is passed": (
        TEXT.replace("def step(rows):", "def step(rows, f):").replace("tf.map_fn(of", "tf.map_fn(f"),
        [],
    ),
    "what nobody knows": (
        "from elsewhere import own\n" + TEXT.replace("{body}", "return own(row)"),
        [Severity.INFO],
    ),
}


def found(folder: Path, text: str) -> list[Severity]:
    (folder / "train.py").write_text(text.replace("{body}", "return row * 2.0"), encoding="utf-8")
    return [one.severity for one in check([folder], Settings()).findings if one.code == "XLA313"]


@pytest.mark.parametrize("name", BATCHED)
def test_what_takes_a_batch(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, TEXT.replace("{body}", BATCHED[name])) == [Severity.WARNING]


@pytest.mark.parametrize("name", SINGLE)
def test_what_takes_one_element(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, TEXT.replace("{body}", SINGLE[name])) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_where_it_is_said(name: str, tmp_path: Path) -> None:
    text, severities = PROGRAMS[name]
    assert found(tmp_path, text) == severities


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("body", "batched"),
    [
        pytest.param(body, batched, marks=claim(TEXT, body, batched))
        for bodies, batched in ((BATCHED, True), (SINGLE, False))
        for body in bodies.values()
    ],
)
def test_what_is_left_of_the_loop(body: str, batched: bool) -> None:
    import numpy as np
    import tensorflow as tf  # type: ignore[import-untyped]

    namespace: dict[str, Any] = {}
    exec(TEXT.replace("{body}", body), namespace)
    rows = tf.random.stateless_normal([8, 6, 4], [1, 2])
    step, function = namespace["step"], namespace["of"]
    assert " while(" in step.experimental_get_compiler_ir(rows)(stage="hlo")
    mapped = tf.function(lambda elements: tf.vectorized_map(function, elements), jit_compile=True)
    try:
        made = mapped(rows)
        same = made.shape == (there := step(rows)).shape and np.allclose(made, there, atol=1e-4)
        loops = " while(" in mapped.experimental_get_compiler_ir(rows)(stage="hlo")
    except (ValueError, tf.errors.InvalidArgumentError):
        same, loops = False, False
    assert (same and not loops) == batched
