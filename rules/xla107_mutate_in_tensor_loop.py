"""A TensorFlow loop or branch changes Python state.

## What it does
Reports `append`, `pop`, new keys, `nonlocal` names and attributes that change in the body of a TensorFlow loop (`for ..
in tf.range(n)`, the body of `tf.while_loop` or `tf.map_fn`) or in a branch on a tensor. For JAX also variables and
metrics of Keras that change where TensorFlow alone lets them.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. The body is traced once, so Python makes the change once.

- A stored tensor belongs to the body's own graph. Using it outside raises `InaccessibleTensorError`. This concerns
  `append`, `extend`, `update`, `setdefault`, `nonlocal`, and an attribute set by a function that the loop calls.
- If no tensor is stored, the result is silently wrong: `pop` and `append(1)` in a loop of three iterations happen once.
- With Keras 3.15 on JAX 0.10, `variable.assign(..)` in a function that `keras.ops.cond`, `map`, `scan`, `fori_loop`,
  `while_loop` or `vectorized_map` calls raises UnexpectedTracerError, compiled or not. TensorFlow compiles it, but in
  `scan`.
- With Keras 3.15 on JAX 0.10, `fit` and `evaluate` of a model whose `call`, or a layer's, updates a metric that the
  object holds raise TypeError ("'NoneType' object is not callable"): the trainer keeps the variables of metrics from
  `call`. In `compute_loss` and `compute_metrics` it works. TensorFlow compiles it.
- A new key in one branch fails ("must also be initialized in the else branch").
- Keys and attributes that the loop statement itself assigns compile, because AutoGraph makes them loop variables.

## Example
    rows = []
    for i in tf.range(4):
        rows.append(x[i] * 2.0)
    y = tf.stack(rows)

## Use instead
    rows = tf.TensorArray(x.dtype, size=4)
    for i in tf.range(4):
        rows = rows.write(i, x[i] * 2.0)
    y = rows.stack()

Or use `tf.map_fn` or `tf.scan`, which collect what the body returns.

## Not flagged
- Python loops (`range(4)`), which tracing unrolls.
- `d["key"] = ..`, `self.x = ..`, and `nonlocal` or `global` names in a `for` or `while` that AutoGraph converts.
- Assignments to a `tf.Variable` on TensorFlow, and lists created inside the body.

## Fix safety
`unsafe`: a loop over `tf.range` with at most sixteen iterations becomes a loop over `range`. Tracing unrolls it and
runs the Python code in each iteration. The loop index is then a Python number. Everything else is shown only. A
`tf.TensorArray` needs a static size: XLA returns one with `dynamic_size=True` empty.

## References
- https://www.tensorflow.org/guide/function#accumulating_values_in_a_loop
- https://github.com/tensorflow/tensorflow/issues/105332
"""

from collections.abc import Iterator
from itertools import takewhile

from xlalint.analysis.interpreter.events import Event, MutateInLoop
from xlalint.fixes.arrays import unrolled
from xlalint.fixes.quoted import path_to
from xlalint.linter.rule import Bad, Diverges, Draft, Effect, Fails, Good, OnJax, Rule, Safety
from xlalint.syntax import nodes as cst

from ._jax import LEAKED, fails

SHRINKING = frozenset(("pop", "popitem", "remove", "clear", "del"))
# AutoGraph carries these where the statement itself is in the loop.
CARRIED = frozenset(("new key", "item", "attribute", "nonlocal", "global"))
PLACES = {"loop": "a TensorFlow loop", "branch": "a branch on a tensor"}
DIFFERS = "the result differs from eager execution"
UNUSABLE = "using the result outside fails"
RETURNED = "return the new value from the function, and assign it outside"
COMPUTED = "update it in `compute_metrics` or `compute_loss` of the model, or pass it to `compile(metrics=[..])`"
TAKEN = "`fit` raises TypeError, since the trainer keeps the variables of metrics from `call`"
OUT_OF_SCOPE = Fails("is out of scope and cannot be used here")


