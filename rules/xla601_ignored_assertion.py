"""XLA ignores assertions about values and compiles the program without them.

## What it does
Reports `tf.debugging.assert_*`, `tf.Assert` and `tf.debugging.check_numerics` on tensors in code that XLA compiles. The
severity is `info`. It is `warning` if the code depends on the assertion (`tf.control_dependencies`, a result that is
used).

## What XLA does
Measured with TensorFlow 2.21 on a CPU. XLA silently drops the check. If the values violate it, eager execution and a
plain `tf.function` raise `InvalidArgumentError`, while the compiled function continues. This also holds inside
`tf.control_dependencies`, for `check_numerics` (infinities pass), and for sizes from `tf.shape(x)`.

Assertions on values known at trace time are checked: `assert_rank`, `assert_shapes`, `assert_type`, and
`tf.ensure_shape` of a static shape.

## Example
    with tf.control_dependencies([tf.debugging.assert_less(ids, limit)]):
        rows = tf.gather(table, ids)

## Use instead
    rows = tf.gather(table, tf.clip_by_value(ids, 0, limit - 1))

Or return the condition with the result and check it outside the compiled function.

## Not flagged
Assertions about static ranks, shapes and dtypes, Python values, and code that XLA does not compile.

## Fix safety
Shown only: you have to decide what a violation means.

## References
- https://github.com/huggingface/transformers/pull/19030
- https://www.tensorflow.org/xla/known_issues
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import of_the_trace
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.quoted import brief, parent
from xlalint.linter.rule import Bad, Compiles, Diverges, Draft, Effect, Good, Rule, Severity
from xlalint.syntax import nodes as cst

from ._names import names

# Those that hand their tensor on: that the result is used says nothing.
HANDING_ON = frozenset(("tf.debugging.assert_all_finite", "tf.debugging.check_numerics"))
ASSERTIONS = names(
    """
    tf.Assert tf.assert_equal tf.assert_greater tf.assert_less tf.debugging.assert_greater_equal
    tf.debugging.assert_less_equal tf.debugging.assert_near tf.debugging.assert_negative
    tf.debugging.assert_non_negative tf.debugging.assert_non_positive tf.debugging.assert_none_equal
    tf.debugging.assert_positive
    """
)


class IgnoredAssertion(Rule):
    code = "XLA601"
    name = "ignored-assertion"
    handles = (ApiCall,)
    apis = ASSERTIONS | HANDING_ON
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    try:
        tf.debugging.assert_positive(x)
    except tf.errors.InvalidArgumentError:
        return x * 0.0
    return x
""",
            ["tf.debugging.assert_positive(x)"],
            Diverges(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
def checked(x):
    with tf.control_dependencies([tf.debugging.assert_less(x, 1e9)]):
        return tf.identity(x)

@tf.function(jit_compile=True)
def f(x):
    return checked(x)
""",
            ["tf.debugging.assert_less(x, 1e9)"],
            Compiles(),
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
        ),
        Bad(
            """
from tensorflow.debugging import check_numerics as finite

class L(tf.keras.layers.Layer):
    def call(self, x):
        return finite(tf.exp(x), "overflow")
""",
            ['finite(tf.exp(x), "overflow")'],
            Compiles(),
            effect=Effect.DIVERGES,
            severity=Severity.INFO,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def call(self, x):
        small = tf.Assert(tf.reduce_all(x < 1e9), [x])
        with tf.control_dependencies([small]):
            return x + 1.0
""",
            ["tf.Assert(tf.reduce_all(x < 1e9), [x])"],
            None,
            effect=Effect.DIVERGES,
            severity=Severity.WARNING,
            why="eagerly `tf.Assert` gives None, which `tf.control_dependencies` refuses",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    tf.debugging.assert_rank(x, 1)
    tf.debugging.assert_shapes([(x, ("n",))])
    return x
""",
        ),
        Good(
            """
def f(x):
    tf.debugging.assert_less(x, 1e9)
    return x

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).map(f)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
@tf.function
def f(x):
    tf.debugging.assert_less(x, 1e9)
    return x
""",
            None,
            why="a plain `tf.function` checks",
        ),
        Good(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        tf.debugging.assert_positive(size)

    def call(self, x):
        return x
""",
            None,
            why="a Python number, checked when the layer is made",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.clip_by_value(x, 0.0, 1.0)\n"),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=api, arguments=arguments) if event.context.kind is ContextKind.XLA and any(
                of_the_trace(value) for value in arguments.values()
            ):
                waited = api not in HANDING_ON and not isinstance(parent(event.location), cst.Expr)
                message = f"XLA ignores `{brief(event.location.node)}` and compiles the program without the check"
                if waited:
                    message += "; the code that depends on it always runs"
                yield Draft(message, Effect.DIVERGES, HELP, at_most=Severity.WARNING if waited else Severity.INFO)


HELP = "make violations harmless (`tf.clip_by_value`, `tf.where`), or return the condition and check it outside"
