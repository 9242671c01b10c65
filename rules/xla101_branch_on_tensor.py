"""An `if`, `elif` or conditional expression tests a tensor.

## What it does
Reports an `if`, an `elif`, a conditional expression, a comprehension condition or a `match` that tests a tensor during
tracing. Python needs a value to choose a branch, and a traced tensor has none yet.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- Without AutoGraph (`autograph=False`, what Keras 3 calls, and functions of modules that `tf.while_loop` and the like
  call), tracing raises `OperatorNotAllowedInGraphError`, even for a tensor computed from shapes alone.
- With AutoGraph, the branch becomes an XLA conditional and compiles. AutoGraph fails if the test is a number instead of
  a boolean scalar ("expected to be `tf.bool` scalar"), in a comprehension, and in a function that contains a walrus or
  a `match`.
- With Keras 3.15 on JAX 0.10, tracing raises TracerBoolConversionError.
- A branch that raises always raises: tracing runs both. XLA refuses branches of different ranks (`x = x[None]`).

## Example
    if tf.reduce_sum(tensor) > 10:
        tensor = tensor / 2.0

## Use instead
    tensor = tensor / (1.0 + tf.cast(tf.reduce_sum(tensor) > 10, tf.float32))

Use `tf.where(test, a, b)` if both sides are cheap and have constant gradients. Otherwise use `tf.cond`.

## Not flagged
Python values at trace time: `x.shape[0]`, `len(x.shape)`, `x is None`, `training`, `isinstance`, `x.dtype ==
tf.float32`. With AutoGraph, tests on `tf.shape(x)`, which XLA folds. An `elif` on the value that the `if` above it
already tests becomes a note of that finding.

## Fix safety
`safe` if the test is a boolean scalar and both branches are free of side effects and agree in shape and dtype:

- A branch that scales by a constant or subtracts one becomes indicator arithmetic, if the dtype is known to be floating
  and the result is exact in every floating dtype.
- Sums, differences and constant multiples become `tf.where`, if the side that is not taken can always be computed (`-x`
  of unsigned integers and `x - 0.1` of integers cannot).
- Everything else becomes `tf.cond`, which runs one side only. With `tf.where`, zero times the infinite gradient of the
  other side would be NaN.

`unsafe` if less is known. `tf.cond` refuses branches of different dtypes or structures, and XLA refuses different
ranks. Python side effects happen once, for both sides, during tracing. `and` and `or` always compute their second
operand. A test on sizes (`tf.shape(x)[0] > 2`) becomes a Python test, `safe` only for tensors in functions that
AutoGraph never converts. A branch that only passes text to a Python function (a log) runs in eager execution only.

No fix if a branch raises, leaves a loop, imports, deletes, or changes a list or dict, or leaves a name without a value.

## References
- https://www.tensorflow.org/guide/function#conditionals
- https://github.com/tensorflow/tensorflow/issues/105133
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Origin, Tensor
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import BranchOn, Event
from xlalint.fixes import branches, logic, ranks, resized
from xlalint.fixes.syntax import small_statements
from xlalint.linter.rule import Bad, Compiles, Draft, DraftNote, Effect, Fails, Good, Rule, Safety, origin_note
from xlalint.syntax import nodes as cst

from ._control import KERAS_3, REFUSED, not_a_truth, of_a_tensor, unconverted
from ._jax import tested

LABELS = {"ternary": "conditional expression", "comprehension if": "`if` of a comprehension"}
NOT_A_BOOL = Fails("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed")


class BranchOnTensor(Rule):
    code = "XLA101"
    name = "branch-on-tensor"
    traced = True
    handles = (BranchOn,)
    bad = (
        Bad(
            "if tf.reduce_sum(tensor) > 10:\n    tensor = tensor / 2.0\n",
            ["tf.reduce_sum(tensor) > 10"],
            None,
            why="a fragment: `tensor` is not defined",
            safety=Safety.UNSAFE,
            fixed="""\
tensor = tensor / (1.0 + tf.cast(tf.reduce_sum(tensor) > 10, tf.float32))
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_max(x) > 1.0:
            x = x / tf.reduce_max(x)
        return x