class MutateInTensorLoop(Rule):
    code = "XLA107"
    name = "mutate-in-tensor-loop"
    handles = (MutateInLoop,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    rows = []
    for i in tf.range(4):
        rows.append(x[i] * 2.0)
    return tf.stack(rows)
""",
            ["rows.append(x[i] * 2.0)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
            help="rows = tf.TensorArray(",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    rows = []
    for i in range(4):
        rows.append(x[i] * 2.0)
    return tf.stack(rows)
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        seen = []

        def step(row):
            seen.append(tf.reduce_max(row))
            return row * 2.0

        return tf.map_fn(step, x) + tf.add_n(seen)
""",
            ["seen.append(tf.reduce_max(row))"],
            OUT_OF_SCOPE,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Tracker:
    def __init__(self):
        self.history = []

    def note(self, value):
        self.history.append(value)

@tf.function(jit_compile=True)
def f(x):
    tracker = Tracker()
    for row in tf.abs(x):
        tracker.note(row)
    return tf.stack(tracker.history)
""",
            ["self.history.append(value)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = x[0]

    def add(value):
        nonlocal total
        total = total + value

    for i in tf.range(4):
        add(x[i])
    return total
""",
            ["total = total + value"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
def keep(found, value):
    found.append(value)

@tf.function(jit_compile=True)
def f(x):
    rows = []
    for row in tf.abs(x):
        keep([], row)
        keep(rows, row)
    return tf.stack(rows)
""",
            ["found.append(value)"],
            OUT_OF_SCOPE,
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    scales = [1.0, 2.0, 3.0]
    for i in tf.range(3):
        x = x * scales.pop()
    return x
""",
            ["scales.pop()"],
            Diverges(),
            effect=Effect.DIVERGES,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    scales = [1.0, 2.0, 3.0]
    for i in range(3):
        x = x * scales.pop()
    return x
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    outputs = {"x": x}
    if tf.reduce_sum(x) > 0.0:
        outputs["y"] = x * 2.0
    return outputs.get("y", x)
""",
            ['outputs["y"] = x * 2.0'],
            Fails("must also be initialized in the else branch"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def build(self, shape):
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        def counted():
            self.seen.assign(self.seen + 1.0)
            return x * 2.0

        return ops.cond(ops.sum(x) > 0, counted, lambda: x)
""",
            ["self.seen.assign(self.seen + 1.0)"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            help="return the new value",
            why="`fit` raises UnexpectedTracerError; TensorFlow compiles it",
        ),
        Bad(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def build(self, shape):
        self.total = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def added(self, row):
        self.total.assign_add(ops.sum(row))
        return row

    def call(self, x):
        return ops.map(self.added, x)
""",
            ["self.total.assign_add(ops.sum(row))"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            why="`fit` raises UnexpectedTracerError; TensorFlow compiles it",
        ),
        Bad(
            """
import keras

class Net(keras.Model):
    def build(self, shape):
        self.size = keras.metrics.Mean()

    def call(self, x):
        self.size.update_state(x)
        return x
""",
            ["self.size.update_state(x)"],
            None,
            effect=Effect.FAILS,
            backend="jax",
            help="compute_metrics",
            why="`fit` raises TypeError; TensorFlow compiles it",
        ),
    )
    good = (
        Good(
            """
import keras

class Net(keras.Model):
    def call(self, x):
        seen = keras.metrics.Mean()
        seen.update_state(x)
        return x * seen.result()
""",
            None,
            why="on JAX, metrics work that `call` creates",
        ),
        Good(
            """
import keras
from keras import ops

class L(keras.layers.Layer):
    def build(self, shape):
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.seen.assign(ops.cond(ops.sum(x) > 0, lambda: self.seen + 1.0, lambda: self.seen * 1.0))
        return x
""",
            None,
            backend="jax",
            why="the functions return the new value",
        ),
        Good(
            """
import copy

@tf.function(jit_compile=True)
def f(example: dict[str, tf.Tensor]):
    example = copy.copy(example)
    if tf.reduce_max(example["image"]) > 1.0:
        example["image"] = example["image"] / 255.0
    return example["image"]
""",
            None,
            why="an item that is there already: AutoGraph joins it (measured, with a dict)",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        rows = []
        for i in range(4):
            rows.append(x[i] * 2.0)
        return tf.stack(rows)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    rows = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        rows = rows.write(i, x[i] * 2.0)
    return rows.stack()
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    state = {"sum": x[0]}
    for i in tf.range(4):
        state["sum"] = state["sum"] + x[i]
    return state["sum"]
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = x[0]
    for i in tf.range(4):
        parts = []
        parts.append(x[i])
        parts.append(x[i] * 2.0)
        total = total + tf.add_n(parts)
    return total
""",
            why="each iteration creates the list",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = x[0]

    def run():
        nonlocal total
        for i in tf.range(4):
            total = total + x[i]
        return total

    return run()
""",
        ),
        Good(
            """
count = tf.Variable(0.0)

@tf.function(jit_compile=True)
def f(x):
    for i in tf.range(3):
        count.assign_add(1.0)
    return x * count
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    traced = False

    def body(i, total):
        nonlocal traced
        traced = True
        return i + 1, total + x[0]

    _, total = tf.while_loop(lambda i, total: i < 3, body, (0, 0.0))
    return total if traced else x[0]
""",
            why="what is assigned once, while tracing, is what every step would assign",
        ),
        Good(
            """
def scaled(x, **options):
    def factor():
        return options.pop("factor", 2.0)
    return x * factor()

@tf.function(jit_compile=True)
def f(x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, scaled(x, factor=3.0)), (0, x))[1]
""",
            why="each call of the function in the loop has options of its own",
        ),
        Good(
            """
told = set()

def noted(x):
    told.add("noted")
    return x * 2.0

@tf.function(jit_compile=True)
def f(x):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, noted(x)), (0, x))[1]
""",
            why="adding the same to a set again changes nothing",
        ),
        Good(
            """
