"""The size of a tensor comes from data, so XLA recompiles for every value.

## What it does
Reports arguments that decide the shape of a result and depend on the value of a tensor:

- in `tf.range`, `tf.zeros`, `tf.fill`, `tf.reshape`, `tf.tile`, `tf.repeat`, `tf.one_hot`, `tf.math.top_k`,
  `tf.linspace`, `tf.pad`, `tf.eye`, random shapes, `tf.image.resize`, segment counts, and all others in the table of
  measured calls
- one bound of a slice (`x[:n]`), or a stride
- `tf.sequence_mask` without `maxlen`, `tf.math.confusion_matrix` without `num_classes`, and `tf.math.bincount`

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- Each new value triggers a new compilation, without a warning: one trace, and as many compilations as values. This also
  holds for values computed inside the function and inside loops.
- `tf.math.bincount` recompiles for every new content, even with a fixed `minlength` and `maxlength`.
- A value that a `tf.range` loop carries, or a random value, fails ("must be a compile-time constant"). Only slices,
  `tf.slice`, crops and `tf.math.top_k` then compile, with a bounded dynamic shape: once, or once for every value if the
  size also depends on other data.
- XLA folds sizes from `tf.shape(x)`.
- The size of a selection (`tf.size(x[mask])`) gives most results a bounded dynamic shape. Random integers, truncated
  normal numbers, `tf.one_hot`, `tf.linspace` and `tf.split` need a constant and fail. Once a conditional has chosen
  such a size, XLA recompiles for every new value of what decides it.
- A TPU strategy compiles a step by shapes alone, before any value exists. The TPU compiler (2.20) therefore treats
  every value as other compilers treat loop values: it refuses such sizes, and pads slices and selections.

## Example
    valid = x[:length]
    total = tf.reduce_sum(valid)

## Use instead
    valid = tf.where(tf.range(x.shape[0]) < length, x, 0.0)
    total = tf.reduce_sum(valid)

In general: use the largest size that occurs, as a Python int, and mask everything past the actual size.

## Not flagged
- Python ints, `x.shape`, sizes computed from `tf.shape(x)`, `tf.sequence_mask(lengths, maxlen)`.
- A parameter in `tf.split(x, n)`, which raises for a tensor (measured), or `[4, n]` there, unless a tensor is passed.
- `tf.size(x[mask])` where XLA tracks the bounded size, as it does up to a conditional. XLA201 reports the selection.
- `tf.range(steps)` in a plain `tf.function` (a training loop around compiled steps), and host code.

## Fix safety
`unsafe`:

- `tf.math.bincount(x, minlength=n, maxlength=n)` becomes `tf.math.unsorted_segment_sum`. Both agree where XLA compiles
  the call, but in eager execution the segment sum refuses values from `n` on. Without a `maxlength`, such values make
  the original result longer.
- `x[:n]` that is only reduced becomes a reduction with a mask. A negative `n` counts from the end in the slice
  only.
- `tf.sequence_mask(l)` that is multiplied by `x` becomes as wide as `x`. Where the longest is shorter, the product
  fails in eager execution.
- With a bound (`--bound n=64`, or `# xlalint: bound(64)` at the line), `tf.range(n)`, `tf.zeros([n, ..])`,
  `tf.one_hot(i, n)`, `tf.sequence_mask(l)`, `tf.math.bincount(x)` and `tf.repeat(x, counts)` are computed for the bound
  and cut by a mask. An assertion raises in eager execution if the size is greater; XLA drops the assertion, and the
  rest of the result. XLA compiles the mask with a bounded dynamic shape (see XLA201). Segment reductions keep as many
  rows as the bound says, if each row is computed by itself up to the end of the function.

Everything else is shown only: the largest size is not in the code, and the result has another shape.

## References
- https://www.tensorflow.org/xla/known_issues
- https://github.com/tensorflow/tensorflow/issues/122057
- https://github.com/tensorflow/tensorflow/issues/54479
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Slice, Value
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Consume, Event, IndexWith
from xlalint.analysis.library.dtypes import dtype_of
from xlalint.facts.consumers import SIZED
from xlalint.fixes.bounds import counted, cut_to, largest
from xlalint.fixes.quoted import brief
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
    Runs,
    Safety,
    Severity,
    origin_note,
)
from xlalint.syntax import nodes as cst

from ._bounded import BoundedShapes
from ._followed import Followed, followed, names, on_tpu
from ._jax import SLICE, fails, passed
from ._programs import (
    CHOSEN_SIZE,
    GROWING_WINDOW,
    PASSED_BOUNDS,
    RESAMPLED,
    SIZE_AROUND_STEPS,
    SIZE_WHERE_ASKED,
    TRACKED_SIZE,
    UNSCALED,
    WINDOWS_OF_ROWS,
    sized_step,
)
from ._shapes import BoundedSizes, arguments_from_data, length_from, outcome
from ._sizes import as_mask, at_the_largest, sized_draft
from ._traced import traced_bounds, traced_sizes


class SizeFromValue(Rule):
    code = "XLA205"
    name = "size-from-value"
    handles = (ApiCall, IndexWith, Consume)
    apis = names(resizes=True)
    bad = (
        Bad(
            "@tf.function(jit_compile=True)\ndef f(x, n):\n    return tf.reduce_sum(x[:n])\n",
            ["x[:n]"],
            Recompiles(),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="tf.where(tf.range(x.shape[0]) < n, x, tf.zeros_like(x))",
            safety=Safety.UNSAFE,
            fixed="""@tf.function(jit_compile=True)
