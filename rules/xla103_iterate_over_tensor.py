"""Python iterates over a tensor, or over a `range` whose length is a tensor.

## What it does
Reports Python iteration over a tensor: a `for` statement, a comprehension, unpacking (`a, b = t`, `*t`), and
`enumerate`, `zip`, `map`, `list`, `max(t)` and similar calls. Also reports a `range` whose length is a tensor.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- Without AutoGraph (`autograph=False`, and everything that Keras 3 calls), tracing raises
  `OperatorNotAllowedInGraphError`, even for tensors computed from shapes.
- AutoGraph converts only the `for` statement, `sorted`, and a `range` directly in a `for` statement. Comprehensions,
  unpacking, `enumerate`, `zip`, `list` and `max(t)` always fail.
- `for row in x` compiles once, to a sequential loop.
- `for i in range(n)` with a tensor `n` recompiles for every value of `n`. If a TensorFlow loop computes or changes `n`,
  it fails ("must be a compile-time constant"). The TPU compiler (2.20) refuses it for any value under a strategy, which
  compiles by shapes alone.

## Example
    first, second = tf.reduce_sum(x, axis=1)

## Use instead
    first, second = tf.unstack(tf.reduce_sum(x, axis=1), num=2)

Replace a loop with one operation over the whole tensor (`tf.reduce_sum`, `tf.cumsum`, `tf.vectorized_map`), or with
`tf.scan`.

## Not flagged
- Python containers of tensors, `range(x.shape[0])`, `tf.unstack(x)`, `tf.split`.
- With AutoGraph, `for i in tf.range(k)` with a length known from shapes. XLA205 reports a `tf.range(n)` whose length is
  the value of a tensor.

## Fix safety
`safe` for unpacking a value that is certainly a tensor: the code states the number of elements. Otherwise `unsafe`:

- A `tf.range` over sizes and numbers becomes `range`, which yields Python numbers.
- `tf.unstack` needs a static first dimension and unrolls the loop. It is not offered if data decides that dimension.
- A reduction rounds in a different order than `sum`, and treats NaN differently than `max` and `min`.

## References
- https://www.tensorflow.org/guide/function#loops
- https://www.tensorflow.org/api_docs/python/tf/unstack
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Tensor
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, IterateOver
from xlalint.fixes.iteration import is_bound, iteration, parts
from xlalint.linter.rule import (
    ApiCall,
    Bad,
    Compiles,
    Draft,
    Effect,
    Fails,
    Good,
    Recompiles,
    Rule,
    Safety,
    TpuOutcome,
    origin_note,
)
from xlalint.syntax import nodes as cst

from ._control import REFUSED, of_a_tensor, unconverted
from ._jax import iterated

CONVERTED = frozenset(("for", "for range", "sorted"))  # what AutoGraph rewrites
LABELS = {
    "for": "`for` over",
    "for range": "`for` over a `range` whose length is",
    "range": "`range` whose length is",
    "comprehension": "comprehension over",
    "unpacking": "unpacking of",
    "star": "`*` on",
}
NOT_ITERABLE = Fails("Iterating over a symbolic `tf.Tensor` is not allowed")


class IterateOverTensor(Rule):
    code = "XLA103"
    name = "iterate-over-tensor"
    traced = True
    handles = (IterateOver, ApiCall)
    apis = frozenset(("tf.range",))
    bad = (
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        x = tf.nn.relu(x)
        total = tf.zeros_like(x[0])
        for row in x:
            total = total * 0.5 + row
        return total
""",
            ["x"],
            NOT_ITERABLE,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            help="tf.unstack(x)",
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def call(self, x):
        x = tf.nn.relu(x)
        total = tf.zeros_like(x[0])
        for row in tf.unstack(x):
            total = total * 0.5 + row
        return total
""",
        ),
        Bad(
            """
def spread(t):
    height, width = tf.shape(t)
    return tf.reshape(t, [width, height])

@tf.function(jit_compile=True)
def f(x):
    return spread(x)
""",
            ["tf.shape(t)"],
            NOT_ITERABLE,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            help="tf.unstack(tf.shape(t))",
            safety=Safety.SAFE,
            fixed="""