def updated(state, changes):
    state = state.copy()
    state.update({name: value for name, value in changes.items() if name in state})
    return state

@tf.function(jit_compile=True)
def f(x):
    state = {"x": x, "y": x}
    for _ in tf.range(3):
        state = updated(state, {"y": state["x"] * 2.0})
    return state["y"]
""",
            why="each call of the helper changes a copy of its own",
        ),
        Good(
            """
history = []
for batch in tf.range(3):
    history.append(float(batch))
""",
            None,
            why="eager code of a script",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case MutateInLoop(form=form, inside="function", target=target):
                what = f"`{target}.{form}` in a function of a condition or loop"
                raises = OnJax(Effect.FAILS, what, "this raises UnexpectedTracerError")
                yield Draft(what, Effect.FAILS, RETURNED, jax=raises, on_jax_alone=True)
            case MutateInLoop(form=form, inside="call", target=target):
                what = f"`{target}.{form}` in `call`"
                yield Draft(what, Effect.FAILS, COMPUTED, jax=fails(what, TAKEN), on_jax_alone=True)
            case MutateInLoop(form=form) if form in CARRIED and _in_the_statement(event):
                return
            case MutateInLoop(inside="branch", context=context) if not context.converted:
                return  # the branch itself fails, and is reported
            case MutateInLoop(form=form, inside=inside, target=target):
                effect = Effect.DIVERGES if form in SHRINKING else Effect.FAILS
                what = f"{form} on `{target}` inside {PLACES[inside]}: Python runs this once, during tracing"
                message = f"{what}; {DIFFERS if form in SHRINKING else UNUSABLE}"
                rewrite = unrolled(event.location) if inside == "loop" else None
                jax = None if form in SHRINKING else fails(what, LEAKED)
                yield Draft(message, effect, _help(form, target), rewrite=rewrite, jax=jax)


def _in_the_statement(event: MutateInLoop) -> bool:
    """AutoGraph sees the change itself, inside the loop (a new key in one branch is not joined even then)."""
    if not event.context.converted or (event.form == "new key" and event.inside == "branch"):
        return False
    statements = (cst.For, cst.While) if event.inside == "loop" else (cst.If,)
    # From the place outwards, as far as the innermost function.
    outwards = reversed(path_to(event.location.unit.tree, event.location.node))
    inside = takewhile(lambda node: not isinstance(node, cst.FunctionDef | cst.Lambda), outwards)
    return any(isinstance(node, statements) for node in inside)


def _help(form: str, target: str) -> str:
    if form in ("append", "extend", "insert"):
        return (
            f"{target} = tf.TensorArray(dtype, size=STEPS)  # a static size\n"
            f"{target} = {target}.write(i, value)  # in the loop\n"
            f"{target} = {target}.stack()  # after it"
        )
    return f"return the new value of {target} from the body, or keep it in a variable that the loop assigns"
