"""The result is undefined and differs under XLA: integer division by zero, a cast of NaN or infinity, the order of NaN.

## What it does
Reports, in compiled code and with the severity `info`: integers divided by a tensor from data (`//`, `%`), casts of a
quotient or logarithm to an integer, and maxima, minima and sorts of one. The severity is `warning` for a test whether
such a maximum is NaN, because it never is.

## What XLA does
Measured with TensorFlow 2.21 on a CPU.

| code | eager execution | compiled |
| --- | --- | --- |
| `5 // 0`, `5 % 0` on integer tensors | `InvalidArgumentError` | -1, 5 |
| `tf.cast` of NaN to int32 | the smallest integer | 0 |
| `tf.cast` of infinity or 3e9 to int32 | the smallest integer | the nearest integer |
| `tf.cast` of 300.0 to uint8 | 44 | 255 |
| `tf.reduce_max`, `tf.reduce_min`, `tf.math.unsorted_segment_max` with a NaN | NaN | the extreme of the others |

`tf.argmax`, `tf.argmin`, `tf.sort` and `tf.argsort` order NaN differently.

## Example
    share = tf.cast(hits / total, tf.int32)
    groups = count // size

## Use instead
    share = tf.cast(tf.math.divide_no_nan(hits, total), tf.int32)
    groups = count // tf.maximum(size, 1)

## Not flagged
- Divisors that are numbers, come from shapes, were clipped, or have a number added.
- Quotients of numbers, casts of other floats, and code that XLA does not compile.

## Fix safety
Shown only: you have to decide what a division by zero means.

## References
- https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan
- https://github.com/tensorflow/tensorflow/issues/120232
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Value
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, DivideBy, Event
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Good, Rule, Severity
from xlalint.syntax import nodes as cst

from ._names import names
from ._provenance import HANDING_ON, Provenance

CASTS = frozenset(("tf.cast", "keras.ops.cast"))
EXTREMES = frozenset(("tf.reduce_max", "tf.reduce_min", "keras.ops.max", "keras.ops.min"))
ORDERS = names(
    """
    tf.argmax tf.argmin tf.sort tf.argsort keras.ops.argmax keras.ops.argmin keras.ops.sort keras.ops.argsort
    """
)
DIVISIONS = frozenset(("tf.math.floordiv", "tf.math.floormod", "tf.truncatediv"))
NAN_TESTS = frozenset(("tf.math.is_nan", "tf.math.is_finite", "keras.ops.isnan", "keras.ops.isfinite"))
# What may be NaN or infinite for finite input.
UNBOUNDED = names(
    """
    keras.ops.divide keras.ops.exp keras.ops.log keras.ops.power tf.divide tf.exp tf.math.log tf.math.reciprocal
    tf.math.rsqrt tf.pow tf.truediv
    """
)
# What gives no zero, or is said to be clipped.
CLIPPED = frozenset(("tf.maximum", "keras.ops.maximum", "tf.clip_by_value", "keras.ops.clip", "tf.where"))


class UndefinedNumber(Rule):
    code = "XLA605"
    name = "undefined-number"
    handles = (ApiCall, DivideBy)
    apis = CASTS | EXTREMES | ORDERS | DIVISIONS | NAN_TESTS | UNBOUNDED | CLIPPED | HANDING_ON
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cast(tf.math.log(x), tf.int32)
""",
            ["tf.cast(tf.math.log(x), tf.int32)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(scores, size):
    count = tf.argsort(scores)
    try:
        return count // (size - 1)
    except tf.errors.InvalidArgumentError:
        return count * 100
""",
            ["count // (size - 1)"],
            Diverges(),
            inputs=("f32[4]", "i32[4]"),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
            help="tf.maximum(",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        ratio = tf.math.log(x)
        return tf.reduce_max(ratio)
""",
            ["tf.reduce_max(ratio)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
def guarded(x):
    largest = tf.reduce_max(x)
    return tf.where(tf.math.is_nan(largest), 0.0, largest)

@tf.function(jit_compile=True)
def f(x):
    return guarded(tf.sqrt(x))
""",
            ["tf.math.is_nan(largest)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
from tensorflow.math import floormod

@tf.function(jit_compile=True)
def f(scores, size):
    return floormod(tf.argsort(scores), size)
""",
            ["floormod(tf.argsort(scores), size)"],
            Compiles(),
            inputs=("f32[4]", "i32[4]"),
            effect=Effect.DIVERGES,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(count, size):
    return count // tf.maximum(size, 1) + count % 4 + count // (size + 1)
""",
            inputs=("i32[4]", "i32[4]"),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cast(x * 3.0, tf.int32)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return x // 0.7 + x % 2.0
""",
            why="floats divide as IEEE says",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cast(x / 4.0, tf.int32) + tf.range(4) // tf.shape(x)[0]
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.where(tf.reduce_any(tf.math.is_nan(x)), 0.0, tf.reduce_max(x))
""",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.reduce_max(tf.abs(x))\n"),
    )

    def __init__(self) -> None:
        self._provenance = Provenance()

    def check(self, event: Event) -> Iterator[Draft]:
        if isinstance(event, ApiCall):
            self._provenance.remember(event)
        if event.context.kind is not ContextKind.XLA:
            return
        match event:
            case DivideBy(left=left, right=right, sign=sign) if sign != "/" and (_integer(left) or _integer(right)):
                divisor = _divisor(event.location.node)
                if divisor is not None and as_tensor(right) is not None and not self._nonzero(event, divisor):
                    yield _zero(event, sign, divisor)
            case ApiCall(api=api, arguments=arguments, argument_nodes=nodes) if api in DIVISIONS and "y" in nodes:
                whole = any(_integer(arguments[name]) for name in ("x", "y") if name in arguments)
                if whole and as_tensor(arguments["y"]) is not None and not self._nonzero(event, nodes["y"]):
                    yield _zero(event, "%" if "mod" in api else "//", nodes["y"])
            case ApiCall(api=api, result=result) if api in CASTS and _integer(result) and self._unbounded(event):
                yield Draft(f"`{brief(event.node)}`: {CAST}", Effect.DIVERGES, FINITE, at_most=Severity.INFO)
            case ApiCall(api=api) if api in EXTREMES and self._unbounded(event):
                yield Draft(f"`{brief(event.node)}`: {EXTREME}", Effect.DIVERGES, FINITE, at_most=Severity.INFO)
            case ApiCall(api=api) if api in ORDERS and self._unbounded(event):
                yield Draft(f"`{brief(event.node)}`: {ORDER}", Effect.DIVERGES, FINITE, at_most=Severity.INFO)
            case ApiCall(api=api) if api in NAN_TESTS and self._made_by(event, EXTREMES):
                message = f"`{brief(event.node)}` tests the other elements only: {EXTREME}"
                yield Draft(message, Effect.DIVERGES, TEST_FIRST, at_most=Severity.WARNING)
            case _:
                pass

    def _made_by(self, event: ApiCall, apis: frozenset[str]) -> bool:
        """The first argument is the result of one of these."""
        first = next(iter(event.argument_nodes.values()), None)
        if first is None:
            return False
        call = self._provenance.call_at(event.location.unit, self._provenance.made(event.location.unit, first))
        return call is not None and call.api in apis

    def _unbounded(self, event: ApiCall) -> bool:
        first = next(iter(event.argument_nodes.values()), None)
        if first is None or as_tensor(next(iter(event.arguments.values()))) is None:
            return False
        match self._provenance.made(event.location.unit, first):
            case cst.BinaryOperation(operator=cst.Divide(), right=right):
                return not isinstance(right, cst.Integer | cst.Float) and not self._nonzero(event, right)
            case _:
                return self._made_by(event, UNBOUNDED)

    def _nonzero(self, event: Event, node: cst.BaseExpression) -> bool:
        """A divisor that was clipped, or to which a number is added."""
        unit = event.location.unit
        made = self._provenance.made(unit, node)
        call = self._provenance.call_at(unit, made)
        added = isinstance(made, cst.BinaryOperation) and isinstance(made.operator, cst.Add)
        return added or (call is not None and call.api in CLIPPED)


CAST = "for NaN, infinity and numbers out of range, XLA returns another integer than eager execution"
EXTREME = "if an element is NaN, XLA returns the extreme of the others, and eager execution NaN"
ORDER = "XLA orders NaN differently than eager execution"
FINITE = "make it finite first: tf.math.divide_no_nan(a, b), tf.math.log(tf.maximum(x, 1e-12))"
TEST_FIRST = "test the elements: tf.reduce_any(tf.math.is_nan(x))"


def _integer(value: Value) -> bool:
    tensor = as_tensor(value)
    return tensor is not None and tensor.dtype == "int"


def _divisor(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.BinaryOperation(right=right):
            return right
        case cst.AugAssign(value=value):
            return value
        case _:
            return None


def _zero(event: Event, sign: str, divisor: cst.BaseExpression) -> Draft:
    gives = "-1" if sign == "//" else "the dividend"
    return Draft(
        f"`{brief(event.location.node)}`: if the divisor is 0, XLA returns {gives}, and eager execution raises",
        Effect.DIVERGES,
        f"tf.maximum({brief(divisor)}, 1), or tf.where({brief(divisor)} == 0, ..) around it",
        at_most=Severity.INFO,
    )