def f(x, n):
    valid = tf.range(tf.shape(x)[0]) < tf.cast(n, tf.int32)
    return tf.reduce_sum(tf.where(valid, x, 0))
""",
        ),
        Bad(
            "@tf.function(jit_compile=True)\ndef f(x, i, n):\n    return x[i : i + n]\n",
            ["x[i : i + n]"],
            Recompiles(),
            inputs=("f32[4]", "i32[]", "i32[]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
def positions(n):
    return tf.range(n)

class L(tf.keras.layers.Layer):
    def call(self, x):
        count = tf.reduce_sum(tf.cast(x > 0.0, tf.int32))
        return positions(count)
""",
            ["tf.range(n)"],
            Recompiles(),
            effect=Effect.RECOMPILES,
            help="tf.range(MAXIMUM)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.reduce_sum(x)
    for i in tf.range(1, 4):
        total += tf.reduce_sum(tf.zeros([i, 2]))
    return total
""",
            ["tf.zeros([i, 2])"],
            Fails("must be a compile-time constant"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
from tensorflow.math import bincount

@tf.function(jit_compile=True)
def f(labels):
    return bincount(labels, minlength=4, maxlength=4)
""",
            ["bincount(labels, minlength=4, maxlength=4)"],
            Recompiles(),
            inputs=("i32[6]",),
            effect=Effect.RECOMPILES,
            help="tf.math.unsorted_segment_sum(tf.ones_like(labels), labels, NUMBER_OF_VALUES)",
            safety=Safety.UNSAFE,
            fixed="""
from tensorflow.math import bincount

@tf.function(jit_compile=True)
def f(labels):
    return tf.math.unsorted_segment_sum(tf.ones_like(labels, tf.int32), labels, 4)
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, lengths):
        return tf.sequence_mask(lengths)
""",
            ["tf.sequence_mask(lengths)"],
            Recompiles(),
            inputs=("i32[4]",),
            effect=Effect.RECOMPILES,
            help="tf.sequence_mask(lengths, maxlen=MAXIMUM)",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.number = self.add_weight(shape=(), dtype="int32", initializer="ones", trainable=False)

    def call(self, x):
        self.number.assign(1 + self.number % 3)
        return tf.math.top_k(x, self.number).values
""",
            ["tf.math.top_k(x, self.number)"],
            Recompiles(),
            effect=Effect.RECOMPILES,
            help="tf.math.top_k(x, MAXIMUM)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    def widened():
        return tf.pad(x, [[0, n]])

    return widened()
""",
            ["tf.pad(x, [[0, n]])"],
            Recompiles(),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="tf.pad(x, [[0, MAXIMUM]])",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.reduce_sum(x)
    for i in tf.range(4):
        total += tf.reduce_sum(x[:i])
    return total
