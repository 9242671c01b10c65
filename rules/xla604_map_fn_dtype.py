"""`tf.map_fn` declares another dtype than its function returns, so XLA misreads the bits.

## What it does
Reports `tf.map_fn` if its function returns another kind of dtype than `fn_output_signature` declares, or, without that
argument, than the elements have.

## What XLA does
Measured with TensorFlow 2.21 on a CPU. Eager execution and a plain `tf.function` raise `InvalidArgumentError`
("TensorArray dtype is float32 but Op is trying to write dtype int32"). The compiled function returns garbage:
`tf.map_fn(lambda a: tf.cast(a, tf.int32), x)` returns 1.4e-45, 2.8e-45, .. for 1.0, 2.0, ...

## Example
    counts = tf.map_fn(lambda row: tf.math.count_nonzero(row), rows)

## Use instead
    counts = tf.map_fn(lambda row: tf.math.count_nonzero(row), rows, fn_output_signature=tf.int64)

Or use an operation on the whole tensor: `tf.math.count_nonzero(rows, axis=1)`.

## Not flagged
Functions whose dtype is unknown, nested results, and `tf.vectorized_map`, which infers the dtype.

## Fix safety
Shown only: you have to choose the width of the dtype (`tf.int32`, `tf.int64`).

## References
- https://www.tensorflow.org/api_docs/python/tf/map_fn
- https://github.com/tensorflow/tensorflow/issues/124872
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Static, Tensor, Value
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.analysis.library.api import named_dtype
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Diverges, Draft, Effect, Good, Rule

USUAL = {"bool": "tf.bool", "int": "tf.int32", "float": "tf.float32", "complex": "tf.complex64"}


class MapFnDtype(Rule):
    code = "XLA604"
    name = "map-fn-dtype"
    handles = (ApiCall,)
    apis = frozenset(("tf.map_fn",))
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    try:
        return tf.map_fn(lambda a: tf.cast(a * 100.0, tf.int32), x * 2.0)
    except tf.errors.InvalidArgumentError:
        return tf.fill([4], -7.0)
""",
            ["tf.map_fn(lambda a: tf.cast(a * 100.0, tf.int32), x * 2.0)"],
            Diverges(),
            effect=Effect.DIVERGES,
            help="fn_output_signature=tf.int32",
        ),
        Bad(
            """
def positive(row):
    return tf.reduce_sum(row) > 0.0

class L(tf.keras.layers.Layer):
    def call(self, x):
        try:
            return tf.map_fn(positive, x, fn_output_signature=tf.float32)
        except tf.errors.InvalidArgumentError:
            return tf.fill([2], -7.0)
""",
            ["tf.map_fn(positive, x, fn_output_signature=tf.float32)"],
            Diverges(),
            inputs=("f32[2, 4]",),
            effect=Effect.DIVERGES,
            help="fn_output_signature=tf.bool",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    def best(row):
        return tf.argmax(row, output_type=tf.int32)

    return tf.map_fn(fn=best, elems=x * 2.0)
""",
            ["tf.map_fn(fn=best, elems=x * 2.0)"],
            None,
            inputs=("f32[2, 4]",),
            effect=Effect.DIVERGES,
            why="eager execution fails",
        ),
        Bad(
            """
from tensorflow import map_fn

@tf.function(jit_compile=True)
def f(ids):
    return map_fn(lambda one: tf.cast(one, tf.float32) / 3.0, tf.argsort(ids))
""",
            ["map_fn(lambda one: tf.cast(one, tf.float32) / 3.0, tf.argsort(ids))"],
            None,
            effect=Effect.DIVERGES,
            why="eager execution fails",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(lambda a: tf.cast(a, tf.int32), x, fn_output_signature=tf.int32)
""",
        ),
        Good("@tf.function(jit_compile=True)\ndef f(x):\n    return tf.map_fn(lambda a: a * 2.0, x)\n"),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.vectorized_map(lambda a: tf.cast(a, tf.int32), x)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.map_fn(lambda a: tf.cast(a, tf.int32), x, dtype=tf.int32)
""",
            why="the older name of the parameter",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    pair = tf.map_fn(lambda a: (a, a > 0.0), x, fn_output_signature=(tf.float32, tf.bool))
    return pair[0]
""",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(arguments=arguments, result=Tensor(dtype=str() as given), node=node):
                told = _told(arguments.get("fn_output_signature"), arguments.get("dtype"), arguments.get("elems"))
                if told is not None and told != given:
                    yield Draft(
                        f"`{brief(node)}` declares {told}, but its function returns {given}: eager execution raises, "
                        "and XLA reads the bits of one dtype as the other",
                        Effect.DIVERGES,
                        f"fn_output_signature={USUAL.get(given, given)}",
                    )


def _told(signature: Value | None, dtype: Value | None, elements: Value | None) -> str | None:
    """The kind of dtype that the result is said to have; None where that is not known."""
    for said in (signature, dtype):
        if said is not None and said != Static(None):
            return named_dtype(said)
    tensor = as_tensor(elements) if elements is not None else None
    return tensor.dtype if tensor is not None else None
