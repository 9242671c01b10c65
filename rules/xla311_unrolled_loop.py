"""Tracing unrolls a long Python loop in compiled code, and XLA compiles each iteration separately.

## What it does
Reports `for .. in range(N)`, and loops through N numbers of an array, in code that XLA compiles, if the loop computes
with tensors or takes steps of training, and N is known, or set by default, and at least `unrolled-rounds` of the
settings (32). Loops inside of each other count together. If N is not known, it reports a loop through the steps of a
sequence (`for t in range(x.shape[1])`, `for step in tf.unstack(x)`) that passes to a function or layer what the step
before computed.

## What XLA does
Tracing unrolls Python's `range`, with and without AutoGraph. Compile times measured with TensorFlow 2.21 on a CPU,
forward and backward:

| loop body | 16 iterations | 64 | 128 |
| --- | --- | --- | --- |
| a matrix product and `tanh` | 1.0 s | 3.0 s | 5.1 s |
| a recurrent step | 2.3 s | 31 s, 530 MB | |

Loops inside of each other, `for row in range(14): for column in range(14)`, are unrolled to 196 copies: with a slice
and a product in the body tracing and compiling takes 0.8 s for 2 x 2, 4.5 s for 6 x 6, and 26 s for 14 x 14.

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
from typing import Final

from xlalint.analysis.interpreter.events import Event, UnrollLoop
from xlalint.fixes.quoted import one_line
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Good, OnJax, Rule, Runs, Severity

STEPS: Final = """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2) / 8
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

@tf.function({jit})
def train(x):
    for _ in {numbers}:
        step(x)

train(tf.ones([8, 3]))
"""
STRATEGY: Final = """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2) / 8
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

@tf.function
def train(iterator, steps):
    for _ in range(steps):
        strategy.run(step, args=(next(iterator),))

data = tf.data.Dataset.from_tensors(tf.ones([8, 3])).repeat()
train(iter(strategy.experimental_distribute_dataset(data)), 40)
"""


class UnrolledLoop(Rule):
    code = "XLA311"
    name = "unrolled-loop"
    handles = (UnrollLoop,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    patches = []
    for row in range(6):
        for column in range(6):
            patches.append(tf.tanh(x[row] * float(column)))
    return tf.stack(patches)

f(tf.ones([6]))
""",
            ["range(6)"],
            Runs(1),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="tf.range(6)",
            why="thirty-six copies of the body",
        ),
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
        Bad(
            """
class Reader(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.cell = tf.keras.layers.GRUCell(4)

    def call(self, words):
        state, seen = tf.zeros([words.shape[0], 4]), []
        for t in range(words.shape[1]):
            output, state = self.cell(words[:, t], state)
            seen.append(output)
        return tf.stack(seen, axis=1)
""",
            ["range(words.shape[1])"],
            None,
            why="the example's input has no steps",
        ),
        Bad(
            """
def advance(state, action, over):
    return tf.where(over, tf.zeros_like(state), tf.tanh(state + action))

@tf.function(jit_compile=True)
def episode(state, actions, over):
    states = []
    for action, ended in zip(tf.unstack(actions), tf.unstack(over)):
        state = advance(state, action, ended)
        states.append(state)
    return tf.stack(states)
""",
            ["zip(tf.unstack(actions), tf.unstack(over))"],
            None,
            severity=Severity.WARNING,
            why="it takes an episode",
        ),
        Bad(
            """
def static_scan(step, inputs, start, reverse=False):
    last, outputs = start, []
    indices = range(len(tf.nest.flatten(inputs)[0]))
    if reverse:
        indices = reversed(indices)
    for index in indices:
        last = step(last, tf.nest.map_structure(lambda part: part[index], inputs))
        outputs.append(last)
    return tf.stack(outputs)

@tf.function(jit_compile=True)
def returns(rewards, values):
    return static_scan(lambda total, now: now[0] + 0.9 * now[1] * total, (rewards, values), values[-1], True)
""",
            ["indices"],
            None,
            why="it takes an episode",
        ),
        Bad(
            """
class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.cell = tf.keras.layers.GRUCell(4)

    def call(self, word, state):
        return self.cell(word, state)

decoder = Decoder()

@tf.function
def train_step(targets, state):
    loss = 0.0
    for t in range(1, targets.shape[1]):
        words, state = decoder(targets[:, t - 1], state)
        loss += tf.reduce_mean(tf.square(words - targets[:, t]))
    return loss
""",
            ["range(1, targets.shape[1])"],
            None,
            severity=Severity.WARNING,
            target="tpu",
            why="a step that its program compiles for a TPU",
        ),
        Bad(
            """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
options = parser.parse_args([])

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.steps = options.steps

    def call(self, x):
        for i in range(self.steps - 1, -1, -1):
            x = tf.tanh(x) * float(i)
        return x
""",
            ["range(self.steps - 1, -1, -1)"],
            Compiles(),
            help="tf.while_loop",
            why="as many as a setting says by default",
        ),
        Bad(
            STEPS.format(jit="jit_compile=True", numbers="range(40)"),
            ["range(40)"],
            Runs(),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="tf.range(40)",
            why="each iteration takes a step of training",
        ),
        Bad(
            STRATEGY,
            ["range(steps)"],
            Runs(),
            effect=Effect.RECOMPILES,
            help="tf.range(steps)",
            why="a strategy takes it",
            target="tpu",
        ),
        Bad(
            """
import numpy as np

@tf.function(jit_compile=True)
def f(x):
    for time in np.linspace(1.0, 0.0, 50):
        x = x - 0.1 * tf.tanh(x) * float(time)
    return x
""",
            ["np.linspace(1.0, 0.0, 50)"],
            Compiles(),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            why="through the numbers of an array",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = 0.0
    for row in range(4):
        for column in range(4):
            total += tf.tanh(x[row] * float(column))
    return total

f(tf.ones([4]))
""",
            Runs(1),
            why="sixteen copies",
        ),
        Good(STEPS.format(jit="jit_compile=True", numbers="range(8)"), Runs(), why="few iterations"),
        Good(STEPS.format(jit="jit_compile=True", numbers="tf.range(40)"), Runs(), why="a loop in the graph"),
        Good(
            """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=4)
