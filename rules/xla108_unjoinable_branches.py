"""The branches of a tensor conditional leave a name in forms that XLA cannot join.

## What it does
Reports an `if` on a tensor whose branches do not fit together: only one of them assigns a name that is used later, only
one returns, or they leave values of different dtype, structure, rank or shape. Also a test of sizes that pads,
extends, repeats or cuts a tensor. Of `tf.cond`, and of `keras.backend.switch` with one condition for all elements,
reports sides that are tensors of different dtype or rank.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU, with AutoGraph. These fail:

- a name assigned in one branch only ("must also be initialized in the else branch")
- a return in one branch only ("must also have a return statement"); a `return` behind the conditional is the other
  branch's only in the same block: not behind an `elif`, nor outside a `with` or a loop
- different dtypes ("has dtype int32 in the main branch, but dtype float32 in the else branch"); a Python number counts
  as a tensor of its own dtype, `0` as int32 and `0.0` as float32, whatever the other branch leaves
- different structures ("must have the same nested structure")
- different ranks ("left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size()")
- two tensors of bounded dynamic shapes, of which one is longer in one branch and the other in the other: `kept` grows
  where `dropped` is cut ("Output shapes of then and else branches do not match"). Where one branch has all of the
  larger bounds, XLA pads the other one

Different sizes of the same rank compile to a bounded dynamic shape (`f32[<=4]`), which later operations may get wrong:
`tf.cumsum` of it crashed the process. Where sizes decide (`if tf.shape(x)[0] < 8: x = tf.pad(x, ..)`), the result is
right, and its gradient is as long as the longer branch, or does not compile ("shape of dy was [4] instead of [2]").
The functions of `tf.cond` fail in the
same way, with and without AutoGraph ("must have the same number, type, and overall structure of return values").

## Example
    if tf.reduce_sum(x) > 0.0:
        scale = tf.reduce_max(x)
    return x * scale

## Use instead
    scale = tf.where(tf.reduce_sum(x) > 0.0, tf.reduce_max(x), 1.0)
    return x * scale

## Not flagged
- A name that only the branch itself uses, or that nothing reads before it is assigned again.
- A Python number in one branch and a tensor of its dtype in the other.
- Code that AutoGraph does not convert. There the `if` itself fails.

## Fix safety
`unsafe`: a name that only one branch assigns gets zeros before the branch, if its value can be computed without the
branch. In eager execution the name has no value when the branch is not taken, so the code raises. Sizes that decide are
taken from `x.shape`, which is None where tracing does not know them. Nothing else has a rewrite: only you know what the
other branch should return.

## References
- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/control_flow.md
- https://github.com/tensorflow/tensorflow/issues/43723
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import BranchOn, Event, JoinBranches
from xlalint.analysis.library.mismatches import BOUNDS
from xlalint.fixes import resized
from xlalint.fixes.defaults import default_before
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, Rule, Safety
from xlalint.syntax import nodes as cst

from ._jax import MISMATCH, fails
from ._programs import NESTED_BOUNDS
from ._unjoinable import HELPS, OF_FUNCTIONS, OF_SIZES, REASONS


class UnjoinableBranches(Rule):
    code = "XLA108"
    name = "unjoinable-branches"
    handles = (JoinBranches, BranchOn)
    bad = (
        Bad(
            """
from tensorflow.keras import backend as K

@tf.function(jit_compile=True)
def f(x):
    x = K.reshape(x, (2, 2))
    loss = K.switch(tf.size(x) > 0, K.square(x), tf.constant(0.0))
    return K.mean(loss) + tf.cond(tf.size(x) > 9, lambda: x, lambda: 1.0)
