"""An index comes from data: outside loops, XLA recompiles for every value.

## What it does
Reports subscripts and slices that start at an index from data (`x[i]`, `x[i:i + 2]`, `x[tf.argmax(y)]`), `tf.slice`
with such a start, crops at such an offset, an axis or a permutation from data, and other arguments that must be
constants according to the table of measured calls (`k` of `tf.math.in_top_k`).

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- A subscript is a strided slice, which takes its bounds as constants if it can. Each new value therefore triggers a new
  compilation, without a warning: one trace, and as many compilations as values.
- This holds for arguments, for values computed from them, for elements of a tensor (`tf.map_fn`, `tf.scan`, `for e in
  t`, `t[i]`), for random numbers whose seed is data or a Keras seed generator, and for everything computed from these.
  Inside a loop it holds for values that the loop does not change.
- `tf.gather(x, i)` compiles once.
- If the index depends only on loop variables or on random numbers, `x[i]`, `x[i:i + 2]` and `tf.slice` compile once. An
  axis that a loop computes fails ("must be a compile-time constant").
- XLA has no length for such a window, though both ends move: `x[:, i : i + 4]` has a bounded dynamic shape, in a buffer
  as large as `x`. `tf.squeeze` of it, a reshape to fixed sizes, `tf.ensure_shape` and a matrix product over it do not
  compile; `[:, -1]` takes another element, `tf.image.resize` scales the buffer, and `tf.cumsum` breaks (see XLA201).
  Reported only if this happens.
- A TPU strategy compiles a step by shapes alone, before any value exists. The TPU compiler (2.20) compiles an index
  once, gives slices a bounded dynamic shape, which it pads, and refuses axes and options.

## Example
    chosen = x[tf.argmax(scores)]
    window = x[start : start + 2]

## Use instead
    chosen = tf.gather(x, tf.argmax(scores))
    window = tf.gather(x, start + tf.range(2))

## Not flagged
- Python ints, indices from `tf.shape(x)`, `tf.gather`, lists indexed by Python ints, and host code.
- Indices that depend on nothing but loop variables (`for i in tf.range(n): x[i]`), and such windows where what follows
  honours their length.

## Fix safety
`safe` for elements of booleans and integers, if the index is a `tf.argmax` or `tf.argmin`, or an `int32` or `int64`
that cannot be negative (`tf.maximum(i, 0)`, `tf.clip_by_value(i, 0, n)`), directly or through a local name.

Otherwise `unsafe`: `tf.gather` does not count negative indices from the end. A slice past the end is shorter, while a
gather raises. A gather gives a variable a sparse gradient. There is no fix for an assignment to part of a variable
(`v[i].assign(..)`).

## References
- https://www.tensorflow.org/xla/known_issues
- https://www.tensorflow.org/api_docs/python/tf/gather
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Slice, Static, Tensor, Value
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event, IndexWith
from xlalint.fixes.positions import at_position
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewriter
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
    origin_note,
)
from xlalint.syntax import nodes as cst

from ._bounded import BoundedShapes
from ._followed import AXES, Followed, followed, names, on_tpu
from ._jax import SLICE, compiles, fails, passed
from ._programs import (
    BEST,
    CROPPED,
    DRAWN_POSITION,
    MAPPED_WINDOW,
    POSITIONS_IN_LOOPS,
    RESIZED_CROP,
    WINDOWS,
    WINDOWS_THAT_FIT,
)
from ._shapes import NOT_FOLDED, BoundedSizes, arguments_from_data, length_from, outcome

OPTION = "is an option that depends on data"
_CROP: Final = "tf.gather(images, tf.cast(first, tf.int32) + tf.range(4), axis=1)"
_GATHERED: Final = "tf.gather(x, order[i]) + tf.gather(x, i + shift)"
PYTHON = "pass a Python value, which is known when XLA compiles"
REASONS: Final[Mapping[Effect, str]] = {
    Effect.RECOMPILES: "XLA recompiles for every new value",
    Effect.FAILS: f"{NOT_FOLDED}, and it must be a compile-time constant",
    Effect.NAMED: f"{NOT_FOLDED}, so the shape is bounded and dynamic",
}


class PositionFromValue(Rule):
    code = "XLA206"
    name = "position-from-value"
    handles = (ApiCall, IndexWith, Consume)
    apis = names(resizes=False)
    bad = (
        Bad(
            "@tf.function(jit_compile=True)\ndef f(x, i):\n    return x[i]\n",
            ["x[i]"],
            Recompiles(),
            inputs=("f32[4, 3]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="tf.gather(x, i)",
            safety=Safety.UNSAFE,
            fixed="""@tf.function(jit_compile=True)
