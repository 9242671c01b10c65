"""The gradient of a `tf.while_loop` without `maximum_iterations` does not compile.

## What it does
Reports a `tf.while_loop` over floating-point values without `maximum_iterations` under a gradient (`tf.GradientTape`,
`tf.gradients`). XLA102 reports the same for a `while` statement.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. The loop itself compiles once. Its gradient fails with "XLA compilation requires
a fixed tensor list size": without a bound on the iterations, the intermediate values have no static size. With
`maximum_iterations` the gradient compiles; if the bound is the value of a tensor, once for every value. A gradient that
needs no intermediate values (`a + 1.0` in the body) compiles without a bound.

## Example
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * a,), (x,))[0]
    gradient = tape.gradient(y, x)

## Use instead
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * a,), (x,), maximum_iterations=20)[0]

Or wrap a loop that is not trained in `tf.stop_gradient`.

## Not flagged
- Loops without a gradient, loops over integers and booleans, and `back_prop=False`.
- `tf.scan`, `tf.map_fn` and `tf.foldl`, whose length is static.

## Fix safety
Shown only: a bound that is too low ends the loop early.

## References
- https://www.tensorflow.org/xla/known_issues
- https://www.tensorflow.org/api_docs/python/tf/while_loop
"""

from collections.abc import Iterator

from xlalint.analysis.domain.values import NONE, Static
from xlalint.analysis.interpreter.events import Event
from xlalint.linter.rule import ApiCall, Bad, Draft, Effect, Fails, Good, Rule

from ._gradients import GRADIENTS, LoopsUnderGradients, has_floats, note_of

LOOP = "tf.while_loop"
NO_LIST_SIZE = Fails("XLA compilation requires a fixed tensor list size")
MESSAGE = (
    f"gradient through `{LOOP}` without `maximum_iterations`: XLA needs a bound on the iterations, so compiling fails"
)
HELP = "pass maximum_iterations=LIMIT, a Python number that is always enough, or use tf.stop_gradient(..)"


class WhileLoopGradient(Rule):
    code = "XLA109"
    name = "while-loop-gradient"
    handles = (ApiCall,)
    apis = GRADIENTS | {LOOP}
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))[0]
    return tape.gradient(y, x)
""",
            ["tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
            help="maximum_iterations=LIMIT",
        ),
        Bad(
            """
from tensorflow import while_loop

def power(t, steps):
    return while_loop(lambda i, a: i < steps, lambda i, a: (i + 1, a * a), (0, t))[1]

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(power(x, 3))
    return tape.gradient(loss, x)
""",
            ["while_loop(lambda i, a: i < steps, lambda i, a: (i + 1, a * a), (0, t))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Solver:
    def __init__(self):
        self.condition = lambda a: tf.reduce_max(tf.abs(a)) > 0.1

    def solve(self, t):
        (t,) = tf.while_loop(self.condition, lambda a: (a * tf.sigmoid(a) * 0.5,), [t])
        return t

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Solver().solve(x)
    return tape.gradient(y, x)
""",
            ["tf.while_loop(self.condition, lambda a: (a * tf.sigmoid(a) * 0.5,), [t])"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        grow = lambda a: (a * tf.exp(a),)
        y = tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, grow, loop_vars=(x,))[0]
    return tape.gradient(y, x)
""",
            ["tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, grow, loop_vars=(x,))"],
            NO_LIST_SIZE,
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,))[0]
""",
        ),
        Good(
            """
def settled(t):
    return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (t,))[0]

@tf.function(jit_compile=True)
def f(x):
    start = tf.stop_gradient(settled(x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * start
    return tape.gradient(y, x)
""",
            why="the tape does not record the loop",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(
            lambda a: tf.reduce_sum(tf.abs(a)) < 50.0, lambda a: (a * 1.5,), (x,), maximum_iterations=20
        )[0]
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        count = tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (tf.constant(0),))[0]
        y = x * tf.cast(count, tf.float32)
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.scan(lambda a, row: a * row, x)
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.foldl(lambda a, row: a * row, x) + tf.reduce_sum(tf.map_fn(lambda row: row * row, x))
    return tape.gradient(y, x)
""",
        ),
        Good(
            """
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: (a * 1.5,), (x,))[0]
print(tape.gradient(y, x))
""",
            None,
            why="eager code of a script",
        ),
    )

    def __init__(self) -> None:
        self._pairs = LoopsUnderGradients[ApiCall]()

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api in GRADIENTS:
                found = self._pairs.gradient(event)
            case ApiCall(arguments=arguments) if arguments.get("maximum_iterations", NONE) == NONE:
                if arguments.get("back_prop") == Static(False) or not has_floats(arguments.get("loop_vars", NONE)):
                    return
                found = self._pairs.loop(event)
            case _:
                return
        for loop, gradient in found:
            yield Draft(MESSAGE, Effect.FAILS, HELP, loop.location, (note_of(gradient),))
