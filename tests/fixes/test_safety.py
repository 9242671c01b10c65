"""Which rewrites are safe: those that rest on what is known of the values, and no others."""

from __future__ import annotations

from typing import Final

import pytest

from tests.rewrites.trial import Program, rewritten
from xlalint.findings.findings import Safety

PLAIN: Final = "import tensorflow as tf\n\nV = tf.Variable(tf.zeros([4], tf.int32))\n\n@tf.function(jit_compile=True)\n"
NEVER: Final = "import tensorflow as tf\n\n@tf.function(jit_compile=True, autograph=False)\n"
SIZE: Final = "def f(x: tf.Tensor, y: tf.Tensor):\n    n = int(tf.shape({of})[0])\n    return tf.ones([n])\n"

BATCHES: Final = (
    "import tensorflow as tf\n\n@tf.function(jit_compile=True)\ndef f(x):\n    return x\n\ndef run(keep):\n"
    "    for x in tf.data.TFRecordDataset('a').batch(8{end}):\n        f(x)\n\nrun(input())\n"
)

# By rule, what is rewritten and how sure it is; None: nothing is rewritten.
PROGRAMS: Final[dict[str, tuple[str, str, Safety | None]]] = {
    "a size in a function that nobody converts": ("XLA106", NEVER + SIZE.format(of="x"), Safety.SAFE),
    "a size that AutoGraph may take for a tensor": (
        "XLA106",
        "import tensorflow as tf\n\ndef n(x: tf.Tensor):\n    return int(tf.shape(x)[0])\n\n"
        "class L(tf.keras.layers.Layer):\n    def call(self, x):\n        return x * n(tf.abs(x))\n",
        Safety.UNSAFE,
    ),
    "a number under a name that makes a constant": (
        "XLA106",
        PLAIN + "def f(order):\n    first = int(order[0])\n    rest = [2, 1]\n"
        "    return tf.constant([[first, one] for one in rest])\n",
        None,
    ),
    "a number that an assertion compares with one of NumPy's": (
        "XLA106",
        PLAIN + "def f(x):\n    assert tf.argmax(x).numpy() == V.shape.num_elements()\n    return x\n",
        None,
    ),
    "a number of elements that an assertion reads": (
        "XLA106",
        PLAIN + "def f(x):\n    assert tf.size(x).numpy() == V.shape.num_elements()\n    return x\n",
        Safety.UNSAFE,
    ),
    "an array of which a comprehension takes the rows": (
        "XLA106",
        PLAIN + "def f(x):\n    return tf.stack([row * 2.0 for row in tf.abs(x).numpy()])\n",
        None,
    ),
    "an array of which a loop takes the rows": (
        "XLA106",
        PLAIN + "def f(x):\n    found = tf.abs(x).numpy()\n    for row in found:\n        x = x + row\n    return x\n",
        None,
    ),
    "an array whose rows are counted": (
        "XLA106",
        PLAIN
        + "def f(x):\n    for number, row in enumerate(tf.abs(x).numpy()):\n        x += row * number\n    return x\n",
        None,
    ),
    "an array that is written into": (
        "XLA106",
        PLAIN + "def f(x):\n    found = tf.abs(x).numpy()\n    found[0][1] = 1.0\n    return found\n",
        None,
    ),
    "an array that is added to in place": (
        "XLA106",
        PLAIN + "def f(x):\n    found = tf.abs(x).numpy()\n    found[0] += 1.0\n    return found\n",
        None,
    ),
    "an array of which a part is added": (
        "XLA106",
        PLAIN + "def f(x):\n    found = tf.abs(x).numpy()\n    x += found[0]\n    return x\n",
        Safety.UNSAFE,
    ),
    "batches of which something else decides the last": (
        "XLA302",
        BATCHES.format(end=", drop_remainder=not keep"),
        None,
    ),
    "batches of which nothing decides the last": ("XLA302", BATCHES.format(end=""), Safety.UNSAFE),
    "parts that are stitched elsewhere than they are made": (
        "XLA207",
        NEVER + "def f(owners, parts):\n    places = tf.dynamic_partition(tf.range(4), owners, 2)\n"
        "    return tf.dynamic_stitch(places, parts)\n",
        None,
    ),
    "a test of sizes for equality, false where one is open": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor):\n    return x * 2.0 if tf.shape(x)[0] == 4 else x\n",
        Safety.UNSAFE,
    ),
    "a test of sizes": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor):\n    return x * 2.0 if tf.shape(x)[0] > 4 else x\n",
        Safety.SAFE,
    ),
    "the part of a variable that is assigned": (
        "XLA206",
        PLAIN + "def f(x):\n    V[tf.argmax(x)].assign(5)\n    return V + 1\n",
        None,
    ),
    "the part of a variable that may be assigned": (
        "XLA206",
        PLAIN + "def f(x):\n    part = V[tf.argmax(x)]\n    return part + 1\n",
        Safety.UNSAFE,
    ),
    "an element whose gradient becomes sparse": (
        "XLA206",
        PLAIN + "def f(x):\n    return x[tf.argmax(x)]\n",
        Safety.UNSAFE,
    ),
    "an element of integers": (
        "XLA206",
        PLAIN + "def f(x):\n    n = tf.cast(x, tf.int32)\n    return n[tf.argmax(x)]\n",
        Safety.SAFE,
    ),
    "a position that gets negative where its dtype ends": (
        "XLA206",
        PLAIN + "def f(x):\n    n = tf.cast(x, tf.int32)\n    return n[tf.cast(tf.argmax(x), tf.int8)]\n",
        Safety.UNSAFE,
    ),
    "the size of an array that has none yet": (
        "XLA204",
        PLAIN + "def f(x):\n    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)\n    n = a.size()\n"
        "    for i in tf.range(3):\n        a = a.write(i, x)\n    return a.stack(), n\n",
        Safety.UNSAFE,
    ),
    "an array under two names": (
        "XLA204",
        PLAIN + "def f(x):\n    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)\n    b = a\n"
        "    for i in tf.range(3):\n        a = a.write(i, x)\n    return a.stack(), b.size()\n",
        Safety.UNSAFE,
    ),
    "an array that is read while it grows": (
        "XLA204",
        PLAIN + "def f(x):\n    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)\n    n = 0\n"
        "    for i in tf.range(3):\n        a = a.write(i, x)\n        n += tf.size(a.stack())\n"
        "    return a.stack(), n\n",
        Safety.UNSAFE,
    ),
    "distinct integers of a dtype that may be uint16": (
        "XLA202",
        PLAIN + "def f(x: tf.Tensor):\n    n = tf.bitcast(x, tf.uint16)\n    return tf.size(tf.unique(n)[0])\n",
        Safety.UNSAFE,
    ),
    "a negative number that may be unsigned, in a branch that is not taken": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor):\n    return -x if tf.reduce_any(x > 3) else x\n",
        Safety.SAFE,  # by `tf.cond`
    ),
    "a scale of what may be integers": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor, on: tf.Tensor):\n    if tf.reduce_all(on):\n        x = x * 2.0\n    return x\n",
        Safety.SAFE,  # by `tf.cond`
    ),
    "a condition that raises for integers where it is skipped": (
        "XLA104",
        NEVER + "def f(x: tf.Tensor, on: tf.Tensor):\n"
        "    both = tf.reduce_all(on) and tf.reduce_max(x) > 0.5\n    return tf.cast(both, tf.int32)\n",
        Safety.UNSAFE,
    ),
    "a condition of what was compared before": (
        "XLA104",
        NEVER + "def f(x: tf.Tensor):\n"
        "    both = tf.reduce_min(x) < 0.5 and tf.reduce_max(x) > 0.5\n    return tf.cast(both, tf.int32)\n",
        Safety.SAFE,
    ),
    "a number of Python's where the branch is not taken": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor):\n    total = tf.reduce_sum(x)\n    return total if total > 1.0 else 0.0\n",
        Safety.UNSAFE,
    ),
    "a sum in another order": ("XLA201", PLAIN + "def f(x):\n    return tf.reduce_sum(x[x > 0.0])\n", Safety.UNSAFE),
    "a count that is a number": ("XLA201", PLAIN + "def f(x):\n    return tf.shape(x[x > 0.0])[0] > 2\n", Safety.SAFE),
    "a count that may become a size": (
        "XLA201",
        PLAIN + "def f(x):\n    return tf.zeros([tf.shape(x[x > 0.0])[0]])\n",
        Safety.UNSAFE,
    ),
    "a count of a mask that may be longer": (
        "XLA201",
        PLAIN + "def f(x, y):\n    return tf.shape(x[y > 0.0])[0] > 2\n",
        Safety.UNSAFE,
    ),
    "a side without gradient": (
        "XLA101",
        NEVER + "def f(x: tf.Tensor):\n    return tf.zeros_like(x) if tf.reduce_max(x) > 0.5 else x\n",
        Safety.SAFE,  # by `tf.cond`
    ),
    "a variable that is assigned before the reduction": (
        "XLA201",
        PLAIN + "def f(x):\n    kept = V[V > 0]\n    V.assign_add(V)\n    return tf.reduce_sum(kept)\n",
        Safety.UNSAFE,
    ),
    "a segment of -0.0": ("XLA401", PLAIN + "def f(x):\n    return tf.math.segment_sum(x, [0, 1])\n", Safety.UNSAFE),
    "segments of integers": (
        "XLA401",
        PLAIN + "def f(x):\n    return tf.math.segment_sum(tf.cast(x, tf.int32), [0, 1])\n",
        Safety.SAFE,
    ),
    "a histogram of integers, which has bins as floats": (
        "XLA401",
        PLAIN + "def f(x):\n    return tf.histogram_fixed_width(tf.cast(x, tf.int32), [0, 4], 2)\n",
        Safety.UNSAFE,
    ),
    "a loop whose length data decides": (
        "XLA103",
        NEVER
        + "def f(n: tf.Tensor):\n    total = 0\n    for i in tf.range(n):\n        total += i\n    return total\n",
        None,
    ),
    "the parts of a tensor": (
        "XLA103",
        NEVER + "def f(x: tf.Tensor):\n    first, second = x\n    return first + second\n",
        Safety.SAFE,
    ),
}


@pytest.mark.parametrize(("rule", "code", "safety"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_rewrite_is_as_safe_as_what_is_known(rule: str, code: str, safety: Safety | None) -> None:
    assert rewritten(Program(code, (), rule)).safety is safety
