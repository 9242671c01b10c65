"""Compiled code changes Python state, which Python does while tracing, not on each call.

## What it does
Reports what a traced function changes that is there after the call: a number that goes up, a list that gets longer, an
attribute that the next call reads, and a tensor that is kept for the next trace, also by `functools.lru_cache` or by
`build` of a Keras 3 layer.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. Python runs the function once for each trace. The calls that
follow run the compiled program, which changes no Python object, so that every call sees what tracing saw.

| code | eager execution, three calls | compiled, three calls |
| --- | --- | --- |
| `self.n += 1`, then `x * self.n` | times 1, 2 and 3 | times 1, 1 and 1; `self.n` is 1 |
| `d = x - self.last`, then `self.last = x` | the difference to the last call | `x` less the first `self.last` |
| `self.rows.append(t)` | three tensors | one, and using it raises "is out of scope and cannot be used here" |
| `x * self.scales.pop()` | three scales | the last one, always |

A tensor belongs to the graph that was traced. A second trace that meets it raises the same error: `if self.table is
None: self.table = tf.range(4.0)` works until the function is traced for another shape. **Keras traces each layer more
than once**, so there such a table fails in the first `fit`. Keras 3 also calls `build` while tracing, unless the layer
got an input before: in a functional model, or behind `keras.Input` in a Sequential one, the tensor is kept eagerly and
works; in a subclassed model, and in a Sequential one without `Input`, `fit` fails. On JAX both raise
UnexpectedTracerError.

## Example
    class Trainer:
        def __init__(self):
            self.steps = 0

        @tf.function(jit_compile=True)
        def step(self, x):
            self.steps += 1
            return x / self.steps

## Use instead
    class Trainer:
        def __init__(self):
            self.steps = tf.Variable(0.0)

        @tf.function(jit_compile=True)
        def step(self, x):
            self.steps.assign_add(1.0)
            return x / self.steps

Return what is to be collected, and append it where the function is called. Make tables in `__init__`, with NumPy, or
under `tf.init_scope()`, which leaves the graph (on TensorFlow).

## Not flagged
- Lists and objects that the same trace makes, or empties first.
- Attributes that are written and never read before: `self.scores = scores` for a look afterwards.
- Settings, such as `self.built = True`; an axis that is made positive; variables' `assign`; eager code; NumPy's arrays.
- State that changes in a TensorFlow loop or branch, which is XLA107.
- Tests, which count calls and traces, and look at what was passed.

A counter of traces is reported as well: the linter cannot know that you count these.

## Fix safety
Shown only: whether a variable or a returned value is right depends on who reads the state.

## References
- https://www.tensorflow.org/guide/function#executing_python_side_effects
- https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
"""

from collections.abc import Iterator
from dataclasses import replace

from xlalint.analysis.interpreter.events import Event, KeepBuilt, KeepState
from xlalint.linter.rule import Bad, Breaks, Diverges, Draft, DraftNote, Effect, Good, OnJax, Rule, Runs, Severity

from ._jax import LEAKED, fails

ONCE = "Python does this while tracing, not on each call"
OUT_OF_SCOPE = Breaks("is out of scope and cannot be used here")
RAISED = 'raises "is out of scope and cannot be used here"'
ASSIGNED = frozenset(("attribute", "cache", "item", "global", "nonlocal"))


