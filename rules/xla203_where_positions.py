"""The number of indices where a condition holds depends on data.

## What it does
Reports `tf.where` with one argument, `keras.ops.where` with one argument, `keras.ops.nonzero` and
`tf.experimental.numpy.nonzero`. If the indices feed an operation that XLA gets wrong, the finding names that operation
and its line.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. The indices compile with a bounded dynamic shape (`s64[<=6,1]`).

- Right: `tf.gather`, `tf.gather_nd`, `tf.scatter_nd`, `tf.size` and reductions of them.
- Wrong results: `positions[-1]` returns another element, and sums of `tf.cumsum(positions)` are wrong.
- Compile errors: `tf.squeeze(positions)` without an axis, and `tf.reshape(positions, [4])`.

XLA folds a condition made of constants or shapes and gives the result a static shape.

## Example
    positions = tf.where(x > 0.0)
    total = tf.reduce_sum(tf.gather_nd(x, positions))

## Use instead
    mask = tf.cast(x > 0.0, x.dtype)
    total = tf.reduce_sum(x * mask)

Or `tf.where(x > 0.0, x, 0.0)`. If you need indices, `tf.math.top_k(tf.cast(x > 0.0, tf.int32), k).indices` returns a
fixed number of them, those where the condition holds first.

## Not flagged
Three-argument `tf.where`, conditions known at trace time, `np.where` and `np.nonzero` on the host, `tf.argmax`.

## Fix safety
`unsafe` in three cases:

- `tf.gather_nd(x, tf.where(c))` or `tf.gather(x, tf.where(c)[:, 0])` that ends in a reduction becomes a reduction over
  all elements with the condition as mask, as for a boolean mask. It differs if `x` is not a tensor, or for the mean of
  integers.
- The first or last index alone, `tf.where(c)[0, 0]`, becomes `tf.argmax` of the condition. It differs if the condition
  is False everywhere, or has more than one dimension.
- What is gathered at the indices, or scattered back to them, becomes the whole tensor, which the condition selects
  from where it is reduced or put back; also through helpers and methods of the file. It differs if a function in
  between does not treat each row by itself, and in the last digits.

Everything else is shown only. If fewer than `k` indices hold, `top_k` fills up with indices where the condition does
not hold.

## References
- https://www.tensorflow.org/api_docs/python/tf/where
- https://github.com/tensorflow/tensorflow/issues/61755
- https://github.com/tensorflow/tensorflow/issues/122885
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import ApiCall, Consume, Event
from xlalint.fixes.masks import positions
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Fails, Good, Rule, Safety

from ._bounded import NAMED, BoundedShapes, made_by
from ._jax import CONCRETE, fails

# What a call of which a rewrite knows asks about, by parameter.
CONDITIONS = {"tf.where": "condition", "keras.ops.nonzero": "x"}


class WherePositions(Rule):
    code = "XLA203"
    name = "where-positions"
    handles = (ApiCall, Consume)
    apis = frozenset(("tf.where", "keras.ops.where", "tnp.where", "keras.ops.nonzero", "tnp.nonzero"))
    bad = (
        Bad(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.reduce_sum(tf.gather_nd(x, tf.where(x > 0.0)))\n",
            ["tf.where(x > 0.0)"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
            help="mask = tf.cast(x > 0.0, tf.float32)",
            safety=Safety.UNSAFE,
            fixed="""\
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.where(x > 0.0, x, 0))
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    best = tf.where(tf.equal(x, tf.reduce_min(x)))[0, 0]
    last = tf.where(x > 0.0)[-1, 0]
    return best, last