options = parser.parse_args([])

@tf.function(jit_compile=True)
def f(x):
    for i in reversed(range(options.steps)):
        x = tf.tanh(x) * float(i)
    return x
""",
            Compiles(),
            why="few by default",
        ),
        Good(
            """
import os

class Stack(tf.keras.Model):
    def __init__(self, depth):
        super().__init__()
        self.parts = [tf.keras.layers.Dense(3) for _ in range(depth)]

    def call(self, x):
        for number, part in enumerate(self.parts):
            x = part(x) * float(number)
        return x

def main(depth: int):
    model = Stack(depth)
    model.compile("sgd", "mse", jit_compile=True)
    model.fit(tf.ones([64, 3]), tf.ones([64, 3]))

main(int(os.environ.get("DEPTH", "2")))
""",
            Runs(),
        ),
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
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, widths=(4, 4)):
        super().__init__()
        self.parts = [tf.keras.layers.Dense(width) for width in widths]

    def call(self, x):
        for part in self.parts:
            x = part(x)
        for i in range(len(self.parts)):
            x = self.parts[i](x)
        return x
""",
            None,
            why="layers, which differ",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, count):
        super().__init__()
        self.count = count
        self.cell = tf.keras.layers.GRUCell(3)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(self.count, shape[-1], 3))

    def call(self, x):
        state = x
        for i in range(self.count):
            mixed = tf.matmul(state, self.kernel[i])
            state = self.cell(mixed, [state])[0]
        return state
""",
            None,
            why="the weights of as many layers as somebody asks for",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    channels = []
    for i in range(x.shape[-1]):
        channels.append(x[..., i] * 2.0)
    return tf.stack(channels, axis=-1)
""",
            None,
            why="what a step computes does not reach the next one",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, UnrollLoop)
        alone = event.rounds == 0 or event.rounds >= self.unrolled_rounds
        together = event.rounds * event.inner
        if not alone and (together < self.unrolled_rounds or event.inner >= self.unrolled_rounds):
            return
        steps = f"{event.rounds} iterations" if event.rounds else "one iteration for each step of a sequence"
        if not alone:
            steps = f"{together} iterations, with those of the loops in it"
        counter = one_line(event.statement.target)
        numbers = one_line(event.statement.iter).startswith("range(")
        if event.context.converted and numbers:
            help = f"for {counter} in tf.{one_line(event.statement.iter)}:"
        else:
            help = f"use tf.while_loop or keras.ops.fori_loop over {counter}: AutoGraph does not convert this code"
        usual = f" by default, which {event.setting} decides," if event.setting else ","
        message = f"tracing unrolls this loop into {steps}{usual} and XLA compiles each one separately"
        jax = OnJax(Effect.RECOMPILES, f"a loop of {steps}", "tracing unrolls it")
        yield Draft(message, Effect.RECOMPILES, help, at_most=Severity.WARNING, jax=jax)
