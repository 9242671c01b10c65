"""What goes wrong when a tensor of bounded dynamic shape (`f32[<=6]`) is consumed: measured, TensorFlow 2.21 on CPU.

XLA keeps such a tensor in a buffer of the upper bound beside its real size. Most operations honour the size; those
below do not, or cannot be compiled. Every entry carries the expression that shows it, over `m` (one dimension, 4 of at
most 6 elements), `rows` (two dimensions, 4 of at most 6 rows), `pairs` (a row and a column for each of the rows) and
`window` (2 of 6 rows of `x`, from a position `at` that chance decides), and where the form of the call decides, a
harmless expression beside it. The tests run all of them. They stay by hand: which form of a call is harmless (an axis,
a `-1`, an index) is not found by varying one argument. What goes wrong at all is looked for by `python -m
xlalint.measuring bounded`.
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

    `always`; `along`: along a bounded axis; `inside`: bounded along another axis than the first; `square`: a matrix of
    which both sides are bounded; `filled`: of a tensor of constants in the bounded shape (`tf.ones_like(m)`); `full
    shape`: to a shape of which every dimension is given; `fixed`: a bounded dimension is given in a shape; `image`:
    bounded in height or width; `squeezed`: without an axis, or that is a bounded one of which nothing was cut; `summed
    over`: along a bounded axis of one of two matrices, the other one being whole; `size`: the size of the bounded
    tensor is the argument that fixes the shape of the result; `size of integers`: and the result is of integers.
    """

    effect: Effect
    when: str
    consequence: str
    case: str
    harmless: str | None = None


_BROKEN: Final = "has a wrong size, and returning it crashes the process"
_PADDED: Final = "has the size of the upper bound"
_SHIFTED: Final = "counts from the upper bound and returns the wrong elements"
_UNEQUAL: Final = "does not compile, because one of its sides is as large as its upper bound there"
_UNSOLVED: Final = "does not compile, because XLA has no solver for a size that data decides"

