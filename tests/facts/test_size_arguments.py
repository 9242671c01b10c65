"""What the table of measured calls says of sizes and positions is what the compiler does with other calls of them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.compiler import measure
from tests.compiler.claims import claim
from xlalint.linter.rule import Behaviour, Compiles, Effect, Fails, Recompiles

pytestmark = pytest.mark.compiler

FOLLOWED = import_module("xlalint.rules._followed")
IMAGE = "x[None, :, :, None]"
# By API: expressions over a matrix `x` and a value `n` of 1, 2 or 3.
SIZE_CASES = {
    "keras.backend.one_hot": ["tf.keras.backend.one_hot(tf.constant([0, 1]), n)"],
    "keras.backend.reshape": ["tf.keras.backend.reshape(x, [n * 0 + 4, -1])"],
    "keras.backend.tile": ["tf.keras.backend.tile(x, [n, 1])"],
    "keras.ops.arange": ["keras.ops.arange(n)"],
    "keras.ops.blackman": ["keras.ops.blackman(n)"],
    "keras.ops.broadcast_to": ["keras.ops.broadcast_to(x[0], [n, 4])"],
    "keras.ops.eye": ["keras.ops.eye(n)", "keras.ops.eye(4, n)"],
    "keras.ops.full": ["keras.ops.full([n], 1.0)"],
    "keras.ops.hamming": ["keras.ops.hamming(n)"],
    "keras.ops.hanning": ["keras.ops.hanning(n)"],
    "keras.ops.kaiser": ["keras.ops.kaiser(n + 2, 0.5)"],
    "keras.ops.one_hot": ["keras.ops.one_hot([0, 1], n)"],
    "keras.ops.ones": ["keras.ops.ones([n])"],
    "keras.ops.pad": ["keras.ops.pad(x, [[0, n], [0, 0]])"],
    "keras.ops.repeat": ["keras.ops.repeat(x, n, axis=0)"],
    "keras.ops.reshape": ["keras.ops.reshape(x, [n * 0 + 4, -1])"],
    "keras.ops.slice": ["keras.ops.slice(x, [0, 0], [n, 4])"],
    "keras.ops.tile": ["keras.ops.tile(x, [n, 1])"],
    "keras.ops.top_k": ["keras.ops.top_k(x, n)[0]"],
    "keras.ops.zeros": ["keras.ops.zeros([n])"],
    "keras.random.normal": ["0.0 * keras.random.normal([n])"],
    "keras.random.uniform": ["0.0 * keras.random.uniform([n])"],
    "tf.TensorArray": ["tf.TensorArray(tf.float32, size=n).write(0, 1.0).size()"],
    "tf.broadcast_to": ["tf.broadcast_to(x[0], [n, 4])"],
    "tf.eye": ["tf.eye(n)", "tf.eye(4, n)"],
    "tf.fill": ["tf.fill([n], 1.0)"],
    "tf.image.crop_to_bounding_box": [f"tf.image.crop_to_bounding_box({IMAGE}, 0, 0, n, n)"],
    "tf.image.pad_to_bounding_box": [
        f"tf.image.pad_to_bounding_box({IMAGE}, n, 0, 8, 8)",
        f"tf.image.pad_to_bounding_box({IMAGE}, 0, 0, n + 4, 8)",
    ],
    "tf.image.resize": [f"tf.image.resize({IMAGE}, [n, n])"],
    "tf.image.resize_with_crop_or_pad": [f"tf.image.resize_with_crop_or_pad({IMAGE}, n, n)"],
    "tf.linalg.diag": ["tf.linalg.diag(x[0], k=n)"],
    "tf.linalg.diag_part": ["tf.linalg.diag_part(x, k=n)"],
    "tf.linspace": ["tf.linspace(0.0, 1.0, n)"],
    "tf.math.confusion_matrix": ["tf.math.confusion_matrix([0, 0], [0, 0], n)"],
    "tf.math.top_k": ["tf.math.top_k(x, n).values"],
    "tf.one_hot": ["tf.one_hot([0, 1], n)"],
    "tf.ones": ["tf.ones([n])"],
    "tf.pad": ["tf.pad(x, [[0, n], [0, 0]])"],
    "tf.random.normal": ["0.0 * tf.random.normal([n])"],
    "tf.random.stateless_normal": ["0.0 * tf.random.stateless_normal([n], [1, 2])"],
    "tf.random.stateless_uniform": ["0.0 * tf.random.stateless_uniform([n], [1, 2])"],
    "tf.random.truncated_normal": ["0.0 * tf.random.truncated_normal([n])"],
    "tf.random.uniform": ["0.0 * tf.random.uniform([n])"],
    "tf.range": ["tf.range(n)", "tf.range(n, 5)", "tf.range(0, 12, n)"],
    "tf.repeat": ["tf.repeat(x, n, axis=0)", "tf.repeat(x, tf.stack([n, 1, 1, 1]), axis=0)"],
    "tf.reshape": ["tf.reshape(x, [n * 0 + 4, -1])"],
    "tf.scatter_nd": ["tf.scatter_nd([[0]], [1.0], [n])"],
    "tf.sequence_mask": ["tf.sequence_mask([1, 2], n)"],
    "tf.signal.hann_window": ["tf.signal.hann_window(n)"],
    "tf.signal.rfft": ["tf.abs(tf.signal.rfft(x, [n + 1]))"],
    "tf.slice": ["tf.slice(x, [0, 0], [n, 4])"],
    "tf.split": ["tf.split(x, tf.stack([n, 4 - n]), num=2)[0]"],
    "tf.strided_slice": ["tf.strided_slice(x, [0, 0], [4, 4], [n, 1])"],
    "tf.tile": ["tf.tile(x, [n, 1])"],
    "tf.zeros": ["tf.zeros([n, 2])"],
    "tnp.full": ["tf.experimental.numpy.full([n], 1.0)"],
    "tnp.tile": ["tf.experimental.numpy.tile(x, [n, 1])"],
    "tnp.zeros": ["tf.experimental.numpy.zeros([n])"],
} | {
    f"tf.math.unsorted_segment_{kind}": [f"tf.math.unsorted_segment_{kind}(x, tf.constant([0, 0, 0, 0]), n)"]
    for kind in ("max", "mean", "min", "prod", "sum")
}
CONTENT_CASES = {
    "keras.ops.bincount": ["keras.ops.bincount(tf.stack([n, 1]), minlength=5)"],
    "tf.math.bincount": ["tf.math.bincount(tf.stack([n, 1]), minlength=5, maxlength=5)"],
    "tf.math.confusion_matrix": ["tf.math.confusion_matrix(tf.stack([n, 1]), tf.stack([n, 1]))"],
    "tf.sequence_mask": ["tf.sequence_mask(tf.stack([n, 1]))"],
}
POSITION_CASES = {
    "keras.ops.slice": ["keras.ops.slice(x, [n, 0], [1, 4])"],
    "tf.image.crop_to_bounding_box": [f"tf.image.crop_to_bounding_box({IMAGE}, n, 0, 1, 1)"],
    "tf.slice": ["tf.slice(x, [n, 0], [1, 4])"],
    "tf.strided_slice": ["tf.strided_slice(x, [n, 0], [n + 1, 4])"],
    "x[n]": ["x[n]", "x[:, n]", "x[n, 0]", "x[n : n + 1]"],
}
# Windows end where the axis ends: their length is bounded.
WINDOWS = ("tf.strided_slice(x, [n, 0], [n + 1, 4])", "x[n : n + 1]")
AXIS_CASES = {
    "tf.concat": ["tf.concat([x, x], n % 2)"],
    "tf.cumsum": ["tf.cumsum(x, n % 2)"],
    "tf.expand_dims": ["tf.expand_dims(x, n % 2)"],
    "tf.gather": ["tf.gather(x, 0, axis=n % 2)"],
    "tf.reverse": ["tf.reverse(x, [n % 2])"],
    "tf.roll": ["tf.roll(x, 1, n % 2)"],
    "tf.split": ["tf.split(x, 2, n % 2)[0]"],
    "tf.transpose": ["tf.transpose(x, tf.stack([n % 2, 1 - n % 2]))"],
} | {
    f"tf.{name}": [f"tf.{name}(x, n % 2)"]
    for name in ("argmax", "argmin", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum")
}

OUTSIDE = "def f(x, n):\n    return {expression}\n"
INSIDE = """
def f(x):
    total = tf.constant(0.0)
    for n in tf.range(1, 4):
        total += tf.reduce_sum(tf.cast({expression}, tf.float32))
    return total
