"""A compiled function gets a Python number that changes, so XLA recompiles for each value.

## What it does
Reports Python numbers that change from call to call among the arguments of a function compiled with `jit_compile=True`,
also in a dict, a list or a tuple:

- a loop counter, also of a comprehension or of `map(step, range(n))`, and what is computed from it
- the numbers of a list that a loop iterates over, and fields of records that a loop iterates over
- the length of a batch, or of a list that grows
- a number read from a tensor, or drawn at random
- an attribute that a method increments

If the object of a method call is unknown and only one class in the file has a method of that name, xlalint assumes that
class.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: `step(x, i)` with four Python ints or floats is traced and compiled four times,
even if `i` is unused, because a Python number is part of the trace. The same numbers as tensors (`tf.constant(i)`) or
NumPy scalars (`np.float32(i)`, `t.numpy()`) compile once. With an `input_signature`, which converts them to tensors,
they compile once, too.

Measured with JAX 0.10.2: `jax.jit` traces Python numbers, so that four of them compile once. It compiles once for each
value of an argument that `static_argnums` or `static_argnames` name, even if the function does not use it.

## Example
    for i in range(1000):
        train_step(batch, i)

## Use instead
    for i in range(1000):
        train_step(batch, tf.constant(i))

## Not flagged
The same constant in each call, also as `min(i, 0)` of a counter, flags and text, which have few values, functions with
an `input_signature`, and what `jax.jit` traces.

## Fix safety
Shown only: a tensor cannot replace a Python number that the function uses as a size, in `range`, or in an `if`.

## References
- https://www.tensorflow.org/guide/function#controlling_retracing
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, OnJax, Rule, Runs, Severity

from ._feeds import FEW
from ._parts import numbers_in
from ._programs import LOGGED_STEP, NUMBERED_STEP
from ._python_numbers import KINDS, said_of

ONCE_COMPILED = ", once this step is compiled"
NOT_STATIC = "leave it out of the static arguments, where no shape or `if` needs it"
STEP = """
@tf.function(jit_compile=True)
def step(x, i):
    return x * tf.cast(i, tf.float32)
"""
DOUBLE = """
@tf.function(jit_compile=True)
def double(i):
    return tf.cast(i, tf.float32) * 2.0
"""


class PythonArgument(Rule):
    code = "XLA306"
    name = "python-argument"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"{STEP}\nfor i in range(4):\n    step(tf.ones([3]), i)\n",
            ["i"],
            Runs(4),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="tf.constant(i)",
        ),
        Bad(
            f"""{STEP}
def train(dataset):
    for number, x in enumerate(dataset):
        step(x, i=0.1 * number + 1)

train(tf.data.Dataset.from_tensor_slices(tf.ones([4, 3])))
""",
            ["0.1 * number + 1"],
            Runs(4),
            help="tf.constant(0.1 * number + 1)",
        ),
        Bad(
            f"""{STEP}
number = 0
while number < 4:
    number += 1
    step(tf.ones([3]), number)
""",
            ["number"],
            Runs(4),
        ),
        Bad(
            f"""{STEP}
rate = tf.Variable(1.0)
for _ in range(4):
    rate.assign(rate * 0.5)
    step(tf.ones([3]), float(rate))
""",
            ["float(rate)"],
            Runs(4),
            help="rate",
        ),
        Bad(
            NUMBERED_STEP,
            ["number"],
            Runs(),
            why="a step that runs line by line, which a target has compiled",
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            target="tpu",
        ),
        Bad(
            f"{STEP}\ntried = {{i: step(tf.ones([3]), i) for i in range(4)}}\n",
            ["i"],
            Runs(4),
        ),
        Bad(
            f"{DOUBLE}\nlist(map(double, range(4)))\n",
            ["map(double, range(4))"],
            Runs(4),
            help="tf.range",
        ),
        Bad(
            f"{STEP}\nlist(map(lambda i: step(tf.ones([3]), i), range(4)))\n",
            ["i"],
            Runs(4),
        ),
        Bad(
            f"""{STEP}
for i in range(2):
    step(tf.ones([3]), i)
