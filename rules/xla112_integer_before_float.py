"""An integer stands before a float tensor in a call of TensorFlow, which tracing makes an int32 tensor of.

## What it does
Reports calls such as `tf.maximum(0, x)`, `tf.pow(2, x)` and `tf.where(c, 1, x)` where `x` is a float tensor, in code
that is traced.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Not XLA but tracing fails, in a plain `tf.function` as well: a traced call gives
the first argument its dtype before it looks at the second one.

| code, for a float tensor `x` | eager execution | traced |
| --- | --- | --- |
| `tf.maximum(0, x)`, `tf.minimum`, `tf.multiply`, `tf.subtract`, `tf.pow`, `tf.where(c, 1, x)` | works | `TypeError` |
| `tf.equal(0, x)`, `tf.less(0, x)`, `tf.greater`, .. | works | `TypeError` |
| `tf.atan2(1, x)`, `tf.math.xlogy(2, x)`, `tf.math.xdivy`, `tf.math.igamma`, `tf.math.zeta` | works | `TypeError` |
| `tf.maximum([1, 2, 3], x)` | works | `TypeError` |
| `tf.maximum(x, 0)`, `2 - x`, `2 ** x`, `tf.where(c, x, 1)`, `keras.ops.maximum(0, x)` | works | works |
| `tf.divide(2, x)`, `tf.clip_by_value(x, 0, 1)` | works | works |

## Example
    hinge = tf.maximum(0, 1.0 - labels * scores)

## Use instead
    hinge = tf.maximum(1.0 - labels * scores, 0)

`tf.maximum(0.0, x)` compiles for float32 only: for float16 and float64 it fails in the same way.

## Not flagged
Tensors of integers, and tensors whose dtype the code does not show.

## Fix safety
`safe`: the arguments change places where their order does not matter, or an operator takes the place of the call, or
`tf.greater` that of `tf.less`. `unsafe` where a caller may pass something other than a tensor. Else there is no fix.

## References
- https://www.tensorflow.org/guide/function
- https://github.com/tensorflow/tensorflow/issues/56509
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence, Sequence, Static, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.contexts import NOT_TRACED
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.names import Names
from xlalint.fixes.quoted import brief, one_line
from xlalint.fixes.rewrite import Rewrite, replace
from xlalint.linter.rule import Bad, Compiles, Draft, Effect, Fails, Good, Rule, Safety
from xlalint.syntax import nodes as cst

from ._names import names

# What takes its arguments in another order, by the name that it has then.
SWAPPED: Final = {
    **{name: name for name in names("tf.maximum tf.minimum tf.multiply tf.math.squared_difference")},
    **{name: name for name in names("tf.equal tf.not_equal")},
    "tf.less": "tf.greater",
    "tf.less_equal": "tf.greater_equal",
    "tf.greater": "tf.less",
    "tf.greater_equal": "tf.less_equal",
}
# What an operator says as well, which converts its left side to the dtype of the right one.
OPERATORS: Final = {"tf.subtract": "-", "tf.pow": "**", "tf.math.floordiv": "//", "tf.math.floormod": "%"}
OTHERS: Final = names(
    """
    tf.atan2 tf.math.igamma tf.math.igammac tf.math.polygamma tf.math.xdivy tf.math.xlogy tf.math.zeta
    tf.where
    """
)
HELP: Final = "put the tensor first, or cast the number: `tf.cast(0, x.dtype)`"
FAILS: Final = Fails("int32")


class IntegerBeforeFloat(Rule):
    code = "XLA112"
    name = "integer-before-float"
    handles = (ApiCall,)
    apis = OTHERS | SWAPPED.keys() | OPERATORS.keys()
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    margin = 1.0 - tf.sqrt(tf.abs(x))
    return tf.reduce_mean(tf.maximum(0, margin))
""",
            ["tf.maximum(0, margin)"],
            FAILS,
            effect=Effect.FAILS,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    margin = 1.0 - tf.sqrt(tf.abs(x))
    return tf.reduce_mean(tf.maximum(margin, 0))
""",
            safety=Safety.SAFE,
        ),
        Bad(
            """
def rates(x, depth):
    half = tf.range(depth, dtype=tf.float32) / depth
    return x / tf.pow(10000, half), tf.subtract(1, half)

class L(tf.keras.layers.Layer):
    def call(self, x):
        angles, rest = rates(x, 4)
        return tf.sin(angles) * rest
