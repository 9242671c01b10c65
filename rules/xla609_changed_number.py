"""Compiled code reads a Python number that the host changes; it keeps the value that it had while tracing.

## What it does
Reports where traced code reads a Python number or flag of an object, of a module or of the function around it, and code
that runs on the host changes that number from call to call:

- `self.epsilon *= 0.99`, `self.step += 1`, or `self.average = 0.99 * self.average + ..` in a method that is not traced
- an attribute that a loop sets to its counter, to a number read from a tensor, or to one drawn at random; also by a
  method of the object: `agent.set_epsilon(1 / step)`, or by a callback of Keras: `self.model.beta = epoch / 10`
- a flag that a loop sets to `True` and to `False`, or in some of its iterations
- a name that a loop assigns again below the function that reads it, or a name of the module that a function which the
  loop or Keras calls declares `global` and changes
- a flag that a comparison of such numbers decides: `self.warm = epoch < 5`

## What XLA does
Measured with TensorFlow 2.21, Keras 3.15 and JAX 0.10.2 on a CPU. A Python number that is no argument is a constant of
the trace. Changing it neither changes the compiled program nor has it traced again.

| code, three calls | eager execution | compiled |
| --- | --- | --- |
| `x * self.epsilon`, halved after each call | times 1, 0.5 and 0.25 | times 1, 1 and 1, one compilation |
| `x * rate` of the module, halved after each call | times 1, 0.5 and 0.25 | times 1, 1 and 1 |
| `x * epoch` in `for epoch in range(1, 4)` | times 1, 2 and 3 | times 1, 1 and 1 |
| `model.beta` in `call`, which a callback changes, under `fit` | losses 2, 4 and 6 | losses 2, 2 and 2 |
| the same two in `jax.jit`, and with Keras on JAX | | times 1, 1 and 1; losses 2, 2 and 2 |

A trace for another shape takes the value of that moment, so that the results depend on which shapes come when.
`optimizer.learning_rate = ..` works: Keras keeps it in a variable.

## Example
    class Agent:
        def __init__(self):
            self.epsilon = 1.0

        @tf.function(jit_compile=True)
        def act(self, x):
            return x + self.epsilon * tf.random.normal(x.shape)

        def run(self, x):
            for _ in range(100):
                self.act(x)
                self.epsilon *= 0.99

## Use instead
    class Agent:
        def __init__(self):
            self.epsilon = tf.Variable(1.0, trainable=False)

        @tf.function(jit_compile=True)
        def act(self, x):
            return x + self.epsilon * tf.random.normal(x.shape)

        def run(self, x):
            for _ in range(100):
                self.act(x)
                self.epsilon.assign(self.epsilon * 0.99)

Or pass it as a tensor: `self.act(x, tf.constant(self.epsilon))`. A number that decides a shape or an `if` of Python has
to be an argument, and costs one compilation for each value.

## Not flagged
- What constructors, `build` and the methods that only a constructor calls set.
- New objects that the loop makes, or goes through, to set each of them up.
- Numbers that traced code changes itself, which is XLA607.
- Text, variables and tensors; methods that set what they are passed and that no loop calls.
- New functions that the loop makes, which read the number of their iteration (XLA307).

## Fix safety
Shown only: whether it has to be a variable or an argument depends on what the number decides.

## References
- https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import Event, ReadChanged
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, OnJax, Rule, Runs, Severity

HELP = "keep it in a `tf.Variable(.., trainable=False)` and change it by `.assign(..)`, or pass it as a tensor"


class ChangedNumber(Rule):
    code = "XLA609"
    name = "changed-number"
    handles = (ReadChanged,)
    traced = True
    bad = (
        Bad(
            """
class Agent:
    def __init__(self):
        self.epsilon = 1.0

    @tf.function(jit_compile=True)
    def act(self, x):
        return x * self.epsilon

    def run(self, x):
        results = []
        for _ in range(3):
            results.append(float(tf.reduce_sum(self.act(x))))
            self.epsilon *= 0.5
        return results

