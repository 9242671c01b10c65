"""The number of distinct values, or of elements of a set, depends on data.

## What it does
Reports `tf.unique`, `tf.unique_with_counts`, `keras.ops.unique`, `tf.compat.v1.setdiff1d` and `tf.sets.*`. If the
distinct values feed an operation that XLA gets wrong, the finding names that operation and its line.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- `tf.unique` and `keras.ops.unique` compile with a bounded dynamic shape (`s32[<=6]`). `tf.size`, `tf.gather(values,
  index)` and reductions of them are right. `values[-1]` returns another element, and sums of `tf.cumsum(values)` are
  wrong.
- `tf.unique_with_counts` and all of `tf.sets` have no XLA kernel.
- `keras.ops.unique(x, size=n)`, meant for static shapes, does not compile on the TensorFlow backend: its padding must
  be a compile-time constant.
- `tf.compat.v1.setdiff1d` recompiles for every new content. The TPU compiler (2.20) refuses it under a strategy, which
  compiles by shapes alone.

## Example
    values, index = tf.unique(ids)
    number = tf.size(values)

## Use instead
    ordered = tf.sort(ids)
    first = tf.concat([[True], ordered[1:] != ordered[:-1]], 0)
    number = tf.reduce_sum(tf.cast(first, tf.int32))

After sorting, equal values are neighbours, and a mask marks the first of each. To count ids below a known limit, use
`tf.reduce_sum(tf.one_hot(ids, limit), axis=0)`.

## Not flagged
`tf.unique` of constants, Python sets, `np.unique` on the host, and functions that `tf.data` maps.

## Fix safety
- The number of distinct values, `tf.size(tf.unique(x)[0])`, becomes a count of the sorted neighbours that differ. It is
  `safe` for `int32` and `int64` if the number is compared or cast to floats. Elsewhere it is `unsafe`: XLA does not
  sort `uint16`, NaN never equals its neighbour, and a count that is used as a size recompiles for each value.
- The most frequent value of `tf.unique_with_counts` becomes the first element that most elements are equal to:
  `unsafe`.
- Everything else is shown only. `tf.unique` keeps the order of appearance, and sorting does not.

## References
- https://huggingface.co/docs/transformers/v4.37.2/en/tf_xla
- https://github.com/tensorflow/tensorflow/issues/126415
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event
from xlalint.fixes.counts import commonest, distinct
from xlalint.fixes.quoted import brief, one_line
from xlalint.linter.rule import (
    Bad,
    Compiles,
    Diverges,
    Draft,
    Effect,
    Fails,
    Good,
    Recompiles,
    Rule,
    Safety,
    TpuOutcome,
)

from ._bounded import NAMED, BoundedShapes, made_by
from ._jax import CONCRETE, compiles, fails

# What does not compile at all, whatever the content.
NO_KERNEL = frozenset(
    ("tf.unique_with_counts", "tf.sets.difference", "tf.sets.intersection", "tf.sets.size", "tf.sets.union")
)


class Unique(Rule):
    code = "XLA202"
    name = "unique"
    handles = (ApiCall, Consume)
    apis = NO_KERNEL | {"tf.unique", "keras.ops.unique", "tf.setdiff1d"}
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(ids):
    values, index = tf.unique(ids)
    return tf.gather(values, index)
""",
            ["tf.unique(ids)"],
            Compiles(bounded=True),
            inputs=("i32[6]",),
            effect=Effect.NAMED,
            help="ordered = tf.sort(ids)\nfirst = tf.concat([[True], ordered[1:] != ordered[:-1]], 0)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(ids):
    values, index = tf.raw_ops.Unique(x=ids)
    return tf.gather(values, index)
""",
            ["tf.raw_ops.Unique(x=ids)"],
            Compiles(bounded=True),
            inputs=("i32[6]",),
            effect=Effect.NAMED,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(ids: tf.Tensor):
    codes = tf.cast(ids, tf.int32)
    return tf.cast(tf.size(tf.unique(codes)[0]), tf.float32)
""",
            ["tf.unique(codes)"],
            Compiles(bounded=True),
            inputs=("i32[6]",),
            effect=Effect.NAMED,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(ids: tf.Tensor):
    codes = tf.cast(ids, tf.int32)
    ordered = tf.sort(codes)
    first = tf.concat([tf.ones_like(ordered[:1], tf.bool), ordered[1:] != ordered[:-1]], 0)
    return tf.cast(tf.reduce_sum(tf.cast(first, tf.int32)), tf.float32)
""",
        ),
        Bad(
            """
def distinct(ids):
    return tf.unique(ids)[0]

