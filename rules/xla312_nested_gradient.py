"""A `tf.function` inside compiled code: XLA recompiles its gradient for every new value.

## What it does
Reports a `tf.function` that compiled code calls and takes a gradient through, if the function does something whose
gradient needs a constant: `tf.pad`, `tf.tile`, `tf.concat`, `tf.transpose`, `tf.reduce_max`, `tf.cumsum`, `tf.reverse`,
`tf.split`, `tf.gather`, an LSTM, and more (228 callables, in `xlalint/facts/nested.json`). This includes a Keras layer
or model whose `call` is a `tf.function`: Keras takes the gradient when it trains. Where compiled code calls the
function and no gradient is seen, the effect is `named`: who takes one meets it.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. TensorFlow makes two functions of the inner one, the second for
its gradient, and passes what that needs from the first to the second: also the paddings, the sizes and the axes. XLA
needs these as constants, and takes all that the first function reads for a constant to compute them: its arguments, and
the weights that it reads. Each new value of one of them compiles the whole program again, without a warning. `fit` of a
Keras model with `jit_compile=True` and such a layer compiles every step.

- It makes no difference whether the inner function has `jit_compile=True`, how deep it is, or which of its arguments
  changes.
- Without the inner `tf.function`, there is one compilation. This also holds if the inner function takes the gradient
  itself, if the gradient is taken outside compiled code, and without a gradient. So for a layer with
  `@tf.function(jit_compile=True)` in `fit` without `jit_compile`, and for autoclustering (`set_jit`), which compiles
  only parts of the step: two or three programs, once, with Keras 2 and 3.
- The TPU compiler (2.20) compiles it once, by shapes.
- Gradients that need no constants compile once: element-wise operations, `tf.matmul`, `tf.reshape`, `tf.reduce_sum`,
  convolutions, and a gather from a variable if its sparse gradient stays sparse. So do the functions of
  `tf.custom_gradient`, `tf.recompute_grad`, `tf.cond` and `tf.while_loop`.

## Example
    @tf.function
    def padded(x):
        return tf.pad(x * x, [[0, 1]])

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(padded(x))
        return tape.gradient(loss, x)

## Use instead
    def padded(x):
        return tf.pad(x * x, [[0, 1]])

The compiled function around it traces it as well.

## Not flagged
Functions whose gradients need no constants, functions beside the gradient that the code takes, and functions that no
compiled code calls. Neither the layers of a program in which XLA compiles no step of training as a whole: none of
Keras's without `jit_compile` (Keras 3 decides by itself), one that only predicts.

## Fix safety
`unsafe`: code that calls the function by itself runs it eagerly then, which is slower, runs Python side effects at each
call, and does not convert Python numbers to the tensors of an `input_signature`. There is no fix if only the inner
decorator has AutoGraph convert its control flow, and none for `g = tf.function(f)`.

## References
- https://www.tensorflow.org/guide/function
- https://www.tensorflow.org/xla/known_issues
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor, leaves
from xlalint.analysis.domain.values import Dependence, Structure, Tensor, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import CallPath, ContextKind
from xlalint.analysis.interpreter.events import ApiCall, BranchOn, Event, IterateOver, LoopWhile
from xlalint.facts import nested, tables
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewrite, remove
from xlalint.linter.rule import (
    Bad,
    Compiles,
    Draft,
    DraftNote,
    Effect,
    Good,
    Recompiles,
    Rule,
    Runs,
    Safety,
    Severity,
    TpuOutcome,
)
from xlalint.syntax import nodes as cst

from ._gradients import GRADIENTS, LoopsUnderGradients, note_of
from ._kernels import case_of, event_name, fact_of
from ._nesting import apart, is_converted_around, steps

HELP = "call the Python function itself: what is compiled around it traces it, too"
NAMES = frozenset(event_name(fact) for name in nested.calls() if (fact := tables.api(name)) is not None)


class NestedGradient(Rule):
    code = "XLA312"
    name = "nested-gradient"
    handles = (ApiCall, BranchOn, LoopWhile, IterateOver)
    apis = NAMES | GRADIENTS
    bad = (
        Bad(
            """
@tf.function
def padded(x):
    return tf.pad(x * x, [[0, 1]])

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(padded(x))
    return tape.gradient(loss, x)
""",
            ["@tf.function"],
            Recompiles(),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed="""
def padded(x):
    return tf.pad(x * x, [[0, 1]])

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(padded(x))
    return tape.gradient(loss, x)
""",
        ),
        Bad(
            """
class Block:
    # What is in both.
    @tf.function(input_signature=[tf.TensorSpec([None, 3])], jit_compile=True)  # fast
    def joined(self, x):
        return tf.concat([x, tf.exp(x)], 1)

block = Block()

def score(x):
    return tf.reduce_mean(block.joined(x))

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = score(x)
    return tape.gradient(loss, x)