""",
            ["tf.where(tf.equal(x, tf.reduce_min(x)))", "tf.where(x > 0.0)"],
            Diverges(),
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    best = tf.argmax(tf.cast(tf.equal(x, tf.reduce_min(x)), tf.int32))
    last = tf.size(x > 0.0, tf.int64) - 1 - tf.argmax(tf.cast(tf.reverse(x > 0.0, [0]), tf.int32))
    return best, last
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.gather_nd(x, tf.raw_ops.Where(condition=x > 0.0)))
""",
            ["tf.raw_ops.Where(condition=x > 0.0)"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
        ),
        Bad(
            """
from tensorflow import where

def last_positive(x):
    positions = where(x > 0.0)
    return positions[-1]

@tf.function(jit_compile=True)
def f(x):
    return last_positive(x)
""",
            ["where(x > 0.0)"],
            Diverges(),
            inputs=("f32[6]",),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        positions = tf.squeeze(tf.where(x > 0.0))
        return tf.gather(x, positions)
""",
            ["tf.where(x > 0.0)"],
            Fails("Squeeze op does not support bounded dynamic dimensions"),
            inputs=("f32[6]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from keras import ops

class L(tf.keras.layers.Layer):
    def call(self, x):
        (positions,) = ops.nonzero(x > 0.0)
        return ops.sum(ops.take(x, positions))
""",
            ["ops.nonzero(x > 0.0)"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
        ),
        Bad(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x, y):
        rows = ops.nonzero(x > 0.0)[0]
        return ops.sum(ops.square(ops.take(y, rows, axis=0)))
""",
            ["ops.nonzero(x > 0.0)"],
            Compiles(bounded=True),
            inputs=("f32[4]", "f32[4, 3]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x, y):
        rows = x > 0.0
        values = ops.square(y)
        return tf.reduce_sum(tf.where(rows[(..., *[None] * (len(values.shape) - len(rows.shape)))], values, 0))
""",
        ),
        Bad(
            """
K = tf.keras.backend

@tf.function(jit_compile=True)
def f(x, y):
    keep = tf.where(x > 0.0)
    return K.mean(K.equal(K.round(tf.gather_nd(x, keep)), K.round(tf.gather_nd(y, keep))))
""",
            ["tf.where(x > 0.0)"],
            Compiles(bounded=True),
            inputs=("f32[6]", "f32[6]"),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
K = tf.keras.backend

@tf.function(jit_compile=True)
def f(x, y):
    keep = x > 0.0
    values = tf.cast(K.equal(K.round(x), K.round(y)), tf.float32)
    return tf.reduce_sum(tf.where(keep[(..., *[None] * (len(values.shape) - len(keep.shape)))], values, 0)) / tf.reduce_sum(tf.where(keep[(..., *[None] * (len(values.shape) - len(keep.shape)))], tf.ones_like(values), 0))
""",  # noqa: E501
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.limit = self.add_weight(shape=(), initializer="zeros")

    def positions(self, x):
        return tf.where(condition=x > self.limit)

    def call(self, x):
        return tf.reshape(self.positions(x), [2, 2])
""",
            ["tf.where(condition=x > self.limit)"],
            None,
            effect=Effect.FAILS,
            why="eager execution fails as well where another number than four is positive",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    chosen = tf.reshape(tf.where(x[0] > 0.0), [-1])
    means = tf.reduce_mean(tf.transpose(tf.gather(tf.transpose(x), chosen)), axis=1)
    return tf.split(means, 2)
""",
            ["tf.where(x[0] > 0.0)"],
            Compiles(bounded=True),
            inputs=("f32[2,4]",),
            effect=Effect.NAMED,
            why="the mean takes the dynamic axis away",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    means = tf.reduce_mean(tf.gather(x, tf.reshape(tf.where(x[:, 0] > 0.0), [-1])), -1)
    return tf.split(means, 2)
""",
            ["tf.where(x[:, 0] > 0.0)"],
            Fails("Split op doesn't support split for the dynamic dimension"),
            inputs=("f32[4,2]",),
            effect=Effect.FAILS,
            why="the mean leaves the dynamic axis",
        ),
    )
    good = (
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.where(x > 0.0, x, tf.zeros_like(x))\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.gather(x, tf.where([True, False, True, True])[:, 0])
""",
            why="a constant condition is folded",
        ),
        Good(
            """
import numpy as np

ODD = np.where(np.arange(4) % 2)[0]

@tf.function(jit_compile=True)
def f(x):
    return tf.gather(x, ODD)
""",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.gather(x, tf.argmax(x))\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.math.top_k(tf.cast(x > 0.0, tf.int32), 2).indices
""",
        ),
        Good(
            """
def positive(example):
    return tf.where(example > 0.0)

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(positive)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
    )

    def __init__(self) -> None:
        self._shapes = BoundedShapes()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Consume():
                yield from self._shapes.consumed(event)
            case ApiCall() if made_by(event):
                what = f"the shape of `{brief(event.location.node)}` depends on where the condition holds"
                jax = fails(what, CONCRETE) if event.api.startswith("keras.") else None
                condition = CONDITIONS.get(event.api)
                rewrite = positions(event.location, event.arguments.get(condition)) if condition is not None else None
                help = _at_static_shape(event)
                yield from self._shapes.begin(event.location, f"{what}; {NAMED}", help, rewrite=rewrite, jax=jax)


def _at_static_shape(event: ApiCall) -> str:
    """The condition as a mask, and a fixed number of positions."""
    condition = one_line(next(iter(event.argument_nodes.values())))
    return (
        f"mask = tf.cast({condition}, tf.float32)  # multiply by it, or select with tf.where(condition, a, b)\n"
        f"positions = tf.math.top_k(tf.cast({condition}, tf.int32), k=MAXIMUM).indices  # a fixed number of them"
    )