class L(tf.keras.layers.Layer):
    def call(self, ids):
        return distinct(ids)[-1]
""",
            ["tf.unique(ids)"],
            Diverges(),
            inputs=("i32[6]",),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(ids):
    values, index, counts = tf.unique_with_counts(ids)
    return tf.reduce_max(counts)
""",
            ["tf.unique_with_counts(ids)"],
            Fails("UniqueWithCounts"),
            inputs=("i32[6]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def vote(labels):
    values, _, counts = tf.unique_with_counts(labels)
    majority = tf.argmax(counts)
    return tf.gather(values, majority)

@tf.function(jit_compile=True)
def f(labels):
    return vote(labels)
""",
            ["tf.unique_with_counts(labels)"],
            Fails("UniqueWithCounts"),
            inputs=("i32[6]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def vote(labels):
    values = labels
    counts = tf.reduce_sum(tf.cast(tf.equal(values[:, tf.newaxis], values), tf.int32), 1)
    majority = tf.argmax(counts)
    return tf.gather(values, majority)

@tf.function(jit_compile=True)
def f(labels):
    return vote(labels)
""",
        ),
        Bad(
            """
from tensorflow import sets

def shared(a, b):
    return sets.size(sets.intersection(a[None], b[None]))

@tf.function(jit_compile=True)
def f(a, b):
    return shared(a, b)
""",
            ["sets.size(sets.intersection(a[None], b[None]))", "sets.intersection(a[None], b[None])"],
            Fails("DenseToDenseSetOperation"),
            inputs=("i32[6]", "i32[6]"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from keras import ops

class L(tf.keras.layers.Layer):
    def call(self, ids):
        return ops.unique(ids, size=6)
""",
            ["ops.unique(ids, size=6)"],
            Fails("must be a compile-time constant"),
            inputs=("i32[6]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(ids, seen):
    return tf.compat.v1.setdiff1d(ids, seen)[0]
""",
            ["tf.compat.v1.setdiff1d(ids, seen)"],
            Recompiles(),
            inputs=("i32[6]", "i32[2]"),
            effect=Effect.RECOMPILES,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(ids):
    ordered = tf.sort(ids)
    first = tf.concat([[True], ordered[1:] != ordered[:-1]], 0)
    return tf.reduce_sum(tf.cast(first, tf.int32))
""",
            inputs=("i32[6]",),
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(ids):\n    return tf.reduce_sum(tf.one_hot(ids, 4), axis=0)\n",
            inputs=("i32[6]",),
        ),
        Good(
            """
import numpy as np

KINDS = np.unique([3, 1, 3])

@tf.function(jit_compile=True)
def f(x):
    return x * float(len(KINDS))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    sizes = sorted(set(x.shape))
    return x * float(sizes[0])
""",
        ),
        Good(
            """
def distinct(ids):
    return tf.unique(ids)[0]

dataset = tf.data.Dataset.from_tensors([1, 1, 2]).map(distinct)
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
            case ApiCall(api=api):
                code, rewrite = brief(event.location.node), _sorted(event)
                if api in NO_KERNEL:
                    fix = partial(commonest, event) if api == "tf.unique_with_counts" else None
                    yield Draft(f"`{code}` has no XLA kernel", Effect.FAILS, rewrite, rewrite=fix)
                elif made_by(event) is None:
                    return
                elif api == "tf.setdiff1d":
                    message = f"XLA recompiles `{code}` for every new content"
                    yield Draft(message, Effect.RECOMPILES, on_tpu=TpuOutcome.FAILS)
                elif as_tensor(event.result, Dependence.STATIC) and "size" in event.arguments:
                    reason = "does not compile: its padding must be a compile-time constant"
                    yield Draft(f"`{code}` {reason}", Effect.FAILS, rewrite, jax=compiles(f"`{code}`"))
                else:
                    what = f"the shape of `{code}` depends on the number of distinct values"
                    jax = fails(what, CONCRETE) if api == "keras.ops.unique" else None
                    fix = partial(distinct, event) if api == "tf.unique" else None
                    yield from self._shapes.begin(event.location, f"{what}; {NAMED}", rewrite, rewrite=fix, jax=jax)


def _sorted(event: ApiCall) -> str | None:
    """Distinct values at a static shape: sorted, and a mask of the first of each."""
    node = event.argument_nodes.get("x")
    if node is None:
        return None
    return (
        f"ordered = tf.sort({one_line(node)})\n"
        "first = tf.concat([[True], ordered[1:] != ordered[:-1]], 0)  # marks each distinct value once\n"
        "number = tf.reduce_sum(tf.cast(first, tf.int32))"
    )