""",
            ["tf.reduce_max(x) > 1.0"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def call(self, x):
        x = tf.cond(tf.reduce_max(x) > 1.0, lambda: x / tf.reduce_max(x), lambda: x)
        return x
""",
        ),
        Bad(
            """
def scale(t, limit):
    largest = tf.reduce_max(tf.abs(t))
    return t * (limit / largest) if largest > limit else t

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return scale(x, 1.0)
""",
            ["largest > limit"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
def scale(t, limit):
    largest = tf.reduce_max(tf.abs(t))
    return tf.cond(largest > limit, lambda: t * (limit / largest), lambda: t)

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return scale(x, 1.0)
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        steps = self.steps
        if steps < 10.0:
            return x * 0.5
        return x
""",
            ["steps < 10.0"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.SAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        steps = self.steps
        return tf.cond(steps < 10.0, lambda: x * 0.5, lambda: x)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.reduce_sum(x)
    if total > 2.0:
        y = x * 2.0
    elif total > 0.0:
        y = x * 3.0
    else:
        y = -x
    return y
""",
            ["total > 2.0"],
            Compiles(),
            effect=Effect.NAMED,
            safety=Safety.SAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    total = tf.reduce_sum(x)
    y = tf.where(total > 2.0, x * 2.0, tf.where(total > 0.0, x * 3.0, -x))
    return y
""",
        ),
        Bad(
            """
import tensorflow.math as tfm

@tf.function(jit_compile=True)
def f(x):
    count = tfm.count_nonzero(x > 0.0)
    def halved():
        if count:
            return x / 2.0
        return x
    return halved()
""",
            ["count"],
            Fails("expected to be `tf.bool` scalar"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
import tensorflow.math as tfm

@tf.function(jit_compile=True)
def f(x):
    count = tfm.count_nonzero(x > 0.0)
    def halved():
        return tf.where(tf.not_equal(count, 0), x / 2.0, x)
    return halved()
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_min(x) < -1e6:
        raise ValueError("too small")
    return tf.sqrt(tf.abs(x))
""",
            ["tf.reduce_min(x) < -1e6"],
            Fails("ValueError: too small"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.add_n([x] + [x * scale for scale in (1.0, 2.0) if tf.reduce_sum(x) > scale])
""",
            ["tf.reduce_sum(x) > scale"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
        ),
        Bad(
            """
import logging

class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_max(x) > 1e6:
            logging.warning("large values")
        return x * 2.0
""",
            ["tf.reduce_max(x) > 1e6"],
            Fails("OperatorNotAllowedInGraphError"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
import logging

class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.executing_eagerly() and tf.reduce_max(x) > 1e6:
            logging.warning("large values")
        return x * 2.0
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if tf.greater(tf.shape(x)[0], 2) and tf.rank(x) == 1:
            x = x * 2.0
        return x[:2] if tf.shape(x)[0] % 2 == 0 else x
""",
            ["tf.greater(tf.shape(x)[0], 2) and tf.rank(x) == 1", "tf.shape(x)[0] % 2 == 0"],
            Fails("OperatorNotAllowedInGraphError"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def call(self, x):
        if x.shape[0] > 2 and len(x.shape) == 1:
            x = x * 2.0
        return x[:2] if (x.shape[0] % 2 == 0) else x
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, activation="tanh"):
        super().__init__()
        self.activation = tf.keras.activations.get(activation)

    def call(self, x):
        if tf.reduce_max(self.activation(x)) > 0.5:
            x = x * 2.0
        return x
""",
            ["tf.reduce_max(self.activation(x)) > 0.5"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.SAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def __init__(self, activation="tanh"):
        super().__init__()
        self.activation = tf.keras.activations.get(activation)

    def call(self, x):
        x = tf.cond(tf.reduce_max(self.activation(x)) > 0.5, lambda: x * 2.0, lambda: x)
        return x
""",
        ),
        Bad(
            """
def as_rows(x, offset=None):
    if tf.rank(x) == 1:
        x = tf.expand_dims(x, 0)
    if offset is not None and tf.rank(offset) == 0:
        offset = tf.stack([offset, offset])
    return x + 1.0 if offset is None else x + offset[0]

@tf.function(jit_compile=True)
def f(x, y):
    return as_rows(x, y)
""",
            ["tf.rank(x) == 1", "offset is not None and tf.rank(offset) == 0"],
            Fails("left_branch_shape.dimensions_size() != right_branch_shape.dimensions_size()"),
            inputs=("f32[4]", "f32[]"),
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
def as_rows(x, offset=None):
    if len(x.shape) == 1:
        x = tf.expand_dims(x, 0)
    if offset is not None and len(offset.shape) == 0:
        offset = tf.stack([offset, offset])
    return x + 1.0 if offset is None else x + offset[0]

@tf.function(jit_compile=True)
def f(x, y):
    return as_rows(x, y)
""",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.rank(x) == 1:
        x = x * 2.0
    if x.shape.rank == 1:
        x = tf.expand_dims(x, 0)
    return x
""",
            why="both sides have one rank; a rank that Python knows is none of AutoGraph's",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, activation="tanh"):
        super().__init__()
        self.activation = tf.keras.activations.get(activation)

    def call(self, x):
        if tf.keras.activations.serialize(self.activation) in ("tanh", "sigmoid"):
            x = x * 2.0
        return self.activation(x)
""",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x, mask=None, training=False):
        if x.shape[-1] == 3 and len(x.shape) == 2:
            x = x * 2.0
        if mask is not None:
            x = tf.where(mask, x, 0.0)
        if training:
            x = tf.nn.dropout(x, 0.5)
        return x
""",
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        if isinstance(x, (list, tuple)):
            x = x[0]
        if x.dtype == tf.float32 or x.dtype.is_integer:
            x = x * 2
        return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    if tf.shape(x)[0] > 2:
        x = x * 2.0
    return x
""",
            why="with AutoGraph XLA folds what is known from shapes",
        ),
        Good(
            """
import numpy as np

TABLE = np.arange(4.0)

@tf.function(jit_compile=True, autograph=False)
def f(x):
    if TABLE.sum() > 3.0:
        x = x * 2.0
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    parts = [x, x * 2.0]
    if len(parts) > 1 and parts:
        x = tf.add_n(parts)
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x)
""",
        ),
        Good(
            """
def report(x):
    total = tf.reduce_sum(x)
    if total > 10.0:
        print("large")

report(tf.ones([4]))
""",
            None,
            why="eager code of a script",
        ),
    )

    def __init__(self) -> None:
        self._chains: dict[cst.CSTNode, tuple[Location, Origin]] = {}  # the `elif` below a reported test

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case BranchOn(test=test, form=form, statement=statement) if tensor := as_tensor(test, Dependence.STATIC):
                if (outcome := _outcome(event, tensor)) is None:
                    return
                effect, reason = outcome
                what = f"{LABELS.get(form, f'`{form}`')} on {of_a_tensor(tensor)}"
                message, jax = f"{what}: {reason}", tested(tensor, what)
                head = self._head(event.location, statement, tensor)
                plain = not event.context.converted and form != "comprehension if"
                if head is not None:
                    elifs = (DraftNote(event.location, "`elif` on the same value", "elif"),)
                    yield Draft(message, effect, None, head, elifs, unconverted=plain, jax=jax)
                else:
                    at = event.location.at(statement)
                    sized = tensor.dependence < Dependence.VALUE and event.context.converted
                    decided = partial(resized.of_rank, event.location, statement)
                    rewrite = decided if sized else branches.branch(at, test, event.names)
                    notes = origin_note(tensor.origin, event)
                    help = _help(statement)
                    yield Draft(message, effect, help, None, notes, rewrite=rewrite, unconverted=plain, jax=jax)

    def _head(self, location: Location, statement: cst.CSTNode, tensor: Tensor) -> Location | None:
        """The reported test further up the chain on the same value; remembers this one for those further down."""
        head, origin = self._chains.get(statement, (location, tensor.origin))
        if origin != tensor.origin:
            head = location
        if isinstance(statement, cst.If) and statement.orelse is not None and tensor.origin is not None:
            self._chains[statement.orelse] = head, tensor.origin
        return None if head == location else head


def _outcome(event: BranchOn, tensor: Tensor) -> tuple[Effect, str] | None:
    if why := unconverted(event.context):
        return Effect.FAILS, f"{why}, so {REFUSED}"
    if event.form == "comprehension if":
        return Effect.FAILS, f"AutoGraph does not convert comprehensions, so {REFUSED}"
    if why := not_a_truth(tensor):
        return Effect.FAILS, why
    if tensor.dependence < Dependence.VALUE and (what := ranks.refused(event.location, event.statement)):
        return Effect.FAILS, f"AutoGraph makes this an XLA conditional, which cannot {what}"
    if isinstance(event.statement, cst.If) and _raises(event.statement):
        return Effect.FAILS, "tracing runs both branches, so the `raise` always happens"
    if tensor.dependence is Dependence.VALUE:
        return Effect.NAMED, f"this can compile only because AutoGraph converts it to an XLA conditional; {KERAS_3}"
    return None


def _help(statement: cst.CSTNode) -> str | None:
    """What to write where there is no rewrite."""
    match statement:
        case cst.If() if any(isinstance(line, cst.Raise) for line in small_statements(statement.body)):
            return logic.assertion(cst.UnaryOperation(cst.Not(), statement.test)) + logic.IGNORED
        case cst.CompIf(test=test):
            return f"keep every element, multiplied by an indicator: tf.cast({logic.condition(test)}, tf.float32)"
        case _:
            return None


def _raises(statement: cst.If) -> bool:
    """A branch raises without further condition."""
    sides = [statement.body, *([statement.orelse.body] if isinstance(statement.orelse, cst.Else) else [])]
    return any(isinstance(line, cst.Raise) for side in sides for line in small_statements(side))