class StateWhileTracing(Rule):
    code = "XLA607"
    name = "state-while-tracing"
    handles = (KeepBuilt, KeepState)
    traced = True
    bad = (
        Bad(
            """
class Trainer:
    def __init__(self):
        self.steps = 0

    def step(self, x):
        self.steps += 1
        return x / self.steps

trainer = Trainer()

@tf.function(jit_compile=True)
def f(x):
    return trainer.step(x)
""",
            ["self.steps += 1"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            help="self.steps = tf.Variable(",
        ),
        Bad(
            """
last = 0.0

@tf.function(jit_compile=True)
def f(x):
    global last
    difference = x - last
    last = x
    return difference

results = [float(tf.reduce_sum(f(tf.ones([2])))) for _ in range(3)]
print("all are 0 but the first:" if results[2] == 0.0 else "all are like the first:", results)
""",
            ["last = x"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.ERROR,
            why="it runs to its end: the compiled function returns 2 three times, eager execution 2, 0 and 0",
        ),
        Bad(
            """
class Smoothed:
    def __init__(self):
        self.mean = None

    def update(self, x):
        self.mean = x if self.mean is None else 0.9 * self.mean + 0.1 * x
        return self.mean

smoothed = Smoothed()

@tf.function(jit_compile=True)
def f(x):
    return smoothed.update(tf.reduce_mean(x))

f(tf.ones([2]))
f(tf.ones([3]))
""",
            ["self.mean = x if self.mean is None else 0.9 * self.mean + 0.1 * x"],
            OUT_OF_SCOPE,
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
losses = []

@tf.function(jit_compile=True)
def f(x):
    loss = tf.reduce_sum(x)
    losses.append(loss)
    return loss

for _ in range(3):
    f(tf.ones([2]))
print(tf.stack(losses).numpy())
""",
            ["losses.append(loss)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="append it where the function is called",
        ),
        Bad(
            """
class Rotary:
    def __init__(self):
        self.tables = {}

    def table(self, length):
        if length not in self.tables:
            self.tables[length] = tf.range(tf.cast(length, tf.float32))
        return self.tables[length]

rotary = Rotary()

@tf.function(jit_compile=True)
def f(x):
    return x * rotary.table(4)

f(tf.ones([2, 4]))
f(tf.ones([3, 4]))
""",
            ["self.tables[length] = tf.range(tf.cast(length, tf.float32))"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="tf.init_scope()",
        ),
        Bad(
            """
import functools

@functools.lru_cache(maxsize=None)
def positions(length):
    return tf.range(float(length))

@tf.function(jit_compile=True)
def f(x):
    return x * positions(4)

f(tf.ones([2, 4]))
f(tf.ones([3, 4]))
""",
            ["positions(4)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            severity=Severity.WARNING,
        ),
        Bad(
            """
scales = [float(scale) for scale in range(100)]

@tf.function(jit_compile=True)
def f(x):
    return x * scales.pop()
""",
            ["scales.pop()"],
            Diverges(),
            effect=Effect.DIVERGES,
        ),
        Bad(
            """
import keras

class Positions(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = None

    def call(self, x):
        if self.table is None:
            self.table = keras.ops.arange(4.0)
        return x * self.table

model = keras.Sequential([keras.Input((4,)), Positions(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            ["self.table = keras.ops.arange(4.0)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            severity=Severity.ERROR,
        ),
        Bad(
            """
import keras

class Positions(keras.layers.Layer):
    def build(self, shape):
        self.table = tf.range(float(shape[-1]))

    def call(self, x):
        return x * self.table

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.positions = Positions()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(self.positions(x))

model = Net()
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            ["self.table = tf.range(float(shape[-1]))"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            help="in `__init__`, with NumPy",
        ),
    )
    good = (
        Good(
            """
class Trainer:
    def __init__(self):
        self.steps = tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def step(self, x):
        self.steps.assign_add(1.0)
        return x / self.steps

trainer = Trainer()
results = [float(trainer.step(tf.ones([]))) for _ in range(3)]
assert results[2] < 0.5
""",
            Runs(),
            why="a variable is state of the compiled program",
        ),
        Good(
            """
class Collector:
    def __init__(self):
        self.rows = []

    def run(self, x):
        self.rows = []
        for scale in (1.0, 2.0):
            self.add(x * scale)
        return tf.stack(self.rows)

    def add(self, row):
        self.rows.append(row)

collector = Collector()

@tf.function(jit_compile=True)
def f(x):
    return collector.run(x)
""",
            why="each trace empties the list before",
        ),
        Good(
            """
class Tracker:
    def __init__(self):
        self.rows = []
        self.count = 0

    def add(self, row):
        self.rows.append(row)
        self.count += 1

@tf.function(jit_compile=True)
def f(x):
    tracker = Tracker()
    for scale in (1.0, 2.0):
        tracker.add(x * scale)
    return tf.stack(tracker.rows) / tracker.count
""",
            why="each trace makes the object",
        ),
        Good(
            """
import keras

class Attention(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scores = None

    def call(self, x):
        self.scores = keras.ops.softmax(x)
        return x * self.scores

model = keras.Sequential([keras.Input((4,)), Attention(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            Runs(),
            why="written before it is read",
        ),
        Good(
            """
import keras

class Positions(keras.layers.Layer):
    def build(self, shape):
        self.table = tf.range(float(shape[-1]))

    def call(self, x):
        return x * self.table

class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.positions = Positions()

    def build(self, shape):
        self.positions.build(shape)

    def call(self, x):
        return self.positions(x)

model = keras.Sequential([keras.Input((4,)), Block(), Positions(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            Runs(),
            why="`build` is called before the model is traced",
        ),
        Good(
            """
import numpy as np
import keras

class Positions(keras.layers.Layer):
    def build(self, shape):
        self.table = np.arange(float(shape[-1]), dtype="float32")
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.table * self.scale

model = keras.Sequential([Positions(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            Runs(),
            why="an array of NumPy belongs to no graph",
        ),
        Good(
            """
import keras

class Positions(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = None

    def call(self, x):
        if self.table is None:
            with tf.init_scope():
                self.table = tf.range(4.0)
        return x * self.table

model = keras.Sequential([Positions(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.ones([4, 4]), tf.zeros([4, 1]), verbose=0)
""",
            Runs(),
            why="`tf.init_scope()` leaves the graph",
        ),
        Good(
            """
tables = {}

@tf.function(jit_compile=True)
def f(x):
    graph = tf.compat.v1.get_default_graph()
    if graph not in tables:
        tables[graph] = tf.range(4.0)
    return x * tables[graph]

f(tf.ones([2, 4]))
f(tf.ones([3, 4]))
""",
            Runs(),
            why="each graph has its own tensor",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case KeepBuilt(targets=targets, traced=traced, call=call, known=known):
                names = ", ".join(f"`{target}`" for target in dict.fromkeys(targets))
                what = f"{names}: `build` keeps a tensor, and Keras 3 calls it while it traces `{traced}`"
                help = "make it in `__init__`, with NumPy, or under `with tf.init_scope():`"
                notes = (DraftNote(call, "the layer is called here, and nothing has built it"),)
                jax = fails(what, "`fit` raises UnexpectedTracerError")
                draft = Draft(f"{what}; `fit` {RAISED}", Effect.FAILS, help, notes=notes, jax=jax)
                yield draft if known else replace(draft, at_most=Severity.WARNING, keras_3=True)
            case KeepState(form="number", target=target):
                what = f"`{target}` counts traces, not calls"
                help = f"{target} = tf.Variable(0)  # once, outside\n{target}.assign_add(1)  # in the function"
                jax = OnJax(Effect.DIVERGES, what, "Python does this while tracing")
                yield Draft(f"{what}: {ONCE}", Effect.DIVERGES, help, at_most=Severity.WARNING, jax=jax)
            case KeepState(form=form, target=target, tensor=True, asked=asked) if form in ASSIGNED:
                yield from _kept(event, target, asked=asked)
            case KeepState(form=form, target=target, tensor=True):
                what = f"{form} on `{target}` keeps a tensor of the graph"
                help = "return the tensor, and append it where the function is called"
                message = f"{what}: {ONCE}, and using the tensor outside fails"
                yield Draft(message, Effect.FAILS, help, at_most=Severity.WARNING, jax=fails(what, LEAKED))
            case KeepState(form=form, target=target):
                what = f"{form} on `{target}`"
                help = f"take it from {target} where the function is called, and pass it as a tensor"
                jax = OnJax(Effect.DIVERGES, what, "Python does this while tracing")
                yield Draft(f"{what}: {ONCE}", Effect.DIVERGES, help, at_most=Severity.WARNING, jax=jax)


def _kept(event: KeepState, target: str, *, asked: bool) -> Iterator[Draft]:
    by_keras = event.context.keras is not None
    at_most = Severity.WARNING if asked and not by_keras else Severity.ERROR
    kept = f"`{target}` keeps" if event.form != "cache" else f"Python caches what `{target}(..)` returns,"
    what = f"{kept} a tensor of the graph that is traced"
    jax = fails(what, LEAKED)
    if by_keras:
        message, effect = f"{what}, and Keras traces a layer more than once: `fit` {RAISED}", Effect.FAILS
    elif asked:
        message, effect = f"{what}: the next trace, for another shape, {RAISED}", Effect.FAILS
    else:
        message = f"every call reads what `{target}` was while tracing, and a second trace {RAISED}"
        effect = Effect.DIVERGES
    if asked:
        help = f"make {target} before, with NumPy, or under `with tf.init_scope():`"
    else:
        help = "keep it in a variable (`.assign(..)`), or return it and pass it to the next call"
    yield Draft(message, effect, help, at_most=at_most, jax=jax)