def f(x, i):
    return tf.gather(x, i)
""",
        ),
        Bad(
            BEST,
            ["codes[tf.argmax(scores)]"],
            Recompiles(),
            inputs=("f32[4, 3]", "f32[4]"),
            effect=Effect.RECOMPILES,
            help="tf.gather(codes, tf.argmax(scores))",
            safety=Safety.SAFE,
            fixed=BEST.replace("codes[tf.argmax(scores)]", "tf.gather(codes, tf.argmax(scores))"),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, start):
    def window():
        return x[:, start : start + 2]

    return tf.reduce_sum(window())
""",
            ["x[:, start : start + 2]"],
            Recompiles(),
            inputs=("f32[4, 8]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="tf.gather(x, tf.cast(start, tf.int32) + tf.range(2), axis=1)",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x, start):
    def window():
        return tf.gather(x, tf.cast(start, tf.int32) + tf.range(2), axis=1)

    return tf.reduce_sum(window())
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.step = self.add_weight(shape=(), dtype="int32", initializer="ones", trainable=False)

    def call(self, x):
        self.step.assign(1 + self.step % 3)
        step = tf.cast(self.step, tf.int64)
        return x[step, 0]
""",
            ["x[step, 0]"],
            Recompiles(),
            inputs=("f32[4, 3]",),
            effect=Effect.RECOMPILES,
            help="tf.gather_nd(x, tf.stack([step, 0]))",
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.step = self.add_weight(shape=(), dtype="int32", initializer="ones", trainable=False)

    def call(self, x):
        self.step.assign(1 + self.step % 3)
        step = tf.cast(self.step, tf.int64)
        return tf.gather_nd(x, tf.stack([step, 0]))
""",
        ),
        Bad(
            MAPPED_WINDOW,
            ["row[first : first + 2]"],
            Recompiles(),
            inputs=("f32[3, 8]", "i32[3]"),
            effect=Effect.RECOMPILES,
            help="tf.gather(row, tf.cast(first, tf.int32) + tf.range(2))",
            safety=Safety.UNSAFE,
            fixed=MAPPED_WINDOW.replace(
                "row[first : first + 2]", "tf.gather(row, tf.cast(first, tf.int32) + tf.range(2))"
            ),
        ),
        Bad(
            POSITIONS_IN_LOOPS,
            ["x[order[i]]", "x[i + shift]", "x[first]"],
            Recompiles(),
            inputs=("f32[8]", "i32[3]", "i32[]"),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed=POSITIONS_IN_LOOPS.replace("x[order[i]] + x[i + shift]", _GATHERED).replace(
                "x[first]", "tf.gather(x, first)"
            ),
        ),
        Bad(
            DRAWN_POSITION,
            ["x[tf.cast(tf.keras.random.uniform((), 0.0, 4.0, seed=self.seeds), tf.int32)]"],
            Recompiles(),
            inputs=("f32[4]",),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed=DRAWN_POSITION.replace("x[", "tf.gather(x, ").replace("32)]", "32))"),
        ),
        Bad(
            WINDOWS,
            ["x[:, i : i + 1]", "x[:, i : i + 2]", "tf.reshape(x, [2, 6])[:, i : i + 4]"],
            Fails("tf2xla conversion failed"),
            inputs=("f32[2, 6]",),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed=re.sub(
                r"(x|tf.reshape\(x, \[2, 6\]\))\[:, i : i \+ (\d)\]",
                r"tf.gather(\1, tf.cast(i, tf.int32) + tf.range(\2), axis=1)",
                WINDOWS,
            ),
        ),
        Bad(
            RESIZED_CROP,
            ["images[:, top : top + 4, left : left + 4]"],
            Diverges(),
            inputs=("f32[2, 6, 6, 3]",),
            effect=Effect.DIVERGES,
        ),
        Bad(
            CROPPED,
            ["images[:, first : first + 4]"],
            Fails("is not compatible with expected shape"),
            inputs=("f32[2, 6, 3]",),
            effect=Effect.FAILS,
            help=_CROP,
            safety=Safety.UNSAFE,
            fixed=CROPPED.replace("images[:, first : first + 4]", _CROP),
        ),
        Bad(
            """
from tensorflow import slice as cut

@tf.function(jit_compile=True)
def f(x, i):
    return cut(x, [i, 0], [1, 3])
""",
            ["cut(x, [i, 0], [1, 3])"],
            Recompiles(),
            inputs=("f32[4, 3]", "i32[]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, i):
    return tf.reduce_sum(x, axis=i % 2)
""",
            ["tf.reduce_sum(x, axis=i % 2)"],
            Recompiles(),
            inputs=("f32[3, 3]", "i32[]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.constant(0.0)
    for axis in tf.range(2):
        total += tf.reduce_max(tf.reduce_sum(x, axis=axis))
    return total
""",
            ["tf.reduce_sum(x, axis=axis)"],
            Fails("must be a compile-time constant"),
            inputs=("f32[3, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(scores, labels, k):
    return tf.math.in_top_k(labels, scores, k)
""",
            ["tf.math.in_top_k(labels, scores, k)"],
            Recompiles(),
            inputs=("f32[2, 3]", "i32[2]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="a Python value",
        ),
        Bad(
            """
counts = tf.keras.layers.CategoryEncoding(num_tokens=8)
codes = tf.keras.layers.CategoryEncoding(num_tokens=8, output_mode="one_hot")

@tf.function(jit_compile=True)
def f(labels):
    return counts(labels), codes(labels)
""",
            ["counts(labels)"],
            Recompiles(),
            inputs=("i32[2, 3]",),
            effect=Effect.RECOMPILES,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x, i):
    return tf.gather(x, i) + tf.gather(x, i + tf.range(1))[0]
""",
            inputs=("f32[8, 3]", "i32[]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += x[i] * tf.cast(i, tf.float32)
    return total
""",
            why="a position that a loop carries compiles once",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(rows, starts):
    def window(example):
        return tf.gather(example[0], example[1] + tf.range(2))

    return tf.map_fn(window, (rows, starts), fn_output_signature=tf.float32)
""",
            inputs=("f32[3, 8]", "i32[3]"),
        ),
        Good(
            WINDOWS_THAT_FIT,
            Compiles(bounded=True),
            inputs=("f32[2, 6]", "f32[2, 2]"),
            why="what follows honours how long a window is",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x, first):
    doubled = tf.map_fn(lambda i: x[i] * 2.0, tf.range(4), fn_output_signature=tf.float32)
    at = first
    for i in tf.range(3):
        doubled += x[at]
        at = i
    return doubled
""",
            inputs=("f32[4]", "i32[]"),
            why="positions that only the loop makes",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    last = x.shape[0] - 1
    return x[last] + x[0] + x[-2]
""",
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return x[tf.shape(x)[0] - 1]\n",
            why="XLA folds sizes of static shapes",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.add_n([x[i] for i in range(3)])
""",
        ),
        Good(
            """
def last(x, lengths=None):
    if lengths is None:
        position = -1
    else:
        position = tf.argmax(lengths)
        found = tf.gather(x, position)
    if not tf.is_tensor(position):
        found = x[position]
    return found

@tf.function(jit_compile=True)
def f(x, lengths):
    return last(x, lengths if x.shape[0] > 2 else None) + last(x)
""",
            inputs=("f32[8]", "i32[3]"),
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x, i):\n    return tf.roll(x, i, axis=0)\n",
            inputs=("f32[4]", "i32[]"),
        ),
        Good(
            """
def pick(example, position):
    return example[position]

dataset = tf.data.Dataset.from_tensors((tf.ones([4]), 2)).map(pick)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
    )

    def __init__(self) -> None:
        self._sizes = BoundedSizes()
        self._shapes = BoundedShapes()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Consume():
                self._sizes.remember(event)
                yield from self._shapes.consumed(event)
            case IndexWith():
                yield from self._subscript(event)
            case ApiCall(api=api, arguments=arguments, argument_nodes=nodes):
                for one in followed().get(api, ()):
                    if one.resizes or one.spared(arguments) or _is_in_old_order(arguments):
                        continue
                    for tensor, node in arguments_from_data(one.parameter, arguments, nodes)[:1]:
                        what = f"`{brief(node)}` in `{brief(event.location.node)}`"
                        kind = _kind(one)
                        for draft in self._draft(event, tensor, one.carried, what, None, kind):
                            yield replace(draft, jax=passed(api, one.parameter, f"{what} {kind}"))

    def _subscript(self, event: IndexWith) -> Iterator[Draft]:
        items = list(zip(event.index, (element.slice for element in event.node.slice), strict=False))
        if any(
            isinstance(item, Slice) and isinstance(syntax, cst.Slice) and length_from(item, syntax)
            for item, syntax in items
        ):
            return  # its length is from data, which is worse
        for axis, (item, _) in enumerate(items):
            if tensor := _position(item):
                rewrite = partial(at_position, event, axis)
                if isinstance(item, Slice) and tensor.carried:
                    yield from self._shapes.follow(event.location, rewrite=rewrite)
                what = f"the index of `{brief(event.location.node)}`"
                for draft in self._draft(event, tensor, None, what, rewrite, "depends on data"):
                    # A window has a length that nobody computes before there are values.
                    if isinstance(item, Slice):
                        jax = fails(f"the bounds of `{brief(event.location.node)}` depend on data", SLICE)
                        yield replace(draft, on_tpu=TpuOutcome.BOUNDED, jax=jax)
                    else:
                        yield replace(draft, jax=compiles(what))
                return

    def _draft(
        self,
        event: ApiCall | IndexWith,
        tensor: Tensor,
        carried: Effect | None,
        what: str,
        rewrite: Rewriter | None,
        kind: str,
    ) -> Iterator[Draft]:
        effect = outcome(tensor, carried)
        if effect is None or tensor in self._sizes:
            return
        message = f"{what} {kind}: {REASONS[effect]}"
        help = PYTHON if kind == OPTION else None
        notes = origin_note(tensor.origin, event)
        yield Draft(message, effect, help, notes=notes, rewrite=rewrite, on_tpu=on_tpu(carried))


def _is_in_old_order(arguments: Mapping[str, Value]) -> bool:
    """Whether a call has the axis first, as TensorFlow 0.x wants it: `tf.concat(1, [x, y])`, which fails today."""
    first = arguments.get("values", arguments.get("value"))
    return isinstance(first, Static) and isinstance(first.constant, int)


def _kind(one: Followed) -> str:
    if one.parameter in AXES:
        return "is an axis that depends on data"
    if one.content:
        return "is a constant to XLA, but depends on data"
    return "is an index that depends on data" if one.carried is None else OPTION


def _position(item: Value | Slice) -> Tensor | None:
    """The tensor from data that an item of a subscript is or starts at; masks are no positions."""
    if isinstance(item, Slice):
        return as_tensor(item.start) if item.start is not None else None
    tensor = as_tensor(item)
    return tensor if tensor is not None and tensor.dtype in ("int", None) else None
