"""A Python loop of many rounds in compiled code: each round is compiled by itself.

## What it does
Flags `for .. in range(N)` in code that XLA compiles where the loop computes with tensors and N is a known number, at
least `unrolled-rounds` of the settings (32).

## What XLA does
Python's `range` is unrolled while the function is traced, with AutoGraph or without. Measured with TensorFlow 2.21 on
CPU, forward and backward: a product and a `tanh` take 1.0 s to compile for 16 rounds, 3.0 s for 64, 5.1 s for 128; a
recurrent step, 2.3 s for 16 and 31 s and 530 MB for 64. The same loop over `tf.range` takes 1.2 s for any number of
rounds. Without AutoGraph, as Keras 3 runs `call`, the loop has to be written with `tf.while_loop` or
`keras.ops.fori_loop`.

## Example
    for _ in range(200):
        state = tf.tanh(state @ weights)

## Use instead
    for _ in tf.range(200):  # with AutoGraph
        state = tf.tanh(state @ weights)

## Not flagged
Fewer rounds; a loop through the layers or weights of a network, which are others in each round; a number of rounds that
is not known; loops of code that is not compiled.

## Fix safety
Shown only: a loop in the graph keeps the shape and dtype of what it carries.

## References
- https://www.tensorflow.org/guide/function#loops
- https://keras.io/api/ops/core/#foriloop-function
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import ContextKind, Event, UnrollLoop
from xlalint.fixes.quoted import one_line
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Good, Rule, Severity


class UnrolledLoop(Rule):
    code = "XLA311"
    name = "unrolled-loop"
    handles = (UnrollLoop,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    for _ in range(100):
        x = tf.tanh(x + 1.0)
    return x
""",
            ["range(100)"],
            Compiles(),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="tf.range(100)",
        ),
        Bad(
            """
STEPS = 50

class L(tf.keras.layers.Layer):
    def call(self, x):
        state = x
        for step in range(STEPS):
            state = tf.tanh(state * x + float(step))
        return state
""",
            ["range(STEPS)"],
            Compiles(),
            help="tf.while_loop",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, count=40):
        super().__init__()
        self.count = count

    def call(self, x):
        outputs = []
        for t in range(10, 10 + 40):
            outputs.append(x * t)
        return tf.stack(outputs)
""",
            ["range(10, 10 + 40)"],
            Compiles(),
        ),
        Bad(
            """
def evolve(x, steps):
    for t in range(steps):
        x = x + x[t % 4]
    return x

@tf.function(jit_compile=True)
def f(x):
    return evolve(x, 64)
""",
            ["range(steps)"],
            Compiles(),
        ),
    )
    good = (
        Good(
            "@tf.function(jit_compile=True)\ndef f(x):\n    for _ in range(3):\n        x = tf.tanh(x)\n    return x\n"
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    for _ in tf.range(100):
        x = tf.tanh(x)
    return x
"""
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scales = [float(i) for i in range(40)]

    def call(self, x):
        for i in range(40):
            x = tf.tanh(x * self.scales[i])
        return x
""",
            why="what stands in a list, one for each round, as layers do",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        for i in range(40):
            setattr(self, f"scale_{i}", float(i))

    def call(self, x):
        for i in range(40):
            x = x + getattr(self, f"scale_{i}")
        return x
""",
            why="one attribute for each round",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = 0
    for i in range(100):
        total += i
    return x * float(total)
""",
            why="Python numbers cost nothing",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, UnrollLoop)
        if event.context.kind is not ContextKind.XLA or event.rounds < self.unrolled_rounds:
            return
        counter = one_line(event.statement.target)
        if event.context.converted:
            help = f"for {counter} in tf.{one_line(event.statement.iter)}:"
        else:
            help = f"tf.while_loop or keras.ops.fori_loop over {counter}: AutoGraph does not convert this code"
        message = f"this loop is unrolled into {event.rounds} rounds, each compiled by itself"
        yield Draft(message, Effect.RECOMPILES, help, at_most=Severity.WARNING)
