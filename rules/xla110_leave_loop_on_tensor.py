"""A tensor decides a `break` or `return` that the loop does not support.

## What it does
Reports `break` and `return` under a tensor condition in a Python loop, which tracing unrolls, and `return` from inside
a TensorFlow loop.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU, with AutoGraph.

- In `for i in range(4)` and `while True`, a `break` on a tensor fails ("break and return statements which depend on a
  TF condition are not supported in Python for loops", "The condition of while loop started as non-Tensor, then changed
  to Tensor"). A `return` fails ("the else branch must also have a return statement").
- In `for i in tf.range(4)`, a `return` fails ("a return statement cannot be placed inside this TensorFlow loop").
  `break` and `continue` compile.
- `continue` compiles in Python loops, too.

## Example
    for i in range(4):
        if x[i] > 0.5:
            break
        x = x * 1.5

## Use instead
    done = tf.constant(False)
    for i in range(4):
        done = tf.logical_or(done, x[i] > 0.5)
        x = tf.where(done, x, x * 1.5)

Or loop over `tf.range(4)`, where AutoGraph converts `break`.

## Not flagged
- `break` decided by Python values, and `break` and `continue` in `for i in tf.range(4)`.
- Code that AutoGraph does not convert. There the `if` around the `break` fails, and XLA101 reports it.

## Fix safety
`unsafe` for `break` out of `for .. in range(..)`, whose counter is at most an index: the loop over `tf.range` ends
early like the original. It fails if a name changes its shape or dtype in the loop, and the counter is a tensor behind
it. No fix is offered if code behind the loop reads names that only the loop assigns.

Everything else is shown only. With a `done` flag, the loop computes all iterations; the result is the same.

## References
- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
- https://www.tensorflow.org/guide/function#loops
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.interpreter.events import Event, LeaveLoop
from xlalint.fixes.loops import over_tensors
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, Safety

UNROLLED = "tracing unrolls the loop, and the tensor has no value yet"
REASONS = {
    ("break", "python"): UNROLLED,
    ("return", "python"): UNROLLED,
    ("return", "tensor"): "AutoGraph cannot return from inside a TensorFlow loop",
}
HELP = """\
done = tf.constant(False)  # before the loop
done = tf.logical_or(done, <the condition>)  # in place of the `if`
y = tf.where(done, y, <next y>)  # for every name that the rest of the loop assigns"""


class LeaveLoopOnTensor(Rule):
    code = "XLA110"
    name = "leave-loop-on-tensor"
    traced = True
    handles = (LeaveLoop,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    for i in range(4):
        if x[i] > 0.5:
            break
        x = x * 1.5
    return x
""",
            ["break"],
            Fails("are not supported in Python for loops"),
            effect=Effect.FAILS,
            help="tf.logical_or(done,",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    for i in tf.range(4):
        if x[i] > 0.5:
            break
        x = x * 1.5
    return x
""",
        ),
        Bad(
            """
def settle(t):
    while True:
        t = t * 0.5
        if tf.reduce_max(tf.abs(t)) < 0.1:
            break
    return t

@tf.function(jit_compile=True)
def f(x):
    return settle(x)
""",
            ["break"],
            Fails("The condition of while loop started as non-Tensor, then changed to Tensor"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def first_positive():
        for i in tf.range(4):
            if x[i] > 0.0:
                return x[i]
        return x[0]
    return first_positive()
""",
            ["return x[i]"],
            Fails("a return statement cannot be placed inside this TensorFlow loop"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Search:
    steps = 4

    def run(self, x):
        for i in range(self.steps):
            if x[i] > 0.5:
                return x * 2.0
        return x

@tf.function(jit_compile=True)
def f(x):
    return Search().run(x)
""",
            ["return x * 2.0"],
            Fails("must also have a return statement"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.limit = self.add_weight(shape=(), initializer="ones", trainable=False)

    @tf.function(jit_compile=True)
    def call(self, x):
        i = 0
        while i < 4:
            if x[i] > self.limit:
                break
            i += 1
        return x * float(i)
""",
            ["break"],
            Fails("The condition of while loop started as non-Tensor, then changed to Tensor"),
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
def halved(row):
    if tf.reduce_sum(row) > 1.0:
        return row / 2.0
    else:
        return row

@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(halved, x)
""",
            inputs=("f32[4, 3]",),
            why="the helper returns to the loop around it, not out of it",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    for i in tf.range(4):
        if x[i] > 0.5:
            break
        x = x * 1.5
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = 0.0
    for i in range(4):
        if x[i] > 0.5:
            continue
        total += x[i]
    return total
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        for i in range(8):
            if i >= x.shape[0]:
                break
            x = x * 1.5
        return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0.0:
        return x * 2.0
    for _ in range(3):
        x = x * 1.5
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    for part in (None, x, x * 2.0):
        if part is not None:
            return part
    return x
""",
        ),
        Good(
            """
for step in range(10):
    loss = tf.reduce_sum(tf.ones([4])) / float(step + 1)
    if loss < 1.0:
        break
""",
            None,
            why="eager code of a script",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case LeaveLoop(form=form, loop=loop, context=context) if context.converted and (form, loop) in REASONS:
                rewrite = partial(over_tensors, event.location) if form == "break" else None
                yield Draft(f"`{form}` decided by a tensor: {REASONS[form, loop]}", Effect.FAILS, HELP, rewrite=rewrite)