""",
            ["@tf.function(input_signature=[tf.TensorSpec([None, 3])], jit_compile=True)"],
            Recompiles(),
            inputs=("f32[4, 3]",),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed="""
class Block:
    # What is in both.
    # fast
    def joined(self, x):
        return tf.concat([x, tf.exp(x)], 1)

block = Block()

def score(x):
    return tf.reduce_mean(block.joined(x))

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = score(x)
    return tape.gradient(loss, x)
""",
        ),
        Bad(
            """
def largest(x, weight):
    return tf.reduce_max(x * weight)

traced = tf.function(largest)

@tf.function(jit_compile=True)
def f(x, weight):
    with tf.GradientTape() as tape:
        tape.watch(weight)
        loss = traced(x, weight)
    return tape.gradient(loss, weight)
""",
            ["largest"],
            Recompiles(),
            inputs=("f32[3]", "f32[3]"),
            effect=Effect.RECOMPILES,
        ),
        Bad(
            """
class Joined(tf.keras.layers.Layer):
    def build(self, shape):
        self.dense = tf.keras.layers.Dense(3)
        self.dense.build(shape)

    @tf.function
    def call(self, x):
        return tf.concat([self.dense(x), x], 1)

model = tf.keras.Sequential([tf.keras.Input((3,)), Joined(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.random.normal([32, 3]), tf.random.normal([32, 1]), batch_size=8, verbose=0)
""",
            ["@tf.function"],
            Runs(4),
            effect=Effect.RECOMPILES,
            safety=Safety.UNSAFE,
            fixed="""
class Joined(tf.keras.layers.Layer):
    def build(self, shape):
        self.dense = tf.keras.layers.Dense(3)
        self.dense.build(shape)

    def call(self, x):
        return tf.concat([self.dense(x), x], 1)

model = tf.keras.Sequential([tf.keras.Input((3,)), Joined(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.random.normal([32, 3]), tf.random.normal([32, 1]), batch_size=8, verbose=0)
""",
            why="each of its four steps is compiled",
        ),
        Bad(
            """
import functools

@tf.function(autograph=False)
def outer(x):
    return inner(x) * 2.0

@functools.partial(tf.function, reduce_retracing=True)
def inner(x):
    if tf.reduce_sum(x) > 0.0:
        x = x * x
    return tf.transpose(x)

@tf.function(jit_compile=True, autograph=False)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(outer(x))
    return tape.gradient(loss, x)
""",
            ["@tf.function(autograph=False)", "inner"],
            Recompiles(),
            inputs=("f32[4, 3]",),
            effect=Effect.RECOMPILES,
            why="the inner one needs its decorator for AutoGraph",
        ),
        Bad(
            """
@tf.function
def softmax(x):
    scaled = tf.exp(x - tf.reduce_max(x))
    return scaled / tf.reduce_sum(scaled)

@tf.function(jit_compile=True)
def f(x):
    return softmax(x)
""",
            ["@tf.function"],
            Compiles(),
            effect=Effect.NAMED,
            safety=Safety.UNSAFE,
            fixed="""
def softmax(x):
    scaled = tf.exp(x - tf.reduce_max(x))
    return scaled / tf.reduce_sum(scaled)

@tf.function(jit_compile=True)
def f(x):
    return softmax(x)
""",
            why="no gradient is taken here",
        ),
    )
    good = (
        Good(
            """
@tf.function
def f(x):
    return tf.pad(x * x, [[0, 1]])
""",
            why="it is compiled as a whole, if at all",
        ),
        Good(
            """
strategy = tf.distribute.TPUStrategy()

@tf.function
def evaluate(x):
    return strategy.run(lambda x: tf.pad(x * x, [[0, 1]]), args=(x,))
""",
            None,
            why="what a strategy runs is compiled as a whole",
        ),
        Good(
            """
class Twice(tf.keras.layers.Layer):
    def call(self, x):
        return tf.concat([x * x, x], 0)

twice = Twice()

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(twice(x))
    return tape.gradient(loss, x)
""",
            why="Keras runs `call` as a part of the function",
        ),
        Good(
            """
@tf.function
def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.pad(x * x, [[0, 1]]))
    return tape.gradient(loss, x)

@tf.function(jit_compile=True)
def f(x):
    return gradient(x) * 2.0
""",
            why="the gradient is taken where the operation is",
        ),
        Good(
            """
@tf.function
def scaled(x):
    return tf.reduce_sum(tf.reshape(tf.tanh(x) * 2.0, [-1]))

@tf.function
def padded(x):
    return tf.pad(x, [[0, 1]])

@tf.function(jit_compile=True)
def f(x):
    constant = tf.reduce_sum(padded(x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = scaled(x)
    return tape.gradient(loss, x) * constant
""",
            why="one has a gradient that needs no constants, the other none",
        ),
        Good(
            """
@tf.function
def counted(x):
    mask = tf.pad(tf.cast(x > 0.0, tf.int32), [[0, 1]])
    return tf.reduce_sum(x) * tf.cast(tf.reduce_max(mask), tf.float32)

@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = counted(x)
    return tape.gradient(loss, x)
""",
            why="integers have no gradient",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def padded(x):
    return tf.pad(x * x, [[0, 1]])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(padded(x))
    return tape.gradient(loss, x)

for number in range(3):
    step(tf.fill([4], float(number)))
""",
            Runs(2),
            why="the gradient is taken around what is compiled",
        ),
        Good(
            """
class Joined(tf.keras.layers.Layer):
    @tf.function
    def call(self, x):
        return tf.nn.relu(x) * 2.0

model = tf.keras.Sequential([tf.keras.Input((3,)), Joined(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.random.normal([32, 3]), tf.random.normal([32, 1]), batch_size=8, verbose=0)
""",
            Runs(1),
        ),
    )

    def __init__(self) -> None:
        self._pairs = LoopsUnderGradients[ApiCall]()
        self._converting: set[Location] = set()  # the functions in which AutoGraph has control flow to convert

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api) if api in GRADIENTS:
                for call, gradient in self._pairs.gradient(event):
                    yield from self._under(call, gradient)
            case ApiCall() if event.context.kind is ContextKind.XLA and any(apart(event.trail)) and _needs(event):
                trained = _is_trained_by_keras(event)
                if trained or not any(path.trains for path in steps(event.trail)):
                    for path in apart(event.trail):
                        if trained or path.parent is not None:
                            effect = Effect.RECOMPILES if trained else Effect.NAMED
                            yield self._draft(path, event, effect, by_keras=trained)
                for call, gradient in self._pairs.loop(event):
                    yield from self._under(call, gradient)
            case BranchOn(test=test) | LoopWhile(test=test) | IterateOver(iterable=test) if as_tensor(test) is not None:
                self._converting.update(path.apart for path in apart(event.trail) if path.apart is not None)

    def _under(self, call: ApiCall, gradient: ApiCall) -> Iterator[Draft]:
        """What is said of the functions between a call and the gradient that compiled code takes."""
        if gradient.context.kind is ContextKind.XLA:
            for path in apart(call.trail, gradient.trail):
                yield self._draft(
                    path, call, Effect.RECOMPILES, note_of(gradient), by_keras=_is_taken_by_keras(gradient)
                )

    def _draft(self, path: CallPath, call: ApiCall, effect: Effect, *notes: DraftNote, by_keras: bool = False) -> Draft:
        message = MESSAGE if effect is Effect.RECOMPILES else f"{MESSAGE}, where compiled code takes one"
        needs = DraftNote(call.location, f"the gradient of `{brief(call.node)}` needs a constant")
        rewrite = partial(self._rewrite, path)
        on_tpu = TpuOutcome.OK if effect is Effect.RECOMPILES else None  # it is compiled there by shapes alone
        most = Severity.WARNING if effect is Effect.RECOMPILES else Severity.INFO
        found = (needs, *notes)
        draft = Draft(message, effect, HELP, path.apart, found, at_most=most, rewrite=rewrite, on_tpu=on_tpu)
        return replace(draft, of_keras_step=by_keras)

    def _rewrite(self, path: CallPath, names: Names) -> Rewrite | None:
        """Take the decorator away, unless AutoGraph has something to do there and does it for no code around it."""
        if path.apart is None or not isinstance(path.apart.node, cst.Decorator):
            return None
        if path.apart in self._converting and not is_converted_around(path):
            return None
        return Rewrite("Remove the inner `tf.function`", (remove(path.apart),), Safety.UNSAFE, DIFFERS)


MESSAGE = (
    "a `tf.function` inside of compiled code: XLA recompiles its gradient for every new value of its arguments and of "
    "the weights that it reads"
)
DIFFERS = "where other code calls the function, which then runs eagerly"


def _needs(call: ApiCall) -> bool:
    """Whether the call's gradient needs constants, and goes to data."""
    fact = fact_of(call, None)
    case = case_of(fact, call.arguments) if fact is not None else None
    again = nested.calls().get(fact.name, ()) if fact is not None else ()
    return case is not None and case.call in again and any(map(_has_gradient, call.arguments.values()))


def _has_gradient(value: Value) -> bool:
    """Whether a value is made of data that may have a gradient."""
    for leaf in leaves(value):
        match leaf:
            case Tensor(dependence=Dependence.VALUE, dtype=dtype) if dtype not in ("int", "bool", "string"):
                return True
            case Structure(dependence=Dependence.VALUE):
                return True
    return False


def _is_taken_by_keras(gradient: ApiCall) -> bool:
    """Whether it is Keras that runs what takes a gradient, and decides whether XLA compiles it."""
    return gradient.context.by_keras and all(path.apart is None for path in steps(gradient.trail))


def _is_trained_by_keras(call: ApiCall) -> bool:
    """Whether Keras calls what leads here, and takes a gradient when it trains."""
    *_, entry = steps(call.trail)
    return call.context.by_keras and entry.name.endswith(".call")
