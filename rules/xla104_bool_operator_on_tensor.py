"""`and`, `or`, `not`, a chained comparison, `in`, `max`, `any` or a layer's `training` tests a tensor.

## What it does
Reports expressions in which Python needs the truth value of a tensor: `a and b`, `a or b`, `not a`, `0 < a < 1`, `a in
[1, 2]`, `max(a, b)`, `any([a, b])`, and a tensor that is passed as `training` to a layer of Keras that tests it.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- Without AutoGraph (`autograph=False`, and everything that Keras 3 calls), tracing raises
  `OperatorNotAllowedInGraphError`.
- AutoGraph converts `and`, `or`, `not` and chained comparisons of boolean scalars. It fails for numbers ("Condition
  argument must be a boolean", "does not match expected type of bool").
- AutoGraph does not convert `in`, `max`, `min`, `any` and `all`. They always fail, also for tensors computed from
  shapes such as `max(tf.shape(x)[0], 3)`.
- Layers of Keras 3 that do something else in training (`BatchNormalization`, `Dropout`, `LSTM`, `RandomFlip`, ..) test
  `training` in their own code, which AutoGraph does not convert: a tensor always fails. With Keras 2 it fails for the
  layers of random images and for `SpectralNormalization` only.

## Example
    active = 0.0 < tf.reduce_max(x) < 5.0

## Use instead
    active = tf.logical_and(0.0 < tf.reduce_max(x), tf.reduce_max(x) < 5.0)

Also `tf.logical_or`, `tf.logical_not`, `tf.maximum` and `tf.reduce_any(tf.equal(a, [1, 2]))`. All of them work
elementwise, too.

## Not flagged
- `training and mask`: Python never tests the last operand.
- The test of an `if` or a `while`, which XLA101 and XLA102 report.
- Key lookups (`"a" in features`), and `max` of Python numbers or static sizes.

## Fix safety
There is a fix only if all operands are booleans, because `and` and `or` return one of their operands.

- `and` and `or` are `safe` for scalars whose computation has no side effect and raises for none of their possible
  dtypes. `tf.logical_and` computes both operands, while `and` may skip the second. Otherwise `unsafe`.
- `not`, `in`, `any` and `all` return a Python bool. They are `safe` as the first argument of a function that accepts
  either (`tf.cast`, `tf.where`, `tf.cond`), and `unsafe` where the code may need a Python bool.
- `max` and `min` are `safe` for integer scalars, and `unsafe` for NaN and where a Python number may be chosen.

## References
- https://www.tensorflow.org/api_docs/python/tf/math/logical_and
- https://github.com/tensorflow/tensorflow/issues/55278
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Tensor, Value
from xlalint.analysis.interpreter.events import Event, TruthOf
from xlalint.fixes import logic
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, Rule, Safety, origin_note
from xlalint.syntax import nodes as cst

from ._control import KERAS_3, REFUSED, not_a_truth, of_a_tensor, unconverted
from ._jax import tested

BUILTINS = frozenset(("max", "min", "any", "all"))
NEVER = BUILTINS | {"in", "sorted", "training"}  # what AutoGraph does not convert
LABELS = {"chained comparison": "chained comparison"}
INSTEAD = {
    "sorted": "tf.sort(tf.stack([..]))",
    "training": "pass a Python bool, which the layer is traced for: training=bool(..) of what Python knows",
}
NOT_A_BOOL = Fails("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed")


class BoolOperatorOnTensor(Rule):
    code = "XLA104"
    name = "bool-operator-on-tensor"
    traced = True
    handles = (TruthOf,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.stack(sorted(tf.unstack(x)))
""",
            ["sorted(tf.unstack(x))"],
            Fails("as a Python `bool` is not allowed"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        active = tf.reduce_max(x) > 0.0 and tf.reduce_min(x) < 0.0
        return x * tf.cast(active, x.dtype)
""",
            ["tf.reduce_max(x) > 0.0 and tf.reduce_min(x) < 0.0"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.logical_and(tf.reduce_max(x) > 0.0, tf.reduce_min(x) < 0.0)",
            safety=Safety.SAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def call(self, x):
        active = tf.logical_and(tf.reduce_max(x) > 0.0, tf.reduce_min(x) < 0.0)
        return x * tf.cast(active, x.dtype)
""",
        ),
        Bad(
            """
def within(t, low, high):
    return low < t < high

@tf.function(jit_compile=True)
def f(x):
    return x * tf.cast(within(tf.reduce_sum(x), 0.0, 5.0), tf.float32)
""",
            ["low < t < high"],
            Compiles(),
            effect=Effect.NAMED,
            help="tf.logical_and(low < t, t < high)",
            safety=Safety.SAFE,
            fixed="""
def within(t, low, high):
    return tf.logical_and(low < t, t < high)

@tf.function(jit_compile=True)
def f(x):
    return x * tf.cast(within(tf.reduce_sum(x), 0.0, 5.0), tf.float32)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    length = tf.shape(x)[0]
    return x * tf.cast(max(length, 3), tf.float32)
""",
            ["max(length, 3)"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.maximum(length, 3)",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    length = tf.shape(x)[0]
    return x * tf.cast(tf.maximum(length, 3), tf.float32)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, n):
    known = lambda code: code in (1, 2)
    if known(tf.abs(n)):
        x = x * 2.0
    return x
""",
            ["code in (1, 2)"],
            NOT_A_BOOL,
            inputs=("f32[4]", "i32[]"),
            effect=Effect.FAILS,
            help="tf.reduce_any(tf.equal(code, (1, 2)))",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.frozen = tf.Variable(False, trainable=False)

    def call(self, x):
        return x * tf.cast(not self.frozen, x.dtype)
""",
            ["not self.frozen"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.logical_not(self.frozen)",
            safety=Safety.SAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.frozen = tf.Variable(False, trainable=False)

    def call(self, x):
        return x * tf.cast(tf.logical_not(self.frozen), x.dtype)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    size = tf.argmax(x, output_type=tf.int32) or 1
    return x * tf.cast(size, tf.float32)
""",
            ["tf.argmax(x, output_type=tf.int32) or 1"],
            Fails("Condition argument must be a boolean"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    flags = [tf.reduce_sum(x) > 0.0, tf.reduce_max(x) > 1.0]
    return x * float(1 + any(flags))
""",
            ["any(flags)"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.reduce_any(flags, axis=0)",
        ),
        Bad(
            """
class Norm(tf.keras.layers.BatchNormalization):
    def call(self, x, training=False):
        if not training:
            training = tf.constant(False)
        training = tf.logical_and(training, self.trainable)
        return super().call(x, training)

norm = Norm()

@tf.function(jit_compile=True)
def f(x):
    return norm(x)
""",
            ["training"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="Python bool",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.drop = tf.keras.layers.Dropout(0.5)

    def call(self, x):
        noisy = tf.reduce_sum(x) > 0.0
        return self.drop(x, training=noisy)
""",
            ["noisy"],
            NOT_A_BOOL,
        ),
    )
    good = (
        Good(
            """
class Norm(tf.keras.layers.BatchNormalization):
    def call(self, x, training=False):
        return super().call(x, bool(training) and self.trainable)

norm, dense = Norm(), tf.keras.layers.Dense(2)

@tf.function(jit_compile=True)
def f(x):
    return dense(norm(x, training=True), training=tf.reduce_sum(x) > 0.0)
""",
            inputs=("f32[2, 4]",),
            why="Python decides, and a dense layer does not ask",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x, training=False):
        noisy = training and (tf.reduce_max(x) > 0.0)
        return x * (1.0 + tf.cast(noisy, x.dtype))
""",
            why="the last operand is not asked for its truth",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x, mask=None):
        mask = mask if mask is not None else tf.ones_like(x)
        return x * mask * float(not self.built or 2 in x.shape) * float(0 < x.shape[0] < 9)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    both = (x > 0.0) & (x < 1.0) | tf.logical_not(x > 5.0)
    return tf.where(both, x, 0.0)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True, autograph=False)
def f(x):
    features = {"a": x}
    if "a" in features and len(features) > 0:
        x = features["a"] * max(x.shape[0], 3)
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    enough = tf.shape(x)[0] > 2 and tf.shape(x)[0] < 9
    return x * tf.cast(enough, tf.float32)
""",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True, autograph=False)
def f(x):
    weights = np.array([0.5, 2.0])
    return x * float(max(weights[0], 1.0)) * float(any(w > 1.0 for w in weights))
""",
        ),
    )

    def __init__(self) -> None:
        self._of_others: set[cst.CSTNode] = set()  # operators that give one of their operands back

    def check(self, event: Event) -> Iterator[Draft]:
        if isinstance(event, TruthOf) and event.form not in BUILTINS and not logic.of_booleans(event):
            self._of_others.add(event.location.node)
        match event:
            case TruthOf(form="and" | "or" | "not" | "chained comparison", tested=True):
                return  # the `if` or `while` around it is reported
            case TruthOf(operands=operands, form=form) if tensor := _asked(form, operands):
                outcome = _outcome(event, tensor)
                if outcome is not None and isinstance(event.location.node, cst.BaseExpression):
                    effect, reason = outcome
                    label = LABELS.get(form, f"`{form}`")
                    joined = "is" if form == "training" else "on"
                    what = f"{label} {joined} {of_a_tensor(tensor)}"
                    message, jax = f"{what}: {reason}", tested(tensor, what)
                    node = event.location.node
                    if form in INSTEAD:
                        notes = origin_note(tensor.origin, event)
                        yield Draft(message, effect, INSTEAD[form], notes=notes, jax=jax)
                        return
                    help = logic.over(form, node) if form in BUILTINS else logic.condition(node)
                    rewrite = partial(logic.builtin, event)
                    if form not in BUILTINS:
                        rewrite = partial(logic.logical, event, self._of_others)
                    notes, plain = origin_note(tensor.origin, event), not event.context.converted and form not in NEVER
                    yield Draft(message, effect, help, notes=notes, rewrite=rewrite, unconverted=plain, jax=jax)


def _asked(form: str, operands: tuple[Value, ...]) -> Tensor | None:
    """The strongest tensor whose truth Python asks: of `and`, `or` and chains the last part is returned unasked."""
    if form in ("and", "or", "chained comparison"):
        operands = operands[:-1]
    tensors = [tensor for operand in operands if (tensor := as_tensor(operand, Dependence.STATIC))]
    return max(tensors, key=lambda tensor: tensor.dependence, default=None)


def _outcome(event: TruthOf, tensor: Tensor) -> tuple[Effect, str] | None:
    if event.form == "training":
        return Effect.FAILS, f"the layer tests it as a Python bool, so {REFUSED}"
    never = "AutoGraph does not convert it" if event.form in NEVER else None
    if why := unconverted(event.context, never) or never:
        return Effect.FAILS, f"{why}, so {REFUSED}"
    if event.form != "chained comparison" and (why := not_a_truth(tensor)):
        return Effect.FAILS, why
    if tensor.dependence is Dependence.VALUE:
        return Effect.NAMED, f"this compiles only because AutoGraph converts it; {KERAS_3}"
    return None
