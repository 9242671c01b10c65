"""The harness of Keras's JAX backend sees what it is meant to see: each outcome on code whose behaviour is certain."""

from __future__ import annotations

import pytest

from xlalint.authoring.on_jax import measure, outcome
from xlalint.facts.tables import Outcome
from xlalint.linter.rule import Behaviour, Compiles, Diverges, Fails, Recompiles

pytestmark = pytest.mark.compiler

LAYER = """
import keras
from keras import ops

class L(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x):
        self.calls.assign_add(1.0)
        return {body}
"""
OUTCOMES: dict[str, tuple[str, tuple[str, ...], Behaviour]] = {
    "a function": ("def f(x):\n    return x * 2.0", ("f32[4]",), Compiles()),
    "a dtype of two bytes": ("def f(x):\n    return x * 2", ("bf16[4]",), Compiles()),
    "several shapes, each compiled": ("def f(x):\n    return x * 2.0", ("f32[2..4]",), Recompiles("shape")),
    "a layer with state": (LAYER.format(body="x * self.scale + self.calls"), ("f32[4, 3]",), Compiles()),
    "a branch": (LAYER.format(body="x if x[0, 0] > 0 else -x"), ("f32[4, 3]",), Fails("TracerBoolConversionError")),
    "a mask": (LAYER.format(body="x[x > 0.5]"), ("f32[4, 3]",), Fails("NonConcreteBooleanIndexError")),
    "a slice": ("def f(x, n):\n    return x[:n]", ("f32[4]", "i32[]"), Fails("IndexError: Slice entries")),
    "another result": (
        "import jax\n\ndef f(x):\n    return x + float(isinstance(x, jax.core.Tracer))",
        ("f32[4]",),
        Diverges(),
    ),
    "random numbers of a layer": (
        "import keras\n\nclass L(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.drop = keras.layers.Dropout(0.5, seed=1)\n\n    def call(self, x):\n"
        "        return self.drop(x, training=True)",
        ("f32[4, 3]",),
        Compiles(),
    ),
    "a metric": (
        "import keras\n\nclass L(keras.metrics.Mean):\n    pass",
        ("f32[4]",),
        Compiles(),
    ),
    "a static Python value": ("def f(x, n):\n    return x[:n]", ("f32[4]", "2"), Compiles()),
    "a jitted function as it is": (
        "import jax\n\n@jax.jit\ndef f(x):\n    return x * 2.0",
        ("f32[4]",),
        Compiles(),
    ),
    "a tracer that leaks": (
        "import jax\nimport keras\n\ncount = keras.Variable(0.0)\n\n@jax.jit\ndef f(x):\n"
        "    count.assign(count + x[0])\n    return x",
        ("f32[4]",),
        Fails("UnexpectedTracerError"),
    ),
    "a value from the host": (
        "import functools\nimport jax\n\nsizes = iter(range(1, 99))\n\n"
        "@functools.partial(jax.jit, static_argnums=1)\ndef inner(x, n):\n    return x * n\n\n"
        "def f(x):\n    return x\n\nf = lambda x: inner(x, next(sizes)) * 0.0\nf.lower = f.clear_cache = None",
        ("f32[4]",),
        Recompiles(),
    ),
}


@pytest.mark.parametrize(("code", "inputs", "behaviour"), OUTCOMES.values(), ids=OUTCOMES.keys())
def test_outcome_is_told_from_the_others(code: str, inputs: tuple[str, ...], behaviour: Behaviour) -> None:
    measured = measure(code, inputs)
    assert measured.matches(behaviour), measured
    allowed = [behaviour, Compiles()] if behaviour == Recompiles("shape") else [behaviour]
    others: list[Behaviour] = [Compiles(), Diverges(), Recompiles(), Recompiles("shape")]
    assert not any(measured.matches(other) for other in others if other not in allowed)


def test_code_that_breaks_in_eager_execution_proves_nothing() -> None:
    measured = measure("def f(x):\n    return x.numpy()", ("f32[4]",))
    assert measured.failure is not None
    assert "AttributeError" in measured.failure
    assert outcome(measured) is Outcome.UNTESTED
    assert "JAX has no strings" in str(measure("def f(x):\n    return x", ("str[2]",)))


def test_a_process_that_dies_or_hangs_is_told_of_and_replaced() -> None:
    assert measure("import os\n\ndef f(x):\n    os.abort()").matches(Fails("died of SIGABRT"))
    assert measure("import time\n\ndef f(x):\n    time.sleep(60)", limit=2).matches(Fails("did not finish"))
    assert measure("def f(x):\n    return x + 1").matches(Compiles())