""",
            [
                "K.switch(tf.size(x) > 0, K.square(x), tf.constant(0.0))",
                "tf.cond(tf.size(x) > 9, lambda: x, lambda: 1.0)",
            ],
            Fails("left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size()"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > -1e6:
        scale = tf.reduce_max(x)
    return x * scale
""",
            ["tf.reduce_sum(x) > -1e6"],
            Fails("'scale' must also be initialized in the else branch"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    scale = tf.zeros_like(tf.reduce_max(x))
    if tf.reduce_sum(x) > -1e6:
        scale = tf.reduce_max(x)
    return x * scale
""",
        ),
        Bad(
            """
def clip(t):
    if tf.reduce_max(tf.abs(t)) > 0.0:
        return t / tf.reduce_max(tf.abs(t))

@tf.function(jit_compile=True)
def f(x):
    return clip(x)
""",
            ["tf.reduce_max(tf.abs(t)) > 0.0"],
            Fails("must also have a return statement"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def pooled():
        if tf.reduce_sum(x) > 0.0:
            y = tf.reduce_max(x)
        else:
            y = tf.reshape(x, [12])
        return tf.reduce_sum(y)
    return pooled()
""",
            ["tf.reduce_sum(x) > 0.0"],
            Fails("left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size()"),
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def missing(size, stride):
    return (stride - size % stride) % stride

@tf.function(jit_compile=True)
def f(x):
    rows = missing(tf.shape(x)[0], 4)
    if rows > 0:
        x = tf.pad(x, [[0, rows], [0, 0]])
    return x
""",
            ["rows > 0"],
            Compiles(bounded=True),
            inputs=("f32[3, 2]",),
            why="the gradient is as long as the padded tensor",
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
def missing(size, stride):
    return (stride - size % stride) % stride

@tf.function(jit_compile=True)
def f(x):
    rows = missing(x.shape[0], 4)
    if rows > 0:
        x = tf.pad(x, [[0, rows], [0, 0]])
    return x
""",
        ),
        Bad(
            """
cast = tf.cast

@tf.function(jit_compile=True)
def f(x):
    y = cast(x, tf.float32)
    if tf.reduce_sum(x) > 0.0:
        y = cast(x, tf.int32)
    return cast(y, tf.float32) * 0.0
""",
            ["tf.reduce_sum(x) > 0.0"],
            Fails("has dtype int32 in the main branch, but dtype float32 in the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    @tf.function(jit_compile=True)
    def call(self, x):
        extra = None
        if tf.reduce_sum(x) > 0.0:
            extra = x * 2.0
        return x if extra is None else extra
""",
            ["tf.reduce_sum(x) > 0.0"],
            Fails("is None at the end of the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        flat = lambda: tf.reshape(x, [12])
        y = tf.cond(tf.reduce_sum(x) > 0.0, flat, lambda: tf.reshape(x, [3, 4]))
        return tf.reduce_sum(y)
""",
            ["tf.cond(tf.reduce_sum(x) > 0.0, flat, lambda: tf.reshape(x, [3, 4]))"],
            Fails("left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size()"),
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cond(x[0] > 0.0, lambda: tf.argmax(x), lambda: tf.reduce_max(tf.cast(x, tf.float32)))
""",
            ["tf.cond(x[0] > 0.0, lambda: tf.argmax(x), lambda: tf.reduce_max(tf.cast(x, tf.float32)))"],
            Fails("must have the same number, type, and overall structure of return values"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def mean_of_finite(loss):
    if tf.reduce_any(tf.math.is_nan(loss)):
        return 0
    return tf.reduce_mean(loss)

@tf.function(jit_compile=True)
def f(x):
    return mean_of_finite(tf.cast(x, tf.float32))
""",
            ["tf.reduce_any(tf.math.is_nan(loss))"],
            Fails("has dtype int32 in the main branch, but dtype float32 in the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    weight = 1
    if tf.reduce_sum(x) > 0.0:
        weight = tf.sqrt(x[0])
    scaled = lambda t: t * tf.cast(weight, tf.float32)
    return scaled(x)
""",
            ["tf.reduce_sum(x) > 0.0"],
            Fails("has dtype float32 in the main branch, but dtype int32 in the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return x * tf.cast(0 if tf.reduce_sum(x) > 0.0 else tf.sqrt(x[0]), tf.float32)
""",
            ["tf.reduce_sum(x) > 0.0"],
            Fails("has dtype int32 in the main branch, but dtype float32 in the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cond(x[0] > 0.0, lambda: 0, lambda: tf.sqrt(x[0]))
""",
            ["tf.cond(x[0] > 0.0, lambda: 0, lambda: tf.sqrt(x[0]))"],
            Fails("must have the same number, type, and overall structure of return values"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 1.0:
        return x
    elif tf.reduce_max(x) > 1.0:
        return x * 2.0
    return x * 3.0
""",
            ["tf.reduce_max(x) > 1.0"],
            Fails("must also have a return statement"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def selected(x):
    return tf.boolean_mask(x, x > 0.0), tf.boolean_mask(x, x <= 0.0)

@tf.function(jit_compile=True)
def f(x):
    kept, dropped = selected(x)
    if tf.size(kept) < 3:
        kept = tf.concat([kept, kept], 0)
        dropped = tf.random.shuffle(tf.cast(dropped, tf.int32))[:1]
        dropped = tf.cast(dropped, tf.float32)
    return tf.concat([kept, dropped], 0)
""",
            ["tf.size(kept) < 3"],
            Fails("Output shapes of then and else branches do not match"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def balanced(positive, negative, limit):
    if tf.size(positive) > limit:
        return positive[:limit], tf.pad(negative, [[0, 2]])
    elif tf.size(negative) > limit:
        return positive, negative[:limit]
    else:
        return positive, negative

@tf.function(jit_compile=True)
def f(x):
    positive, negative = balanced(tf.where(x > 0.0)[:, 0], tf.where(x <= 0.0)[:, 0], 2)
    return tf.concat([positive, negative], 0)
""",
            ["tf.size(positive) > limit"],
            Fails("Output shapes of then and else branches do not match"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    kept, dropped = tf.boolean_mask(x, x > 0.0), tf.boolean_mask(x, x <= 0.0)
    longer, cut = lambda: (tf.repeat(kept, 2), dropped[1:]), lambda: (kept, dropped)
    kept, dropped = tf.cond(tf.reduce_sum(x) > 0.0, longer, cut)
    return tf.concat([kept, dropped], 0)
""",
            ["tf.cond(tf.reduce_sum(x) > 0.0, longer, cut)"],
            Fails("Output shapes of then and else branches do not match"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
from tensorflow.keras import backend as K

@tf.function(jit_compile=True)
def f(x):
    mean = K.switch(tf.reduce_sum(x) > 0.0, lambda: K.mean(x), lambda: tf.constant(0.0))
    return K.switch(x > mean, x, tf.zeros_like(x)) + K.switch(tf.reduce_sum(x) > 0.0, mean, 0.0)
""",
            why="numbers on both sides, and elements one by one",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 3.0:
        with tf.name_scope("large"):
            if tf.reduce_max(x) > 1.0:
                return x * 2.0
            return x
    elif x.shape[0] == 2:
        return x * 4.0
    if tf.reduce_max(x) > 2.0:
        x = x + 1.0
    elif tf.reduce_max(x) > 1.0:
        return x * 5.0
    else:
        return x * 6.0
    return x * 3.0
""",
            why="each block goes on to a `return`",
        ),
        Good(
            NESTED_BOUNDS,
            Compiles(bounded=True),
            why="one branch has all of the larger bounds, of what is used later",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    scale = 1.0
    if tf.reduce_sum(x) > 0.0:
        scale = tf.reduce_max(x)
    return x * scale
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0.0:
        largest = tf.reduce_max(x)
        x = x / largest
    return x
""",
            why="only the branch uses the name",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0.0:
        return x * 2.0
    return -x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if x.shape[0] == 4:
        y = x[0]
    else:
        y = x
    return y
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0.0:
        y = x * 2.0
    elif tf.reduce_max(x) > 0.0:
        y = x * 3.0
    else:
        y = -x
    return y
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    weight = 0
    if tf.reduce_sum(x) > 0.0:
        weight = tf.sqrt(x[0])
        x = x * weight
    weight = tf.sqrt(x[1])
    return x * weight
""",
            why="nothing reads the number before it is assigned again",
        ),
        Good(
            """
def position(x):
    if tf.reduce_sum(x) > 0.0:
        return 0
    return tf.argmax(x, output_type=tf.int32)

@tf.function(jit_compile=True)
def f(x):
    return tf.gather(x, position(x)) + tf.cond(x[0] > 0.0, lambda: 0.0, lambda: x[1])
""",
        ),
        Good(
            """
def load(path):
    if tf.io.gfile.exists(path):
        data = tf.io.read_file(path)
    return data
""",
            None,
            why="eager code with a Python test",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    wide = lambda: tf.reshape(x, [2, 2])
    y = tf.cond(tf.rank(x) > 1, lambda: x, wide) if x.shape.rank > 1 else wide()
    return tf.cond(tf.reduce_sum(y) > 0.0, lambda: y, lambda: tf.zeros([2, 2]))
""",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case BranchOn(test=tested, statement=cst.If(test=test) as statement) if (
                event.context.converted
                and (tensor := as_tensor(tested, Dependence.STATIC))
                and tensor.dependence is not Dependence.VALUE
                and (name := resized.resized(statement)) is not None
            ):
                in_python = partial(resized.asked_of_python, event.location, test)
                yield Draft(OF_SIZES.format(name=name), Effect.NAMED, HELPS["sizes"], rewrite=in_python)
            case JoinBranches(reason=reason, functions=True, context=context):
                if context.kind is ContextKind.XLA or (context.kind is ContextKind.GRAPH and reason == "dtype"):
                    message, help = OF_FUNCTIONS[reason]
                    what = f"the branches of `{brief(event.location.node)}` return"
                    jax = fails(f"{what} {message.partition(',')[0]}", MISMATCH) if reason != BOUNDS else None
                    yield Draft(f"{what} {message}", Effect.FAILS, help, jax=jax)
            case JoinBranches(name=name, reason=reason, context=context) if context.converted:
                message = f"branches of a conditional on a tensor: {REASONS[reason].format(name=name)}"
                rewrite = partial(default_before, event.location, name) if reason == "one branch only" else None
                yield Draft(message, Effect.FAILS, HELPS[reason].format(name=name), rewrite=rewrite)
