"""What goes wrong when a tensor of bounded dynamic shape (`f32[<=6]`) is consumed: measured, TensorFlow 2.21 on CPU.

XLA keeps such a tensor in a buffer of the upper bound beside its real size. Most operations honour the size; those
below do not, or cannot be compiled. Every entry carries the expression that shows it, over `m` (one dimension, 4 of at
most 6 elements) and `rows` (two dimensions, 4 of at most 6 rows), and where the form of the call decides, a harmless
expression beside it. The tests run all of them. They stay by hand: the table of calls holds calls over tensors of
static shape, and which form of a call is harmless (an axis, a `-1`, an index) is not found by varying one argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from xlalint.findings.findings import Effect

TENSORFLOW: Final = "2.21"


@dataclass(frozen=True, slots=True)
class Consumer:
    """`consequence` completes "`tf.cumsum(m)` ...". `when` is the form of the call that is meant:

    `always`; `leading`: along the first axis, which is the bounded one; `no axis`: without that argument; `filled`: of
    a tensor of constants in the bounded shape (`tf.ones_like(m)`); `full shape`: to a shape of which every dimension is
    given; `size`: the size of the bounded tensor is the argument that fixes the shape of the result.
    """

    effect: Effect
    when: str
    consequence: str
    case: str
    harmless: str | None = None


_BROKEN: Final = "has a wrong size, and returning it crashes the process"
_PADDED: Final = "has the size of the upper bound"
_SHIFTED: Final = "counts from the upper bound and returns the wrong elements"

# APIs, effect, form, consequence, the case and the harmless form; `{api}` stands for the function.
_GROUPS: Final = (
    (
        "tf.cumsum tf.math.cumprod tf.math.cumulative_logsumexp keras.ops.cumsum keras.ops.cumprod "
        "keras.backend.cumsum keras.backend.cumprod tnp.cumsum tnp.cumprod",
        (Effect.DIVERGES, "leading", _BROKEN, "tf.reduce_sum({api}(m))", "{api}(rows, axis=1)"),
    ),
    (
        "tf.reduce_sum keras.ops.sum keras.backend.sum",
        (Effect.DIVERGES, "filled", "counts the padding after the data", "{api}(tf.ones_like(m))", "{api}(m)"),
    ),
    (
        "tf.roll keras.ops.roll tnp.roll",
        (Effect.DIVERGES, "leading", _SHIFTED, "{api}(m, 1, axis=0)", "{api}(rows, 1, axis=1)"),
    ),
    (
        "tf.unique keras.ops.unique",
        (Effect.DIVERGES, "always", "counts the padding after the data as values", "{api}(m)", None),
    ),
    (
        "tf.searchsorted",
        (Effect.DIVERGES, "always", "counts the padding after the data", "tf.searchsorted(m, m[:2])", None),
    ),
    (
        "tf.linalg.diag tf.linalg.tensor_diag keras.ops.diag tnp.diag",
        (Effect.DIVERGES, "always", _PADDED, "{api}(m)", None),
    ),
    (
        "tf.linalg.diag_part keras.ops.diagonal",
        (Effect.DIVERGES, "always", _PADDED, "{api}(m[:, None] * m[None, :])", None),
    ),
    (
        "tf.squeeze keras.ops.squeeze",
        (
            Effect.FAILS,
            "no axis",
            'does not compile ("Squeeze op does not support bounded dynamic dimensions")',
            "{api}(rows[:, :1])",
            "{api}(rows[:, :1], axis=1)",
        ),
    ),
    (
        "tf.split keras.ops.split",
        (
            Effect.FAILS,
            "leading",
            'does not compile ("Split op doesn\'t support split for the dynamic dimension")',
            "{api}(m, 2)",
            "{api}(rows, 3, axis=1)",
        ),
    ),
    (
        "tf.unstack",
        (
            Effect.FAILS,
            "leading",
            "does not compile, because its length is not static",
            "tf.unstack(m, 4)",
            "tf.unstack(rows, axis=1)",
        ),
    ),
    (
        "tf.reshape keras.ops.reshape",
        (
            Effect.FAILS,
            "full shape",
            "does not compile, because XLA counts the elements of the upper bound",
            "{api}(m, (2, 2))",
            "{api}(m, (-1, 2))",
        ),
    ),
    (
        "tf.ensure_shape",
        (
            Effect.FAILS,
            "full shape",
            "does not compile, because XLA compares with the upper bound",
            "tf.ensure_shape(rows, [4, 3])",
            "tf.ensure_shape(rows, [None, 3])",
        ),
    ),
    (
        "tf.signal.fft tf.signal.ifft",
        (
            Effect.FAILS,
            "always",
            'does not compile ("Asked to propagate a dynamic dimension")',
            "{api}(tf.cast(m, tf.complex64))",
            None,
        ),
    ),
    (
        "tf.signal.rfft tf.signal.frame tf.signal.stft",
        (
            Effect.FAILS,
            "always",
            "needs a length that is a compile-time constant, and does not compile",
            "{api}(m, *((2, 1) if {api} is not tf.signal.rfft else ()))",
            None,
        ),
    ),
    (
        "tf.math.invert_permutation",
        (
            Effect.FAILS,
            "always",
            'does not compile ("Dynamic reshape is not implemented")',
            "tf.math.invert_permutation(tf.argsort(m))",
            None,
        ),
    ),
)


def _consumers() -> Iterator[tuple[str, Consumer]]:
    for names, (effect, when, consequence, case, harmless) in _GROUPS:
        for api in names.split():
            beside = harmless.replace("{api}", api) if harmless is not None else None
            yield api, Consumer(effect, when, consequence, case.replace("{api}", api), beside)


# By the canonical name of the API that gets the bounded tensor.
CONSUMERS: Final = dict(_consumers())

# By the form of the first item of a subscript.
INDEXING: Final = {
    "negative": Consumer(Effect.DIVERGES, "leading", _SHIFTED, "m[-1]", "rows[:, -1]"),
    "tail": Consumer(
        Effect.DIVERGES,
        "leading",
        f"{_SHIFTED}; in one dimension, returning it crashes the process",
        "rows[-2:]",
        "m[:-2]",
    ),
    "stride": Consumer(
        Effect.FAILS,
        "leading",
        'does not compile ("XLA has not implemented dynamic sized slice with non-trival stride yet")',
        "m[::2]",
        "rows[:, ::2]",
    ),
}

# By the API that gets the size of a bounded tensor (`tf.size(m)`). All others that fix a shape by it follow the size.
SIZED: Final = {
    "tf.eye": Consumer(Effect.DIVERGES, "size", _PADDED, "tf.eye(tf.size(m))", "tf.ones([tf.size(m)])"),
    "tf.one_hot": Consumer(
        Effect.FAILS,
        "size",
        "needs a depth that is a compile-time constant, and does not compile",
        "tf.one_hot([0, 1], tf.size(m))",
        "tf.one_hot([0, 1], 6)[:, :tf.size(m)]",
    ),
    "tf.linspace": Consumer(
        Effect.FAILS,
        "size",
        "needs a number that is a compile-time constant, and does not compile",
        "tf.linspace(0.0, 1.0, tf.size(m))",
        "tf.range(tf.size(m))",
    ),
}