""",
            ["i"],
            Runs(2),
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def best(x, k):
    return tf.math.top_k(x, k).values

def ladder(rows):
    seen = []
    for row in rows:
        seen.append(best(row, len(seen) + 1))
    return seen

ladder([tf.ones([8])] * 4)
""",
            ["len(seen) + 1"],
            Runs(4),
            help="tf.constant(len(seen) + 1)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def best(x, k):
    return tf.math.top_k(x, k).values

def tried(x, sizes=(1, 2, 3)):
    return [best(x, k) for k in sizes]

tried(tf.ones([8]))
""",
            ["k"],
            Runs(3),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{STEP}
for name, rate in {{"low": 0.1, "middle": 0.2, "high": 0.3}}.items():
    step(tf.ones([3]), rate)
""",
            ["rate"],
            Runs(3),
        ),
        Bad(
            f"""
import random
{STEP}
random.seed(1)
for _ in range(4):
    step(tf.ones([3]), random.random())
""",
            ["random.random()"],
            Runs(4),
        ),
        Bad(
            """
class Trainer:
    def __init__(self):
        self.rate = 1.0

    @tf.function(jit_compile=True)
    def update(self, x, rate):
        return x * rate

    def train(self, x):
        self.rate = max(self.rate * 0.5, 0.01)
        return self.update(x, self.rate)

trainer = Trainer()
for _ in range(4):
    trainer.train(tf.ones([3]))
""",
            ["self.rate"],
            Runs(4),
        ),
        Bad(
            """
class Agent:
    @tf.function(jit_compile=True)
    def noisy(self, x, scale):
        return x + scale * tf.random.normal(tf.shape(x))

def explore(agent, x):
    for t in range(4):
        agent.noisy(x, 1.0 / (t + 1))

explore(Agent(), tf.ones([3]))
""",
            ["1.0 / (t + 1)"],
            Runs(4),
        ),
        Bad(
            """
from dataclasses import dataclass

@tf.function(jit_compile=True)
def best(x, k):
    return tf.math.top_k(x, k).values

@dataclass
class Job:
    row: tf.Tensor
    size: int

def served(jobs: list[Job]):
    for job in jobs:
        best(job.row, job.size)

served([Job(tf.ones([8]), size) for size in range(1, 5)])
""",
            ["job.size"],
            Runs(4),
        ),
        Bad(
            """
class Trainer:
    @tf.function(jit_compile=True)
    def step(self, x, i, scale=1.0):
        return x * tf.cast(i, tf.float32) * scale

    def run(self, *args, **kwargs):
        return self.step(*args, **kwargs)

trainer = Trainer()
for i in range(3):
    trainer.run(tf.ones([3]), i, scale=1.0)
for i in range(3):
    trainer.run(tf.ones([3]), tf.constant(1), scale=0.1 * i + 2.0)
""",
            ["self.step(*args, **kwargs)", "args"],
            Runs(6),
            help="tf.constant(..), where `",
        ),
        Bad(
            """
import json

@tf.function(jit_compile=True)
def update(a, b, rate):
    return a * b * rate

def train(columns, steps):
    for number in range(steps):
        update(*map(tf.constant, columns), 1.0 / (number + 1))

train(json.loads("[[1.0, 2.0], [3.0, 4.0]]"), 4)
""",
            ["1.0 / (number + 1)"],
            Runs(4),
            help="tf.constant(1.0 / (number + 1))",
            why="behind what is unpacked, of a length that is not known",
        ),
        Bad(
            f"""
import argparse
{STEP}
parser = argparse.ArgumentParser()
parser.add_argument("--first", type=float)
for name, value in {{"last": 4.0, "rate": 0.5}}.items():
    parser.add_argument(f"--{{name}}", type=type(value), default=value)
options = parser.parse_args(["--first", "1.0"])
for i in range(4):
    step(tf.ones([3]), options.first + (options.last - options.first) * i)
""",
            ["options.first + (options.last - options.first) * i"],
            Runs(4),
            why="numbers of the command line, also under names that a loop has",
        ),
    )
    good = (
        Good(
            LOGGED_STEP,
            Runs(),
            why="the number is for the log around the step",
            target="tpu",
        ),
        Good(
            """
import json
import numpy as np

@tf.function(jit_compile=True)
def update(a, b, rate):
    return a * b * rate

def train(columns, steps):
    for number in range(steps):
        update(*map(tf.constant, columns), tf.constant(1.0 / (number + 1)))
        update(*map(tf.constant, columns), np.float32(number))

train(json.loads("[[1.0, 2.0], [3.0, 4.0]]"), 4)
""",
            Runs(1),
        ),
        Good(
            f"""{DOUBLE}
list(map(double, tf.range(4)))
numbers = list(map(float, range(4)))
for _ in range(4):
    double(numbers[0])
""",
            Runs(2),
            why="tensors, and the same number each time",
        ),
        Good(
            f"""{STEP}
names = []
for number in range(4):
    names.append(number)
for _ in range(4):
    step(tf.ones([3]), len(names))
""",
            Runs(1),
            why="the list has its length by then",
        ),
        Good(
            f"""{STEP}
last = 0
for number in range(4):
    last = number
step(tf.ones([3]), last)
""",
            Runs(1),
            why="called once, behind the loop",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def best(x, k):
    return tf.math.top_k(x, k).values

class Options:
    def __init__(self):
        self.size = 3

def tried(options, rows):
    for row in rows:
        best(row, options.size)

tried(Options(), [tf.ones([8])] * 4)
""",
            Runs(1),
        ),
        Good(f"{STEP}\nfor i in range(4):\n    step(tf.ones([3]), tf.constant(i))\n", Runs(1)),
        Good(f"import numpy as np\n{STEP}\nfor i in range(4):\n    step(tf.ones([3]), np.float32(i))\n", Runs(1)),
        Good(f"{STEP}\nfor i in range(4):\n    step(tf.ones([3]), 2)\n", Runs(1)),
        Good(
            f"""
import argparse
{STEP}
parser = argparse.ArgumentParser()
for name in ("rate", "start"):
    parser.add_argument(f"--{{name}}", type=float, default=0.5)
options = parser.parse_args([])
for i in range(4):
    step(tf.ones([3]), options.rate * options.start)
    step(tf.ones([3]), tf.constant(i * options.rate))
""",
            Runs(2),
            why="the same number each time, and tensors",
        ),
        Good(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)])
def step(x, i):
    return x * tf.cast(i, tf.float32)

for i in range(4):
    step(tf.ones([3]), i)
""",
            Runs(1),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(x, training):
    return x * 2.0 if training else x

for i in range(4):
    step(tf.ones([3]), i % 2 == 0)
""",
            Runs(2),
            why="a flag has two values",
        ),
        Good(
            """
def step(x, i):
    return x * i

@tf.function(jit_compile=True)
def f(x):
    for i in range(4):
        x = step(x, i)
    return x
""",
            why="inside a compiled function it is a constant of the one trace",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def step(x, rate):
    return x * rate

def descend(x):
    rate, loss = np.float32(1.0), step(x, np.float32(1.0))
    for i in range(4):
        rate = rate * np.float32(0.5)
        loss = step(x, loss.numpy().mean() * rate)
        step(x, rate)

descend(tf.ones([3]))
""",
            Runs(1),
            why="`tf.function` takes NumPy's scalars for tensors",
        ),
        Good(
            """
def step(x, i):
    return x * i

for i in range(4):
    step(tf.ones([3]), i)
""",
            Runs(0),
            why="nothing is compiled",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        given = zip(event.values, event.nodes, strict=True) if event.traced else ()
        parts = ((held, *part) for held, written in given for part in numbers_in(held, written))
        for whole, value, node in parts:
            for variation in (each for each in value.varies if each.kind in KINDS):
                few = variation.shapes is not None and variation.shapes <= FEW
                times = f"{variation.shapes} times" if variation.shapes else "once for each value"
                what, instead = said_of(event, node, KINDS[variation.kind])
                if whole is not value and node in event.nodes:
                    what, instead = f"`{brief(node)}` holds {KINDS[variation.kind]}", "put tensors into it"
                yield Draft(
                    f"{what} and part of the trace{ONCE_COMPILED * event.context.eager}: XLA compiles {times}",
                    Effect.RECOMPILES,
                    NOT_STATIC if event.context.is_for_jax else instead,
                    location=event.location.at(node),
                    notes=(DraftNote(variation.location, f"this makes it {KINDS[variation.kind]}"),),
                    at_most=Severity.INFO if few else Severity.WARNING,
                    jax=OnJax(Effect.RECOMPILES, f"{what} and a static argument", f"`jax.jit` compiles {times}"),
                )
                break