print("all are 1:" if Agent().run(tf.ones([1])) == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["self.epsilon"],
            Runs(1),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="tf.Variable(.., trainable=False)",
        ),
        Bad(
            """
class Trainer:
    def __init__(self):
        self.epoch = 0

    @tf.function(jit_compile=True)
    def step(self, x):
        return x + self.epoch

    def fit(self, x):
        results = []
        for epoch in range(3):
            self.epoch = epoch
            results.append(float(tf.reduce_sum(self.step(x))))
        return results

print("all are 1:" if Trainer().fit(tf.ones([1])) == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["self.epoch"],
            Runs(1),
        ),
        Bad(
            """
import numpy as np

class Penalty:
    def __init__(self):
        self.mean = 0

    @tf.function(jit_compile=True)
    def step(self, x):
        return x - self.mean

    def train(self, x):
        results = []
        for _ in range(3):
            results.append(float(tf.reduce_sum(self.step(x))))
            self.mean = 0.9 * self.mean + 0.1 * np.mean(results)
        return results

print("all are 1:" if Penalty().train(tf.ones([1])) == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["self.mean"],
            Runs(1),
        ),
        Bad(
            """
class Agent:
    def __init__(self):
        self.epsilon = 1.0

    @tf.function(jit_compile=True)
    def act(self, x):
        return x * self.epsilon

    def set_epsilon(self, epsilon):
        self.epsilon = epsilon

agent = Agent()
results = []
for step in range(3):
    agent.set_epsilon(1 / (step + 1))
    results.append(float(tf.reduce_sum(agent.act(tf.ones([1])))))
print("all are 1:" if results == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["self.epsilon"],
            Runs(1),
        ),
        Bad(
            """
class Game:
    def __init__(self):
        self.training = True

    @tf.function(jit_compile=True)
    def play(self, x):
        return x * 2.0 if self.training else x

    def run(self, x):
        results = []
        for _ in range(2):
            self.training = True
            results.append(float(tf.reduce_sum(self.play(x))))
            self.training = False
            results.append(float(tf.reduce_sum(self.play(x))))
        return results

print("all are 2:" if Game().run(tf.ones([1])) == [2.0, 2.0, 2.0, 2.0] else 1 / 0)
""",
            ["self.training"],
            Runs(1),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(x):
    return x * rate

rate = 1.0
results = []
for _ in range(3):
    results.append(float(tf.reduce_sum(step(tf.ones([1])))))
    rate = rate * 0.5
print("all are 1:" if results == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["rate"],
            Runs(1),
        ),
        Bad(
            """
def main(x):
    @tf.function(jit_compile=True)
    def step(x):
        return x * epoch

    results = []
    for epoch in range(1, 4):
        results.append(float(tf.reduce_sum(step(x))))
    return results

print("all are 1:" if main(tf.ones([1])) == [1.0, 1.0, 1.0] else 1 / 0)
""",
            ["epoch"],
            Runs(1),
        ),
    )
    good = (
        Good(
            """
class Agent:
    def __init__(self):
        self.epsilon = tf.Variable(1.0, trainable=False)

    @tf.function(jit_compile=True)
    def act(self, x):
        return x * self.epsilon

    def run(self, x):
        results = []
        for _ in range(3):
            results.append(float(tf.reduce_sum(self.act(x))))
            self.epsilon.assign(self.epsilon * 0.5)
        return results

print("1, 0.5, 0.25:" if Agent().run(tf.ones([1])) == [1.0, 0.5, 0.25] else 1 / 0)
""",
            Runs(1),
            why="the compiled program reads the variable",
        ),
        Good(
            """
class Trainer:
    def __init__(self):
        self.steps = 0

    @tf.function(jit_compile=True)
    def step(self, x):
        return x * 2.0

    def fit(self, x):
        for _ in range(3):
            self.step(x)
            self.steps += 1
        return self.steps

Trainer().fit(tf.ones([1]))
""",
            Runs(1),
            why="compiled code does not read it",
        ),
        Good(
            """
class Block:
    def __init__(self):
        self.depth = 0

    def call(self, x):
        return x + self.depth

class Net:
    def __init__(self):
        self.blocks = [Block(), Block(), Block()]
        for depth, block in enumerate(self.blocks):
            block.depth = depth

    @tf.function(jit_compile=True)
    def step(self, x):
        for block in self.blocks:
            x = block.call(x)
        return x

net = Net()
print("0 + 1 + 2:" if float(tf.reduce_sum(net.step(tf.zeros([1])))) == 3.0 else 1 / 0)
""",
            Runs(1),
            why="a loop sets up one object after the other",
        ),
        Good(
            """
class Agent:
    def __init__(self):
        self.epsilon = 1.0

    @tf.function(jit_compile=True)
    def act(self, x):
        return x * self.epsilon

results = []
for step in range(3):
    agent = Agent()
    agent.epsilon = 1 / 2**step
    results.append(float(tf.reduce_sum(agent.act(tf.ones([1])))))
print("1, 0.5, 0.25:" if results == [1.0, 0.5, 0.25] else 1 / 0)
""",
            Runs(3),
            why="each object has a trace of its own",
        ),
        Good(
            """
class Layers:
    def __init__(self):
        self.last = 0
        self.find(["dense", "leaf"])

    def find(self, names):
        for position, name in enumerate(names):
            if name == "leaf":
                self.last = position

    @tf.function(jit_compile=True)
    def call(self, x):
        return x + self.last

layers = Layers()
layers.call(tf.ones([1]))
""",
            Runs(1),
            why="the constructor alone sets it",
        ),
        Good(
            """
class Scaled(tf.keras.layers.Layer):
    def build(self, shape):
        self.find_scale(shape)

    def find_scale(self, shape):
        self.scale = 2.0 / shape[-1]
        self.scale *= 0.5

    def call(self, x):
        return x * self.scale

layer = Scaled()
layer.build((None, 3))

@tf.function(jit_compile=True)
def f(x):
    return layer(x)

f(tf.ones([1, 3]))
""",
            Runs(1),
            why="the layer sets it up in two statements",
        ),
        Good(
            """
class Agent:
    def __init__(self):
        self.epsilon = 1.0

    @tf.function(jit_compile=True)
    def act(self, x, epsilon):
        return x * epsilon

    def run(self, x):
        results = []
        for _ in range(3):
            results.append(float(tf.reduce_sum(self.act(x, tf.constant(self.epsilon)))))
            self.epsilon *= 0.5
        return results

print("1, 0.5, 0.25:" if Agent().run(tf.ones([1])) == [1.0, 0.5, 0.25] else 1 / 0)
""",
            Runs(1),
            why="the host reads it, and passes a tensor",
        ),
        Good(
            """
results = []
for rate in (1.0, 0.5, 0.25):
    @tf.function(jit_compile=True)
    def step(x):
        return x * rate

    results.append(float(tf.reduce_sum(step(tf.ones([1])))))
print("1, 0.5, 0.25:" if results == [1.0, 0.5, 0.25] else 1 / 0)
""",
            Runs(3),
            why="each iteration makes a function of its own, which is XLA307",
        ),
        Good(
            """
for size in range(3):
    last = size * 2

@tf.function(jit_compile=True)
def step(x):
    return x * last

step(tf.ones([1]))
step(tf.zeros([1]))
""",
            Runs(1),
            why="the loop is over when the function is made",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.zeros_like(x)
    for exponent in range(3):
        total += tf.map_fn(lambda row: row**exponent, x)
    return total
""",
            why="the loop is unrolled in the trace",
        ),
        Good(
            """
def scaled(scale):
    return tf.function(lambda x: x * scale, jit_compile=True)
for scale in (1.0, 2.0):
    scaled(scale)(tf.ones([1]))
""",
            Runs(2),
            why="each call of the factory makes a function of its own",
        ),
        Good(
            """
class Model:
    def __init__(self):
        self.scale = 1.0

    def set_scale(self, scale):
        self.scale = scale

    @tf.function(jit_compile=True)
    def call(self, x):
        return x * self.scale

model = Model()
model.set_scale(2.0)
for _ in range(3):
    model.call(tf.ones([1]))
""",
            Runs(1),
            why="set once, before the first call",
        ),
        Good(
            """
class Trainer:
    def __init__(self):
        self.epoch = 0

    def step(self, x):
        return x + self.epoch

    def fit(self, x):
        for _ in range(3):
            self.step(x)
            self.epoch += 1

Trainer().fit(tf.ones([1]))
""",
            Runs(0),
            why="nothing is compiled",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, ReadChanged)
        what = f"the host changes `{brief(event.location.node)}` between the calls"
        keeps = "compiled code keeps what it was while tracing"
        notes = (DraftNote(event.changed, "this changes it"),)
        jax = OnJax(Effect.DIVERGES, what, keeps)
        yield Draft(f"{what}: {keeps}", Effect.DIVERGES, HELP, notes=notes, at_most=Severity.WARNING, jax=jax)
