"""A `while` loop tests a tensor.

## What it does
Reports a `while` loop whose test is a tensor during tracing.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- Without AutoGraph (`autograph=False`, and everything that Keras 3 calls), tracing raises
  `OperatorNotAllowedInGraphError`.
- With AutoGraph, the loop becomes an XLA while loop and compiles once for all values. The test must be a boolean scalar
  ("condition of while loop expected to be `tf.bool` scalar").
- The gradient through such a loop does not compile, also if it counts up to a constant or to a size: XLA needs a fixed
  number of iterations to store the intermediate values. A loop that only adds what it does not change needs none.

## Example
    while tf.reduce_sum(tf.abs(x)) < 50.0:
        x = x * 1.5

## Use instead
    (x,) = tf.while_loop(lambda x: tf.reduce_sum(tf.abs(x)) < 50.0, lambda x: (x * 1.5,), (x,), maximum_iterations=20)

## Not flagged
Python counters, and with AutoGraph loops whose end is known from shapes (`while i < tf.shape(x)[0]`). Of a gradient:
loops that leave only what is compared, made integers or used for positions.

## Fix safety
Usually the rewrite is shown only: `LIMIT` stands for a number of iterations that is always enough, which only you know.
It is `unsafe` if the loop counts up to a literal. That literal becomes the bound, which is too low for a counter that
starts below zero. `tf.while_loop` refuses a name that changes its dtype or shape, and Python side effects happen once.

## References
- https://www.tensorflow.org/guide/function#loops
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.interpreter.events import Event, LoopWhile
from xlalint.fixes.loops import while_loop
from xlalint.linter.rule import ApiCall, Bad, Breaks, Compiles, Draft, Effect, Fails, Good, Rule, Safety, origin_note

from ._control import REFUSED, not_a_truth, of_a_tensor, unconverted
from ._flows import reaches_gradient
from ._gradients import GRADIENTS, LoopsUnderGradients, has_floats, keeps_values, note_of
from ._jax import tested

STEPS = "XLA needs a fixed number of iterations to store the intermediate values, so compiling fails"
NOT_A_BOOL = Fails("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed")


class WhileOnTensor(Rule):
    code = "XLA102"
    name = "while-on-tensor"
    traced = True
    handles = (LoopWhile, ApiCall)
    apis = GRADIENTS
    bad = (
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        while tf.reduce_sum(tf.abs(x)) < 50.0:
            x = x * 1.5
        return x
""",
            ["tf.reduce_sum(tf.abs(x)) < 50.0"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
def settle(t, tolerance):
    error = tf.reduce_max(tf.abs(t))
    while error > tolerance:
        t = t * 0.5
        error = tf.reduce_max(tf.abs(t))
    return t

@tf.function(jit_compile=True)
def f(x):
    return settle(x, 0.1)
""",
            ["error > tolerance"],
            Compiles(),
            effect=Effect.NAMED,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    i = tf.constant(0)
    while i < 3:
        x = x * 1.5
        i += 1
    return x
""",
            ["i < 3"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True, autograph=False)
def f(x):
    i = tf.constant(0)
    def body(x, i):
        x = x * 1.5
        i += 1
        return x, i

    x, i = tf.while_loop(lambda x, i: i < 3, body, (x, i), maximum_iterations=3)
    return x
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    def countdown(left):
        y = x
        while left:
            y = y * 2.0
            left = left - 1
        return y
    return countdown(tf.cast(n, tf.int32))
""",
            ["left"],
            Fails("condition of while loop expected to be `tf.bool` scalar"),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.limit = self.add_weight(shape=(), initializer="ones", trainable=False)

    def call(self, x):
        steps = 0
        while self.limit > float(steps):
            x = x * 0.5
            steps += 1
        return x
""",
            ["self.limit > float(steps)"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
def grown(t):
    while tf.reduce_sum(tf.abs(t)) < 50.0:
        t = t * t + 1.0
    return t

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = grown(x)
    return tape.gradient(y, x)
""",
            ["tf.reduce_sum(tf.abs(t)) < 50.0"],
            Fails("XLA compilation requires a fixed tensor list size"),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, y = tf.constant(0), x
        while i < 3:
            y = y * 2.0
            i += 1
    return tape.gradient(y, x)
""",
            ["i < 3"],
            Fails("XLA compilation requires a fixed tensor list size"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, y = tf.constant(0), x
        def body(y, i):
            y = y * 2.0
            i += 1
            return y, i

        y, i = tf.while_loop(lambda y, i: i < 3, body, (y, i), maximum_iterations=3)
    return tape.gradient(y, x)
""",
        ),
        Bad(
            """
def total(rows):
    i, found = tf.constant(0), 0.0
    while i < tf.shape(rows)[0]:
        found += rows[i]
        i += 1
    return found

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(x)
    return tape.gradient(y, x)
""",
            ["i < tf.shape(rows)[0]"],
            Fails("XLA compilation requires a fixed tensor list size"),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(w, steps):
    with tf.GradientTape() as tape:
        tape.watch(w)
        i, y = tf.constant(0), w
        while i < steps:
            z = tf.sin(y)
            y = y + z
            i += 1
    return tape.gradient(y, w)

step(tf.ones(3), tf.constant(4))
""",
            ["i < steps"],
            Breaks("XLA compilation requires a fixed tensor list size"),
            effect=Effect.FAILS,
            safety=Safety.DISPLAY,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, y = tf.constant(0), x
        while i < 3:
            y = y * x
            i += 1
        y = x * tf.cast(y > 0.5, tf.float32)
    return tape.gradient(y, x)
""",
            why="no gradient goes through a comparison",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, y = tf.constant(0), x
        while i < 3:
            y = y + x
            i += 1
    return tape.gradient(y, x)
""",
            why="the gradient needs no value of an iteration",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        i, odd = tf.constant(0), 1
        while i < tf.shape(x)[0]:
            i += 1
            odd = odd * 3
        y = x * tf.cast(odd, tf.float32)
    return tape.gradient(y, x)
""",
            why="no gradient goes through whole numbers",
        ),
        Good(
            """
@tf.function
def steps(x):
    n = tf.constant(0)
    while x != 1:
        n += 1
        x = x // 2
    return n

halves = tf.keras.layers.Lambda(steps)
inner = tf.keras.layers.Lambda(lambda x: steps(tf.reshape(x, ())))

@tf.function(jit_compile=True)
def f(x):
    return inner(x) + halves(x)
""",
            inputs=["i32[]"],
            why="a function in a Lambda layer that is itself a `tf.function`, which AutoGraph converts",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        step = 0
        while step < x.shape[-1]:
            x = x * 2.0
            step += 1
        return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    i = 0
    while i < tf.shape(x)[0]:
        x = x * 1.5
        i = i + 1
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    queue = [x, x * 2.0]
    total = tf.zeros_like(x)
    while queue:
        total += queue.pop()
    return total
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))[0]
""",
        ),
        Good(
            """
def shrink(x):
    while tf.reduce_max(x) > 1.0:
        x = x / 2.0
    return x

print(shrink(tf.ones([4]) * 8.0))
""",
            None,
            why="eager code of a script",
        ),
    )

    def __init__(self) -> None:
        self._pairs = LoopsUnderGradients[LoopWhile]()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall():
                yield from _without_gradient(self._pairs.gradient(event))
            case LoopWhile(test=test, statement=statement) if tensor := as_tensor(test, Dependence.STATIC):
                outcome = _outcome(event, tensor)
                if outcome is None or outcome[0] is Effect.NAMED:
                    yield from _without_gradient(self._pairs.loop(event))
                if outcome is not None:
                    effect, reason = outcome
                    what = f"`while` on {of_a_tensor(tensor)}"
                    rewrite = while_loop(event.location.at(statement), test, event.names)
                    notes, plain = origin_note(tensor.origin, event), not event.context.converted
                    jax = tested(tensor, what)
                    yield Draft(f"{what}: {reason}", effect, notes=notes, rewrite=rewrite, unconverted=plain, jax=jax)


def _without_gradient(pairs: Iterator[tuple[LoopWhile, ApiCall]]) -> Iterator[Draft]:
    for loop, gradient in pairs:
        whole = frozenset(name for name, value in loop.names.items() if not has_floats(value))
        if not keeps_values(loop.statement, loop.names) or not _is_read(loop, whole):
            continue
        message = f"gradient through a `while`: {STEPS}"
        rewrite = while_loop(loop.location.at(loop.statement), loop.test, loop.names)
        yield Draft(message, Effect.FAILS, None, loop.location, (note_of(gradient),), rewrite=rewrite)


def _is_read(loop: LoopWhile, whole: frozenset[str]) -> bool:
    """Whether a gradient may go through what a loop leaves in its names, but for these."""
    return reaches_gradient(loop.location.at(loop.statement), loop.trail, whole=whole)


def _outcome(event: LoopWhile, tensor: Tensor) -> tuple[Effect, str] | None:
    if why := unconverted(event.context):
        return Effect.FAILS, f"{why}, so {REFUSED}"
    if why := not_a_truth(tensor):
        return Effect.FAILS, why
    counted = tensor.carried and tensor.origin is None  # made by the loop alone, out of shapes and constants
    if tensor.dependence is Dependence.VALUE and not counted:
        return Effect.NAMED, "this compiles only because AutoGraph converts it to an XLA loop, and it has no gradient"
    return None