"""
MUST_BE_CONSTANT = Fails("must be a compile-time constant")


BOUNDED = ("keras.ops.slice", "keras.ops.top_k", "tf.image.crop_to_bounding_box", "tf.math.top_k", "tf.slice")


def cases() -> Iterator[tuple[str, Behaviour]]:
    """Every expression, and what is claimed where a loop carries the value."""
    for table in (SIZE_CASES, CONTENT_CASES):
        for api, expressions in table.items():
            for expression in expressions:
                yield expression, Compiles(bounded=True) if api in BOUNDED else MUST_BE_CONSTANT
    for expressions in POSITION_CASES.values():
        for expression in expressions:
            yield expression, Compiles(bounded=expression in WINDOWS)
    for expressions in AXIS_CASES.values():
        for expression in expressions:
            yield expression, MUST_BE_CONSTANT


ALL = list(cases())


def test_the_table_agrees_with_these_cases() -> None:
    sizes, others = FOLLOWED.names(resizes=True), FOLLOWED.names(resizes=False)
    # Their sizes must be constants too, and their contents do not make one: the length is fixed.
    fixed = {"keras.ops.bincount"}
    assert SIZE_CASES.keys() - sizes == set()
    assert CONTENT_CASES.keys() - fixed - sizes == set()
    assert (POSITION_CASES.keys() | AXIS_CASES.keys()) - {"x[n]"} - others == set()
    carried = {
        api
        for api, found in FOLLOWED.followed().items()
        for one in found
        if one.resizes and one.carried is Effect.NAMED
    }
    assert carried >= set(BOUNDED)
    assert not carried & {*SIZE_CASES, *CONTENT_CASES} - set(BOUNDED)


@pytest.mark.parametrize(
    "expression",
    [pytest.param(expression, id=expression, marks=claim(OUTSIDE, expression)) for expression, _ in ALL],
)
def test_each_value_is_a_compilation(expression: str) -> None:
    measured = measure(OUTSIDE.format(expression=expression), ["f32[4, 4]", "i32[]"])
    assert measured.matches(Recompiles()), measured


@pytest.mark.parametrize(
    ("expression", "behaviour"),
    [pytest.param(*case, id=case[0], marks=claim(INSIDE, *case)) for case in ALL],
)
def test_a_value_that_a_loop_carries(expression: str, behaviour: Behaviour) -> None:
    measured = measure(INSIDE.format(expression=expression), ["f32[4, 4]"])
    assert measured.matches(behaviour), measured
