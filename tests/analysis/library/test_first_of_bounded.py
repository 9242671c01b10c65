"""Which results have a first dimension that is None while tracing: what is made of a bounded dynamic shape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# Of `m`, the elements of `x`, a vector of four, that a mask keeps: as many, or more by a number.
OPEN: Final = (
    "tf.identity(m)",
    "tf.stop_gradient(m)",
    "tf.cast(m, tf.int32)",
    "tf.reverse(m, [0])",
    "tf.sort(m)",
    "tf.argsort(m)",
    "tf.cumsum(m)",
    "tf.roll(m, 1, 0)",
    "tf.pad(m, [[1, 1]])",
    "tf.tile(m, [2])",
    "tf.repeat(m, 2)",
    "tf.expand_dims(m, 1)",
    "m[:, None]",
    "m[:, tf.newaxis]",
    "tf.stack([m, m], axis=1)",
    "tf.one_hot(tf.cast(m, tf.int32), 4)",
    "tf.where(m > 1.0, m, 0.0 * m)",
    "tf.clip_by_value(m, 0.0, 1.0)",
    "tf.nn.softmax(m)",
    "tf.nn.relu(m)",
    "tf.nn.embedding_lookup(tf.zeros([9, 3]), tf.cast(m, tf.int32))",
    "tf.gather(tf.zeros([9, 3]), tf.cast(m, tf.int32))",
    "tf.gather_nd(tf.zeros([9, 3]), tf.cast(m, tf.int32)[:, None])",
    "tf.gather_nd(x, tf.where(x > 3.0))",
    "tf.concat([m, x], axis=0)",
    "tf.concat([m[:, None], m[:, None]], axis=1)",
    "tf.concat([x, m], 0)",
    "tf.random.shuffle(m)",
    "tf.reshape(m, [-1])",
    "tf.reshape(m, [-1, 1])",
    "m[1:]",
    "m[::2]",
    "tf.boolean_mask(m, m > 4.0)",
    "tf.zeros_like(m)",
    "tf.ones_like(m)",
    "tf.add_n([m, m])",
    "m + 1.0",
    "1.0 + m",
    "tf.maximum(m, 0.0)",
    "tf.maximum(0.0, m)",
    "tf.linalg.matmul(m[:, None], tf.ones([1, 4]))",
    "m[:, None] @ tf.ones([1, 4])",
    "tf.einsum('i,j->ij', m, m)",
    "tf.reduce_sum(m[:, None], axis=1)",
    "tf.reduce_max(tf.stack([m, m], 1), -1)",
    "tf.argmax(tf.stack([m, m], 1), axis=1)",
    "tf.norm(m[:, None], axis=1)",
    "tf.math.l2_normalize(m)",
    "tf.squeeze(m[:, None], 1)",
    "tf.transpose(m[None, :])",
    "tf.unstack(tf.stack([m, m], 1), axis=1)[0]",
    "tf.split(tf.stack([m, m], 1), 2, axis=1)[0]",
    "tf.unique(m).y",
    "tf.logical_not(m > 1.0)",
    "tf.equal(m, 2.0)",
    "tf.convert_to_tensor(m)",
    "abs(m)",
    "-m",
    "m ** 2",
    "m // 2.0",
    "tf.stack([m, m], 1)[:, 0]",
    "tf.stack([m, m], 1)[..., 0]",
    "tf.stack([m, m], 1)[:, :1]",
    "tf.bitcast(m, tf.int32)",
    "tf.tensor_scatter_nd_update(m, [[0]], [1.0])",
    "tf.gather(m, tf.argsort(m))",
    "tf.math.invert_permutation(tf.argsort(m))",
    "tf.dynamic_partition(m, tf.cast(m > 4.0, tf.int32), 2)[0]",
    "tf.cond(tf.reduce_sum(x) > 1.0, lambda: m + 1.0, lambda: m)",
    "tf.where(m > 4.0)",
    "tf.nn.dropout(m, 0.5)",
)
# Of the same, with a first dimension that is a number.
STATIC: Final = (
    "tf.math.top_k(m, 2).values",
    "tf.linspace(m, m + 1.0, 5)",
    "tf.concat([m[:, None], x[:, None]], axis=1)",
    "tf.stack([m, x], axis=1)",
    "tf.stack([m, m])",
    "tf.stack([m, m], axis=0)",
    "tf.add_n([m, x])",
    "tf.gather(m, tf.cast(x, tf.int32))",
    "tf.gather_nd(m, tf.cast(x, tf.int32)[:, None])",
    "tf.reshape(m, [4])",
    "tf.reshape(m, [4, -1])",
    "tf.reshape(m, [1, -1])",
    "tf.concat([m[None], m[None]], 0)",
    "tf.concat([m[None], m[None]], 1)",
    "tf.repeat(m[None], 2, axis=0)",
    "tf.expand_dims(m, 0)",
    "tf.unstack(tf.stack([m, m]))[0][None]",
    "tf.split(tf.stack([m, m]), 2, axis=0)[0]",
    "tf.argmax(tf.stack([m, m], 1), axis=0)",
    "tf.reduce_max(tf.stack([m, m], 1), 0)",
    "tf.reduce_max(tf.stack([m, m], 0), 1)",
    "tf.einsum('i,j->ji', m, x)",
    "tf.einsum('j,i->ji', x, m)",
    "tf.matmul(tf.ones([5, 1]), m[None, :])",
    "tf.matmul(x[None, :], tf.ones([4, 2]))",
    "tf.matmul(tf.ones([3, 3]), tf.ones([3, 3]) * tf.reduce_sum(m))",
    "tf.transpose(m[:, None])",
    "tf.one_hot(tf.cast(m, tf.int32), 4, axis=0)",
    "tf.math.top_k(m, 2).values",
    "tf.where(x > 1.0, x, 0.0)",
    "tf.nn.dropout(x, 0.5)",
    "tf.random.shuffle(x)",
    "tf.zeros_like(x)",
    "tf.random.normal([7, 3])",
    "tf.random.uniform([5], 0.0, tf.reduce_max(m))",
    "tf.random.normal([5], mean=m[0])",
    "tf.scatter_nd(tf.where(x > 3.0), m, [4])",
    "tf.tensor_scatter_nd_update(x, tf.where(x > 3.0), m)",
    "tf.ensure_shape(m, [3])",
    "m[None, :] * tf.ones([2, 1])",
    "x + m",
    "tf.maximum(x, m)",
    "tf.concat([x, x], 0)",
    "tf.repeat(x, 2)",
    "tf.tile(m[None], [2, 1])",
    "tf.pad(m[None], [[1, 1], [0, 0]])",
    "tf.matmul(m[:, None], m[:, None], transpose_a=True)",
    "tf.matmul(tf.ones([3, 2]), tf.stack([m, m]))",
    "tf.random.categorical(tf.ones([2, 3]), 4)",
    "tf.nn.relu(tf.stack([m, m]))",
)

PROGRAM: Final = """
import json, sys
import tensorflow as tf