def spread(t):
    height, width = tf.unstack(tf.shape(t), num=2)
    return tf.reshape(t, [width, height])

@tf.function(jit_compile=True)
def f(x):
    return spread(x)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    (height, width), kept = tf.shape(x), tf.abs(x)
    return tf.reshape(kept, [width, height])
""",
            ["height, width"],
            NOT_ITERABLE,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            help="height, width) = tf.unstack(",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    square = lambda rows: tf.stack([row * row for row in rows])
    return square(tf.abs(x))
""",
            ["rows"],
            NOT_ITERABLE,
            inputs=("f32[4, 3]",),
            effect=Effect.FAILS,
            help="tf.vectorized_map",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    square = lambda rows: tf.stack([row * row for row in tf.unstack(rows)])
    return square(tf.abs(x))
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    for step in range(n):
        x = x * 2.0
    return x
""",
            ["range(n)"],
            Recompiles(),
            inputs=("f32[4]", "i32[]"),
            effect=Effect.RECOMPILES,
            help="tf.where(i < n, <next y>, y)",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    for outer in tf.range(3):
        for inner in range(outer):
            x = x * 2.0
    return x
""",
            ["range(outer)"],
            Fails("must be a compile-time constant"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class Pooler:
    def __init__(self):
        self.weights = None

    def pool(self, x):
        self.weights = tf.nn.softmax(x)
        return self.combine(x)

    def combine(self, x):
        total = sum(self.weights)
        return total + tf.add_n([w * v for w, v in zip(self.weights, tf.unstack(x))])

@tf.function(jit_compile=True)
def f(x):
    return Pooler().pool(x)
""",
            ["self.weights", "self.weights"],
            NOT_ITERABLE,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
class Pooler:
    def __init__(self):
        self.weights = None

    def pool(self, x):
        self.weights = tf.nn.softmax(x)
        return self.combine(x)

    def combine(self, x):
        total = tf.reduce_sum(self.weights, axis=0)
        return total + tf.add_n([w * v for w, v in zip(tf.unstack(self.weights), tf.unstack(x))])

@tf.function(jit_compile=True)
def f(x):
    return Pooler().pool(x)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.zeros([3])
    for row in x:
        total = total + row
    return total
""",
            ["x"],
            Compiles(),
            inputs=("f32[4, 3]",),
            effect=Effect.NAMED,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        total = x[0] * 0.0
        for i in tf.range(1, tf.shape(x)[0]):
            total += x[i] * x[i - 1]
        return total
""",
            ["tf.range(1, tf.shape(x)[0])"],
            Fails("OperatorNotAllowedInGraphError"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def call(self, x):
        total = x[0] * 0.0
        for i in range(1, x.shape[0]):
            total += x[i] * x[i - 1]
        return total
""",
        ),
    )
    good = (
        Good(
            """
class BoxLoss(tf.keras.losses.Loss):
    def call(self, y_true, outputs):
        normalizer, targets = y_true
        return tf.reduce_sum(tf.abs(targets - outputs)) / normalizer

box = BoxLoss()

@tf.function(jit_compile=True)
def f(x):
    return box.call([tf.reduce_sum(x), x], x * 2.0)
""",
            why="a loss that Keras is passed no object of, and the project passes pairs",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        total = 0.0
        for i in range(x.shape[0]):
            total += tf.reduce_sum(x[i])
        for row in tf.unstack(x):
            total += tf.reduce_max(row)
        return total
""",
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    left, right = tf.split(x, 2)
    return tf.add_n([part * 2.0 for part in (left, right)])
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    total = 0.0
    for i in tf.range(tf.shape(x)[0]):
        total += x[i]
    return total
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    features = {"a": x, "b": x * 2.0}
    return tf.add_n([value for _, value in features.items()]) + sum([x, x])
""",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True, autograph=False)
def f(x):
    first, second = np.array([1.0, 2.0])
    batch, features = x.shape
    return x * float(first * second) * float(batch * features)
""",
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
class Sum(tf.keras.layers.Layer):
    def call(self, x, lengths=None):
        longest = 1.0 if lengths is None else tf.reduce_max(lengths)
        return x * longest if lengths is None else tf.add_n([x * (n + longest) for x, n in zip(x, lengths)])

LAYER = Sum()

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return LAYER([x, x], [tf.reduce_sum(x), tf.reduce_max(x)])
""",
            why="an operation that is passed a list stacks it, which says nothing against a list",
        ),
        Good(
            """
class Position(tf.keras.layers.Layer):
    def __init__(self, with_ids=False):
        super().__init__()
        self.with_ids = with_ids

    def call(self, x):
        if self.with_ids:
            x, ids = x
        else:
            ids = tf.range(x.shape[0])
        return x + tf.cast(ids, x.dtype)

class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.position = Position()

    def call(self, x):
        return self.position(tf.nn.relu(x))
""",
            why="a setting says whether the layer takes a pair",
        ),
        Good(
            """
class Loss(tf.keras.losses.Loss):
    def call(self, labels, predictions):
        losses = {}
        for level in predictions:
            losses[level] = tf.reduce_mean(tf.abs(predictions[level] - labels))
        return sum(losses.values())

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return Loss().call(x, {"3": x * 2.0, "4": x * 3.0})
""",
            why="a loss that takes the outputs of a model apart by their names is handed a dict",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    names = {variable.name: variable for variable in tf.compat.v1.all_variables()}
    return x * (1.0 + len(names))
""",
            why="a collection is a list of variables",
        ),
        Good(
            """
def step(x):
    return x * 2.0

def body(i, x, states):
    if states:
        x, states = step(x)
    else:
        x = step(x)
    return i + 1, x, states

@tf.function(jit_compile=True)
def f(x):
    return tf.while_loop(lambda i, x, states: i < 3, body, (0, x, {}))[1]
""",
            why="a structure that is empty when the loop begins stays empty in it",
        ),
        Good(
            """
def letters(x):
    shape = tf.TensorShape(x.shape) if hasattr(x, "shape") else x
    return "a" + "".join("bcd"[i] for i in range(shape.rank - 1))

class L(tf.keras.layers.Layer):
    def call(self, x, doubled=False):
        x = tf.concat([x, x], 0) if doubled else x
        return tf.einsum(f"{letters(x)}->{letters(x)}", x)
""",
            why="every tensor has a shape, and ranks are Python numbers",
        ),
        Good(
            """
for row in tf.reshape(tf.range(6), [2, 3]):
    print(row)
""",
            None,
            why="eager code of a script",
        ),
    )

    def __init__(self) -> None:
        self._ranges: set[Location] = set()  # calls of `tf.range`

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall():
                self._ranges.add(event.location)
            case IterateOver(iterable=iterable, form=form) if tensor := as_tensor(iterable, Dependence.STATIC):
                outcome = self._outcome(event, tensor)
                if outcome is not None and isinstance(event.location.node, cst.BaseExpression):
                    effect, reason = outcome
                    what = f"{LABELS.get(form, f'`{form}` over')} {of_a_tensor(tensor)}"
                    help = iteration(form, event.location.node, bound=form == "unpacking" and is_bound(event))
                    rewrite = partial(parts, event) if effect is Effect.FAILS else None
                    notes = origin_note(tensor.origin, event)
                    on_tpu = TpuOutcome.FAILS if effect is Effect.RECOMPILES else None
                    plain = not event.context.converted and form in CONVERTED
                    yield Draft(
                        f"{what}: {reason}",
                        effect,
                        help,
                        notes=notes,
                        rewrite=rewrite,
                        on_tpu=on_tpu,
                        unconverted=plain,
                        jax=iterated(form, what),
                    )

    def _outcome(self, event: IterateOver, tensor: Tensor) -> tuple[Effect, str] | None:
        never = None if event.form in CONVERTED else "AutoGraph converts only `for` statements"
        if why := unconverted(event.context, never) or never:
            return Effect.FAILS, f"{why}, so {REFUSED}"
        if tensor.dependence < Dependence.VALUE or event.form == "sorted" or event.location in self._ranges:
            return None
        if event.form == "for":
            return Effect.NAMED, "this compiles only because AutoGraph converts it to a sequential loop"
        if tensor.carried:
            return Effect.FAILS, "its length must be a compile-time constant, and is random or set in a loop"
        return Effect.RECOMPILES, "XLA recompiles the loop for every new length"