""",
            ["tf.pow(10000, half)", "tf.subtract(1, half)"],
            FAILS,
            effect=Effect.FAILS,
            fixed="""
def rates(x, depth):
    half = tf.range(depth, dtype=tf.float32) / depth
    return x / (10000 ** half), 1 - half

class L(tf.keras.layers.Layer):
    def call(self, x):
        angles, rest = rates(x, 4)
        return tf.sin(angles) * rest
""",
            safety=Safety.SAFE,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    scale = tf.exp(x)
    return tf.where(x > 0.0, 1, scale)
""",
            ["tf.where(x > 0.0, 1, scale)"],
            FAILS,
            effect=Effect.FAILS,
            help="tf.cast(0, x.dtype)",
        ),
        Bad(
            """
from tensorflow import less

@tf.function(jit_compile=True)
def f(x):
    scale = tf.exp(x)
    return tf.cast(less(1, scale), tf.float32) * scale
""",
            ["less(1, scale)"],
            FAILS,
            effect=Effect.FAILS,
            fixed="""
from tensorflow import less

@tf.function(jit_compile=True)
def f(x):
    scale = tf.exp(x)
    return tf.cast(tf.greater(scale, 1), tf.float32) * scale
""",
            safety=Safety.SAFE,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.minimum([1, 2, 3, 4], tf.nn.relu(x / 2.0))
""",
            ["tf.minimum([1, 2, 3, 4], tf.nn.relu(x / 2.0))"],
            FAILS,
            effect=Effect.FAILS,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    return tf.minimum(tf.nn.relu(x / 2.0), [1, 2, 3, 4])
""",
            safety=Safety.UNSAFE,
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    scale = tf.exp(x)
    return tf.maximum(scale, 0) + tf.where(x > 0.0, scale, 1) + 2 ** scale + tf.divide(2, scale)
""",
            Compiles(),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.maximum(0, tf.shape(x)[0] - 2) + tf.maximum(1, tf.argmax(x, output_type=tf.int32))
""",
            Compiles(),
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        return tf.keras.ops.maximum(0, tf.exp(x)) + tf.maximum(0.0, tf.exp(x))
""",
            Compiles(),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.maximum(0, x)
""",
            Compiles(),
            inputs=("i32[4]",),
            why="the code does not show the dtype",
        ),
        Good(
            """
def f(x):
    return tf.maximum(0, tf.exp(x))

print(f(tf.ones([4])))
""",
            None,
            why="eager code",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments=arguments, context=context) if context.kind not in NOT_TRACED:
                given = [*arguments.items()][api == "tf.where" :]
                match given:
                    case [(first, number), (_, tensor), *_] if _is_integer(number) and _is_float(tensor):
                        code, integer = brief(event.node), brief(event.argument_nodes[first])
                        yield Draft(
                            f"`{code}`: tracing makes an int32 tensor of `{integer}` before it meets the float tensor,"
                            " so this raises TypeError",
                            Effect.FAILS,
                            HELP,
                            rewrite=partial(_rewrite, event.location, api),
                        )
            case _:
                pass


def _is_integer(value: Value) -> bool:
    match value:
        case Static(bool()):
            return False
        case Static(int()):
            return True
        case Static(list() | tuple() as numbers):
            return bool(numbers) and all(type(number) is int for number in numbers)
        case Sequence(items=tuple(items)):
            return bool(items) and all(map(_is_integer, items))
        case _:
            return False


def _is_float(value: Value) -> bool:
    tensor = as_tensor(value, Dependence.STATIC)
    return tensor is not None and tensor.dtype == "float"


def _rewrite(location: Location, api: str, names: Names) -> Rewrite | None:
    match location.node:
        case cst.Call(
            func=cst.Name() | cst.Attribute() as function,
            args=[cst.Arg(value=number, keyword=None, star=""), cst.Arg(value=tensor, keyword=None, star="")],
        ):
            pass
        case _:
            return None
    if api in OPERATORS:
        text = f"{_operand(number)} {OPERATORS[api]} {_operand(tensor)}"
        return Rewrite("Use the operator", (replace(location, text),))
    if api not in SWAPPED:
        return None
    name = one_line(function) if SWAPPED[api] == api else SWAPPED[api].replace("tf", names.tf, 1)
    text = f"{name}({one_line(tensor)}, {one_line(number)})"
    return Rewrite("Put the tensor first", (replace(location, text),))


def _operand(node: cst.BaseExpression) -> str:
    atom = isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.List)
    return one_line(node) if atom else f"({one_line(node)})"
