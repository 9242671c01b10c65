"""Tracing unrolls a long Python loop in compiled code, and XLA compiles each iteration separately.

## What it does
Reports `for .. in range(N)` in code that XLA compiles, if the loop computes with tensors and N is known and at least
`unrolled-rounds` of the settings (32).

## What XLA does
Tracing unrolls Python's `range`, with and without AutoGraph. Compile times measured with TensorFlow 2.21 on a CPU,
forward and backward:

| loop body | 16 iterations | 64 | 128 |
| --- | --- | --- | --- |
| a matrix product and `tanh` | 1.0 s | 3.0 s | 5.1 s |
| a recurrent step | 2.3 s | 31 s, 530 MB | |

The same loop over `tf.range` takes 1.2 s for any number of iterations. Without AutoGraph, as when Keras 3 calls `call`,
write the loop with `tf.while_loop` or `keras.ops.fori_loop`.

## Example
    for _ in range(200):
        state = tf.tanh(state @ weights)

## Use instead
    for _ in tf.range(200):  # with AutoGraph
        state = tf.tanh(state @ weights)

## Not flagged
Fewer iterations, a loop over the layers or weights of a network, which differ in each iteration, an unknown number of
iterations, and loops in code that XLA does not compile.

## Fix safety
Shown only: a loop in the graph requires that its variables keep their shape and dtype.

## References
- https://www.tensorflow.org/guide/function#loops
- https://keras.io/api/ops/core/#foriloop-function
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import ContextKind, Event, UnrollLoop
from xlalint.fixes.quoted import one_line
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Good, OnJax, Rule, Severity


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
            help = f"use tf.while_loop or keras.ops.fori_loop over {counter}: AutoGraph does not convert this code"
        message = f"tracing unrolls this loop into {event.rounds} iterations, and XLA compiles each one separately"
        jax = OnJax(Effect.RECOMPILES, f"a loop of {event.rounds} iterations", "tracing unrolls it")
        yield Draft(message, Effect.RECOMPILES, help, at_most=Severity.WARNING, jax=jax)
