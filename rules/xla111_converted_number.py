"""AutoGraph converts `int(t)` to an int32 tensor, which meets a float tensor.

## What it does
Reports operators between a float tensor and the result of `int(t)`, in code that AutoGraph converts.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Not XLA but tracing fails, in a plain `tf.function` as well:

| code | eager execution | traced with AutoGraph |
| --- | --- | --- |
| `n = int(t)` | a Python number | `tf.cast(t, tf.int32)` |
| `x / n`, `n * x`, `x < n` for a float tensor `x` | `n` gets the dtype of `x` | `TypeError`: the dtypes differ |
| `x / n` for an int32 tensor `x` | works | works |
| `x[:n]`, `tf.reshape(x, [n])` | works | works |

Without AutoGraph, and so in Keras 3, `int(t)` itself fails: see XLA106. `float(t)` becomes a float32 tensor.

## Example
    count = int(tf.reduce_sum(mask))
    return tf.reduce_sum(loss * mask) / count

## Use instead
    count = tf.reduce_sum(mask)
    return tf.reduce_sum(loss * mask) / count

## Not flagged
- Integers. If the code does not show the dtype of the tensor, only divisions are reported, as a warning.
- Sizes and slices, Python numbers, and numbers that are cast again.

## Fix safety
`unsafe`: the cast fails in eager execution for a number that int32 cannot hold. There is a fix only if the tensor has a
name.

## References
- https://www.tensorflow.org/guide/function#autograph_transformations
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.values import Tensor
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, MixNumber
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief
from xlalint.fixes.rewrite import Rewrite, replace
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Fails, Good, Rule, Safety, Severity
from xlalint.syntax import nodes as cst

FAILS = Fails("TypeError")


class ConvertedNumber(Rule):
    code = "XLA111"
    name = "converted-number"
    handles = (MixNumber,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, seen):
    mask = tf.cast(seen, tf.float32)
    count = int(tf.reduce_sum(mask))
    kept = tf.nn.relu(x) * mask
    return kept / count
""",
            ["kept / count"],
            FAILS,
            inputs=("f32[4]", "bool[4]"),
            effect=Effect.FAILS,
            fixed="""
@tf.function(jit_compile=True)
def f(x, seen):
    mask = tf.cast(seen, tf.float32)
    count = int(tf.reduce_sum(mask))
    kept = tf.nn.relu(x) * mask
    return kept / tf.cast(count, kept.dtype)
""",
            safety=Safety.UNSAFE,
        ),
        Bad(
            """
def size_of(mask):
    return int(tf.math.count_nonzero(mask)) + 1

@tf.function(jit_compile=True)
def f(x):
    return size_of(x > 0.0) * tf.reduce_mean(x / 2.0)
""",
            ["size_of(x > 0.0) * tf.reduce_mean(x / 2.0)"],
            FAILS,
            effect=Effect.FAILS,
            help="tf.cast(",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    largest = tf.sqrt(tf.abs(x) + 0.5)
    return tf.where(largest < int(tf.argmax(x)), 1.0, 0.0)
""",
            ["largest < int(tf.argmax(x))"],
            FAILS,
            effect=Effect.FAILS,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    largest = tf.sqrt(tf.abs(x) + 0.5)
    return tf.where(largest < tf.cast(int(tf.argmax(x)), largest.dtype), 1.0, 0.0)
""",
            safety=Safety.UNSAFE,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x, seen):
    count = int(tf.reduce_sum(tf.cast(seen, tf.int32)))
    return tf.reduce_sum(tf.where(seen, x, 0)) / count
""",
            ["tf.reduce_sum(tf.where(seen, x, 0)) / count"],
            FAILS,
            inputs=("f32[4]", "bool[4]"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    total = tf.reduce_sum(tf.cast(x, tf.float16))
    total -= int(tf.reduce_max(x))
    return total
""",
            ["total -= int(tf.reduce_max(x))"],
            FAILS,
            effect=Effect.FAILS,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.exp(x) / tf.cast(int(tf.argmax(x)), tf.float32)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.exp(x) / float(tf.reduce_sum(x))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.argmax(x, output_type=tf.int32) - int(tf.reduce_sum(x))
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.exp(x) / int(x.shape[0]) * int(2.5)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.gather(tf.exp(x), int(tf.argmax(x)) // 2) * 2.0
""",
        ),
        Good(
            """
def f(x):
    return tf.exp(x) / int(tf.argmax(x))

print(f(tf.ones([4])))
""",
            None,
            why="eager code",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case MixNumber(left=Tensor() as left, right=Tensor() as right, number=number):
                known = "float" in (left.dtype, right.dtype)
                so = "so this raises TypeError" if known else "so this raises TypeError unless it divides integers"
                yield Draft(
                    f"`{brief(event.location.node)}`: AutoGraph converts `{brief(number.node)}` to an int32 tensor,"
                    f" which does not combine with a float tensor, {so}",
                    Effect.FAILS,
                    "cast it to the dtype of the other tensor: `tf.cast(n, x.dtype)`",
                    notes=(DraftNote(number, "in eager execution, this is a Python number"),),
                    rewrite=partial(_cast, event.location, left.number is not None),
                    at_most=Severity.ERROR if known else Severity.WARNING,
                )
            case _:
                pass


def _cast(location: Location, is_left: bool, names: Names) -> Rewrite | None:
    """The number cast to the dtype of the other side, which has a name."""
    match location.node:
        case cst.BinaryOperation(left=left, right=right):
            pass
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            pass
        case _:
            return None
    number, other = (left, right) if is_left else (right, left)
    if not isinstance(other, cst.Name):
        return None
    text = f"{names.tf}.cast({location.unit.code(number)}, {other.value}.dtype)"
    edit = replace(Location(location.unit, number), text)
    return Rewrite("Cast the number", (edit,), Safety.UNSAFE, "for numbers that int32 cannot hold")