def first(text):
    code = compile(text, "", "eval")

    @tf.function
    def trace(x):
        m = tf.boolean_mask(x, x > 3.0)
        found.append(eval(code, {"tf": tf, "m": m, "x": x}).shape[0])

    found = []
    trace.get_concrete_function(tf.TensorSpec([4]))
    return found[0]

print(json.dumps([first(text) for text in json.load(sys.stdin)]))
"""


def told(texts: tuple[str, ...], folder: Path) -> list[str]:
    """Those of which the linter says that their first dimension is None."""
    head = "import tensorflow as tf\n"
    step = (
        "\n\n@tf.function(jit_compile=True)\ndef step_{}(x):\n    m = tf.boolean_mask(x, x > 3.0)\n"
        "    r = {}\n    return [i for i in range(r.shape[0])]\n"
        "\n\nstep_{}(tf.zeros([4]))\n"
    )
    lines = head.count("\n") + 7
    program = head + "".join(step.format(number, text, number) for number, text in enumerate(texts))
    (folder / "steps.py").write_text(program, encoding="utf-8")
    found = {one.span.line for one in check([folder], Settings()).findings if one.code == "XLA209"}
    each = step.count("\n")
    return [text for number, text in enumerate(texts) if lines + number * each in found]


def test_what_is_made_of_a_bounded_dynamic_shape_has_one(tmp_path: Path) -> None:
    assert told(OPEN, tmp_path) == [*OPEN]


def test_what_is_static_again_is_not(tmp_path: Path) -> None:
    assert told(STATIC, tmp_path) == []


@pytest.mark.compiler
def test_tensorflow_traces_them_so() -> None:
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    given = json.dumps([*OPEN, *STATIC])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=given, env=quiet, capture_output=True, text=True, check=True
    )
    sizes = json.loads(done.stdout)
    assert [text for text, size in zip(OPEN, sizes, strict=False) if size is not None] == []
    assert [text for text, size in zip(STATIC, sizes[len(OPEN) :], strict=True) if size is None] == []