# APIs, effect, form, consequence, the case and the harmless form; `{api}` stands for the function.
_GROUPS: Final = (
    (
        "tf.cumsum tf.math.cumprod tf.math.cumulative_logsumexp keras.ops.cumsum keras.ops.cumprod "
        "keras.backend.cumsum keras.backend.cumprod tnp.cumsum tnp.cumprod",
        (Effect.DIVERGES, "along", _BROKEN, "tf.reduce_sum({api}(m))", "{api}(rows, axis=1)"),
    ),
    (
        "tf.reduce_sum keras.ops.sum keras.backend.sum",
        (Effect.DIVERGES, "filled", "counts the padding after the data", "{api}(tf.ones_like(m))", "{api}(m)"),
    ),
    (
        "tf.roll keras.ops.roll tnp.roll",
        (Effect.DIVERGES, "along", _SHIFTED, "{api}(m, 1, axis=0)", "{api}(rows, 1, axis=1)"),
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
        "tf.where",
        (
            Effect.DIVERGES,
            "inside",
            "returns the wrong indices, or ends the process",
            "tf.where(tf.transpose(rows) > 0.0)",
            "tf.where(rows > 0.0)",
        ),
    ),
    (
        "tf.linalg.trace",
        (Effect.DIVERGES, "square", "counts the padding after the data", "{api}(pairs)", "{api}(pairs[:, :3])"),
    ),
    (
        "tf.linalg.svd keras.ops.svd",
        (Effect.DIVERGES, "square", "counts the padding after the data", "{api}(pairs, compute_uv=False)", None),
    ),
    (
        "tf.linalg.pinv keras.ops.pinv",
        (Effect.DIVERGES, "square", _PADDED, "{api}(pairs)", None),
    ),
    (
        "tf.linalg.cholesky keras.ops.cholesky",
        (Effect.FAILS, "square", _UNSOLVED, "tf.reduce_sum({api}(pairs))", None),
    ),
    (
        "tf.linalg.solve tf.linalg.triangular_solve keras.ops.solve",
        (Effect.FAILS, "square", _UNSOLVED, "{api}(pairs, rows)", None),
    ),
    (
        "tf.linalg.inv tf.linalg.eigh tf.linalg.eigvalsh tf.linalg.det tf.linalg.slogdet tf.linalg.logdet "
        "tf.linalg.sqrtm tf.linalg.expm keras.ops.inv keras.ops.det",
        (Effect.FAILS, "square", _UNSOLVED, "{api}(pairs)", None),
    ),
    (
        "tf.squeeze keras.ops.squeeze",
        (
            Effect.FAILS,
            "squeezed",
            "does not compile, because a bounded dimension is as large as its upper bound there",
            "{api}(x[at : at + 1], axis=0)",
            "{api}(rows[:, :1], axis=1)",
        ),
    ),
    (
        "tf.split keras.ops.split",
        (
            Effect.FAILS,
            "along",
            'does not compile ("Split op doesn\'t support split for the dynamic dimension")',
            "{api}(m, 2)",
            "{api}(rows, 3, axis=1)",
        ),
    ),
    (
        "tf.unstack",
        (
            Effect.FAILS,
            "along",
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
            "fixed",
            "does not compile, because XLA compares with the upper bound",
            "tf.ensure_shape(window, [2, None])",
            "tf.ensure_shape(rows, [None, 3])",
        ),
    ),
    (
        "tf.image.resize keras.ops.image.resize",
        (
            Effect.DIVERGES,
            "image",
            "scales the buffer of the upper bound instead of the image in it",
            "{api}(window[None, :, :, None], [3, 3])",
            "{api}(rows[:, :, None, None], [3, 2])",
        ),
    ),
    (
        "tf.matmul keras.ops.matmul",
        (Effect.FAILS, "summed over", _UNEQUAL, "{api}(tf.ones([3, 2]), window)", "{api}(window, tf.ones([3, 2]))"),
    ),
    (
        "operator",
        (Effect.FAILS, "summed over", _UNEQUAL, "tf.ones([3, 2]) @ window", "window @ tf.ones([3, 2])"),
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
    "negative": Consumer(Effect.DIVERGES, "along", _SHIFTED, "m[-1]", "rows[:, -1]"),
    "tail": Consumer(
        Effect.DIVERGES,
        "along",
        f"{_SHIFTED}; in one dimension, returning it crashes the process",
        "rows[-2:]",
        "m[:-2]",
    ),
    "stride": Consumer(
        Effect.FAILS,
        "along",
        'does not compile ("XLA has not implemented dynamic sized slice with non-trival stride yet")',
        "m[::2]",
        "rows[:, ::2]",
    ),
}

# By the API that gets the size of a bounded tensor (`tf.size(m)`). All others that fix a shape by it follow the size.
_CONSTANT: Final = "needs a {what} that is a compile-time constant, and does not compile"
_SHAPE: Final = _CONSTANT.format(what="shape")
_DEPTH: Final = _CONSTANT.format(what="depth")
SIZED: Final = {
    "tf.eye": Consumer(Effect.DIVERGES, "size", _PADDED, "tf.eye(tf.size(m))", "tf.ones([tf.size(m)])"),
    **{
        name: Consumer(Effect.FAILS, form, consequence, case, harmless)
        for name, form, consequence, case, harmless in (
            ("tf.one_hot", "size", _DEPTH, "tf.one_hot([0, 1], tf.size(m))", "tf.one_hot([0, 1], 6)[:, :tf.size(m)]"),
            (
                "tf.linspace",
                "size",
                _CONSTANT.format(what="number"),
                "tf.linspace(0.0, 1.0, tf.size(m))",
                "tf.range(tf.size(m))",
            ),
            (
                "tf.split",
                "size",
                _CONSTANT.format(what="size"),
                "tf.split(totals, [tf.size(m), 6 - tf.size(m)])[0]",
                "totals[:tf.size(m)]",
            ),
            (
                "tf.random.truncated_normal",
                "size",
                _SHAPE,
                "tf.random.truncated_normal([tf.size(m)]) * 0.0",
                "tf.random.normal([tf.size(m)]) * 0.0",
            ),
            (
                "tf.random.stateless_truncated_normal",
                "size",
                _SHAPE,
                "tf.random.stateless_truncated_normal([tf.size(m)], [1, 2])",
                "tf.random.stateless_normal([tf.size(m)], [1, 2]) * 0.0",
            ),
            (
                "tf.random.uniform",
                "size of integers",
                _SHAPE,
                "tf.random.uniform([tf.size(m)], maxval=4, dtype=tf.int32) * 0",
                "tf.random.uniform([tf.size(m)]) * 0.0",
            ),
            (
                "tf.random.stateless_uniform",
                "size of integers",
                _SHAPE,
                "tf.random.stateless_uniform([tf.size(m)], [1, 2], 0, 4, tf.int32)",
                "tf.random.stateless_uniform([tf.size(m)], [1, 2]) * 0.0",
            ),
        )
    },
}
