"""An `assert` statement tests a tensor.

## What it does
Reports an `assert` on a tensor during tracing.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU. Tracing raises `OperatorNotAllowedInGraphError`, with and without
AutoGraph, even for tensors computed from shapes. The replacement `tf.debugging.assert_greater` compiles, but XLA
ignores it: a failing assertion goes unnoticed.

## Example
    assert tf.reduce_min(x) >= 0.0

## Use instead
    tf.debugging.assert_greater_equal(tf.reduce_min(x), 0.0)  # checked in eager execution only

Where the check matters, do it outside the compiled code: in the input pipeline, or on what the step returns.

## Not flagged
Assertions on Python values (shapes, ranks, dtypes, `is None`, `isinstance`), and all eager code.

## Fix safety
`unsafe`: in eager execution a failing assertion raises `InvalidArgumentError` instead of `AssertionError`. In compiled
code it raises nothing.

## References
- https://www.tensorflow.org/xla/known_issues
- https://www.tensorflow.org/api_docs/python/tf/debugging
"""

from collections.abc import Iterator
from functools import partial

from xlalint.analysis.domain.kinds import as_tensor
from xlalint.analysis.domain.values import Dependence
from xlalint.analysis.interpreter.events import AssertOn, Event
from xlalint.fixes import logic
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, Runs, Safety, origin_note
from xlalint.syntax import nodes as cst

from ._control import REFUSED, of_a_tensor
from ._jax import tested

NOT_A_BOOL = Fails("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed")


class AssertOnTensor(Rule):
    code = "XLA105"
    name = "assert-on-tensor"
    traced = True
    handles = (AssertOn,)
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    assert tf.reduce_min(x) > -1e9
    return tf.sqrt(tf.abs(x))
""",
            ["tf.reduce_min(x) > -1e9"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.debugging.assert_greater(tf.reduce_min(x), -1e9)",
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def f(x):
    tf.debugging.assert_greater(tf.reduce_min(x), -1e9)
    return tf.sqrt(tf.abs(x))
""",
        ),
        Bad(
            """
def check_length(t, length):
    assert tf.shape(t)[0] == length, "wrong length"

@tf.function(jit_compile=True)
def f(x):
    check_length(x, 4)
    return x
""",
            ["tf.shape(t)[0] == length"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.debugging.assert_equal(tf.shape(t)[0], length)",
            safety=Safety.UNSAFE,
            fixed="""
def check_length(t, length):
    tf.debugging.assert_equal(tf.shape(t)[0], length, message="wrong length")

@tf.function(jit_compile=True)
def f(x):
    check_length(x, 4)
    return x
""",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        assert self.scale > 0.0
        return x * self.scale
""",
            ["self.scale > 0.0"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            safety=Safety.UNSAFE,
            fixed="""
class L(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        tf.debugging.assert_greater(self.scale, 0.0)
        return x * self.scale
""",
        ),
        Bad(
            """
from tensorflow import math as tfm

@tf.function(jit_compile=True)
def f(x):
    finite = tf.reduce_all(tfm.is_finite(x))
    def checked():
        assert finite
        return x * 2.0
    return checked()
""",
            ["finite"],
            NOT_A_BOOL,
            effect=Effect.FAILS,
            help="tf.debugging.Assert(finite, [finite])",
            safety=Safety.UNSAFE,
            fixed="""
from tensorflow import math as tfm

@tf.function(jit_compile=True)
def f(x):
    finite = tf.reduce_all(tfm.is_finite(x))
    def checked():
        tf.debugging.Assert(finite, [finite])
        return x * 2.0
    return checked()
""",
        ),
    )
    good = (
        Good(
            """
class L(tf.keras.layers.Layer):
    def call(self, x, mask=None):
        assert x.shape[-1] == 3 and len(x.shape) == 2
        assert mask is None or mask.dtype == tf.bool
        return x * 2.0
""",
            inputs=("f32[4, 3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    assert isinstance(x, tf.Tensor), f"a tensor is wanted, not {x}"
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    tf.debugging.assert_greater(tf.reduce_max(tf.abs(x)), 0.0)
    return x
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    parts = tf.split(x, 2)
    assert len(parts) == 2 and parts
    return tf.add_n(parts)
""",
        ),
        Good(
            """
def norm(x):
    return tf.linalg.norm(x)

class TestNorm:
    def test_of_nothing(self):
        assert norm(tf.zeros([3])) == 0
""",
            Runs(),
            target="tpu",
            why="pytest runs it",
        ),
        Good(
            """
import numpy as np

LIMITS = np.array([0.0, 1.0])

@tf.function(jit_compile=True)
def f(x):
    assert LIMITS[0] < LIMITS[1]
    return tf.clip_by_value(x, LIMITS[0], LIMITS[1])
""",
        ),
        Good(
            """
class ScalingTest(tf.test.TestCase):
    def test_scaling(self):
        result = tf.ones([4]) * 2.0
        assert tf.reduce_sum(result) == 8.0
""",
            None,
            why="eager code of a test",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case AssertOn(test=test, location=location) if tensor := as_tensor(test, Dependence.STATIC):
                what = f"`assert` on {of_a_tensor(tensor)}"
                message = f"{what}: AutoGraph does not convert it, so {REFUSED}"
                node = location.node
                help = logic.assertion(node) + logic.IGNORED if isinstance(node, cst.BaseExpression) else None
                rewrite = partial(logic.asserted, location, test)
                notes, jax = origin_note(tensor.origin, event), tested(tensor, what)
                yield Draft(message, Effect.FAILS, help, notes=notes, rewrite=rewrite, jax=jax)