""",
            ["x[:i]"],
            Compiles(bounded=True),
            effect=Effect.NAMED,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, lengths):
    return tf.map_fn(lambda n: tf.reduce_sum(x[:n]), lengths, fn_output_signature=tf.float32)
""",
            ["x[:n]"],
            Recompiles(),
            inputs=("f32[8]", "i32[3]"),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed="\n@tf.function(jit_compile=True)\ndef f(x, lengths):\n    return tf.map_fn(lambda n: tf.reduce_sum("
            "tf.where((tf.range(tf.shape(x)[0]) < tf.cast(n, tf.int32))[(..., *[None] * (len(x.shape) - 1))], x, 0)), "
            "lengths, fn_output_signature=tf.float32)\n",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n, ids):
    drawn = tf.random.stateless_categorical(x, n, [1, 2])
    return tf.size(drawn), tf.keras.ops.segment_max(x[0], ids), tf.keras.ops.segment_max(x[0], ids, num_segments=8)
""",
            ["tf.random.stateless_categorical(x, n, [1, 2])", "tf.keras.ops.segment_max(x[0], ids)"],
            Recompiles(),
            inputs=("f32[2, 3]", "i32[]", "i32[3]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            RESAMPLED,
            ["tf.random.uniform((missing, 1), maxval=tf.size(indices), dtype=tf.int32)"],
            Fails("must be a compile-time constant"),
            effect=Effect.FAILS,
        ),
        Bad(PASSED_BOUNDS, ["x[window[0] : window[1]]"], Runs(compilations=3), effect=Effect.RECOMPILES),
        Bad(GROWING_WINDOW, ["x[:end]"], Diverges(), effect=Effect.DIVERGES),
        Bad(
            CHOSEN_SIZE,
            ["tf.pad(tf.ones(number), [[0, 8 - number]])", "tf.ones(number)"],
            Recompiles(),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            sized_step("tf.random.normal([number, 3])", "tf.shape(x)[0]"),
            ["tf.random.normal([number, 3])"],
            Runs(),
            why="a step that runs line by line, which a target has compiled",
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            target="tpu",
        ),
    )
    good = (
        Good(sized_step("tf.random.normal([number, 3])", "x.shape[0]"), Runs(), target="tpu"),
        Good(
            sized_step("tf.random.normal(tf.shape(x)) * tf.cast(number, tf.float32)", "tf.shape(x)[0]"),
            Runs(),
            why="the number is no size",
            target="tpu",
        ),
        Good(
            SIZE_AROUND_STEPS,
            Runs(),
            why="host code around the steps",
            target="tpu",
        ),
        Good(
            TRACKED_SIZE,
            Compiles(bounded=True),
            why="XLA tracks the size of a selection",
        ),
        Good(
            WINDOWS_OF_ROWS,
            Recompiles(),
            inputs=("f32[4, 6]", "i32[4]"),
            why="a window that moves keeps its length; what is compiled again is its position, which is XLA206",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return x[: x.shape[0] // 2] + tf.range(2.0)\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    size = tf.shape(x)[0]
    return tf.reshape(tf.tile(x, [size]), [size, -1]) + tf.zeros([size, 1]) + tf.cast(tf.range(size), tf.float32)
""",
            why="XLA folds sizes of static shapes",
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x, n):\n    return tf.where(tf.range(4) < n, x, 0.0)\n",
            inputs=("f32[4]", "i32[]"),
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(lengths):\n    return tf.sequence_mask(lengths, 3)\n",
            inputs=("i32[4]",),
        ),
        Good(
            """
from typing import Optional

class L(tf.keras.layers.Layer):
    def call(self, x, length: Optional[tf.Tensor] = 2):
        if length:
            x = x[:length]
        return x * 2.0
""",
            why="no tensor can be asked whether it is there: whatever the annotation says, callers hand numbers",
        ),
        Good(
            """
import numpy as np

SIZES = np.array([1, 3])

@tf.function(jit_compile=True)
def f(x):
    return x[: int(SIZES.max())] * 2.0
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, depth=3):
        super().__init__()
        self.depth = depth

    def call(self, labels):
        return tf.one_hot(labels, self.depth)
""",
            inputs=("i32[4]",),
        ),
        Good(
            "@tf.function(jit_compile=True)\ndef f(x, value):\n    return tf.fill([4], value) + x\n",
            inputs=("f32[4]", "f32[]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    high, wide = tf.shape(x)[0], tf.shape(x)[1]
    size = tf.cond(high > wide, lambda: high // 2, lambda: wide)
    return tf.pad(x, [[0, tf.cond(tf.equal(wide, 1), lambda: 0, lambda: 2)], [0, 0]]) + tf.ones([size, 1])
""",
            inputs=("f32[4, 6]",),
            why="XLA folds what shapes alone decide",
        ),
        Good(
            SIZE_WHERE_ASKED,
            why="the flag that takes elements away is the one that brings them back",
        ),
        Good(
            UNSCALED,
            inputs=("f32[4, 6, 3]",),
            why="nothing is drawn where both limits are the same",
        ),
        Good(
            """
def coordinates(shape, axis):
    return tf.zeros(shape, tf.int32) + tf.range(shape[axis]) + tf.size(shape)
""",
            None,
            why="what is passed on as a whole shape contains sizes; nothing shows that they come from data",
        ),
        Good(
            """
def crop(example, length):
    return example[:length]

dataset = tf.data.Dataset.from_tensors((tf.ones([4]), 2)).map(crop)
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
            case IndexWith(index=index, node=node):
                yield from self._slices(event, index, node)
                yield from traced_bounds(event)
            case ApiCall(api="tf.range") if event.context.kind is ContextKind.GRAPH:
                return  # a training loop around compiled steps: `for _ in tf.range(steps)`
            case ApiCall(api=api):
                found = [one for one in followed().get(api, ()) if one.resizes]
                yield from self._arguments(event, [one for one in found if not one.content])
                yield from _contents(event, [one for one in found if one.content])
                yield from traced_sizes(event, (one.parameter for one in found if not one.content))

    def _slices(self, event: IndexWith, index: tuple[Value | Slice, ...], node: cst.Subscript) -> Iterator[Draft]:
        for axis, (item, element) in enumerate(zip(index, node.slice, strict=False)):
            match item, element.slice:
                case Slice() as cut, cst.Slice() as syntax if (tensor := length_from(cut, syntax)) is not None:
                    stride = as_tensor(cut.step) if cut.step is not None else None
                    carried = Effect.FAILS if stride is not None else Effect.NAMED
                    effect = outcome(tensor, carried)
                    if effect is not None and tensor not in self._sizes:
                        help = None if stride is not None else as_mask(node, syntax, axis)
                        draft = sized_draft(event, tensor, effect, f"the length of `{brief(node)}`", help)
                        rewrite = partial(cut_to, event) if effect is Effect.RECOMPILES else None
                        jax = fails(f"the length of `{brief(node)}` depends on data", SLICE)
                        yield replace(draft, on_tpu=on_tpu(carried), rewrite=rewrite, jax=jax)
                        if tensor.carried and stride is None:
                            yield from self._shapes.follow(event.location, help)
                        return

    def _arguments(self, event: ApiCall, followed: Iterable[Followed]) -> Iterator[Draft]:
        carried = {one.parameter: one.carried for one in followed}
        for parameter in carried:
            for tensor, node in arguments_from_data(parameter, event.arguments, event.argument_nodes):
                if tensor in self._sizes:
                    consumer = SIZED.get(event.api)
                    if consumer is None or not (consumer.when == "size" or dtype_of(event.result) == "int"):
                        continue
                    what = f"`{brief(event.location.node)}` gets the size of a bounded dynamic shape and"
                    yield Draft(
                        f"{what} {consumer.consequence}", consumer.effect, notes=origin_note(tensor.origin, event)
                    )
                    return
                effect = outcome(tensor, carried[parameter])
                if effect is not None:
                    what = f"`{brief(node)}` in `{brief(event.location.node)}`"
                    draft = sized_draft(event, tensor, effect, what, at_the_largest(event, node))
                    rewrite = partial(largest, event, parameter, node)
                    jax = passed(event.api, parameter, f"{what} depends on data and decides a shape")
                    yield replace(draft, on_tpu=on_tpu(carried[parameter]), rewrite=rewrite, jax=jax)
                    return


def _contents(event: ApiCall, followed: Iterable[Followed]) -> Iterator[Draft]:
    for one in followed:
        if one.spared(event.arguments):
            continue
        for tensor, node in arguments_from_data(one.parameter, event.arguments, event.argument_nodes):
            effect = Effect.FAILS if tensor.bounded is not None else outcome(tensor, one.carried)
            if effect is not None:
                what = f"the content of `{brief(node)}`"
                draft = sized_draft(event, tensor, effect, what, at_the_largest(event, node))
                rewrite = partial(counted, event, one.parameter, node)
                jax = passed(event.api, one.parameter, f"{what} depends on data and decides a shape")
                yield replace(draft, rewrite=rewrite, on_tpu=on_tpu(one.carried), jax=jax)
                return
