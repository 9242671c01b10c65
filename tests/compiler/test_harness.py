"""The harness sees what it is meant to see: each outcome on code whose behaviour is certain."""

from __future__ import annotations

import pytest

from tests.compiler import Call, Measured, measure
from xlalint.linter.rule import Behaviour, Compiles, Diverges, Fails, Recompiles

pytestmark = pytest.mark.compiler

LAYER = """
class L(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return {body}
"""
OUTCOMES: dict[str, tuple[str, tuple[str, ...], Behaviour]] = {
    "a function": ("def f(x):\n    return x * 2.0", ("f32[4]",), Compiles()),
    "several shapes, each compiled": ("def f(x):\n    return x * 2.0", ("f32[2..4]",), Recompiles("shape")),
    "a size from a value": ("def f(x, n):\n    return x[:n]", ("f32[4]", "i32[]"), Recompiles()),
    "a bounded dynamic shape": ("def f(x):\n    return tf.boolean_mask(x, x > 0)", ("f32[4]",), Compiles(bounded=True)),
    "another result": ("def f(x):\n    return x + float(tf.executing_eagerly())", ("f32[4]",), Diverges()),
    "a trace error": ("def f(x):\n    return bool(x[0] > 0)", ("f32[4]",), Fails("OperatorNotAllowedInGraphError")),
    "a compile error": ("def f(x):\n    return tf.strings.as_string(x)", ("f32[4]",), Fails("AsString")),
    "strings": ("def f(x):\n    return tf.strings.length(x)", ("str[2]",), Fails("DT_STRING")),
    "a dead process": (
        "import os\n\ndef f(x):\n    if not tf.executing_eagerly():\n        os.abort()\n    return x",
        ("f32[4]",),
        Fails("died of SIGABRT"),
    ),
    "a tf.function as it is": (
        "@tf.function(jit_compile=True, autograph=False)\ndef f(x):\n    return x if x[0] > 0 else -x",
        ("f32[4]",),
        Fails("OperatorNotAllowedInGraphError"),
    ),
    "AutoGraph around a function": ("def f(x):\n    return x if x[0] > 0 else -x", ("f32[4]",), Compiles()),
    "a Keras layer": (LAYER.format(body="x * self.scale"), ("f32[4, 3]",), Compiles()),
    "no AutoGraph in a Keras layer": (
        LAYER.format(body="x if x[0, 0] > 0 else -x"),
        ("f32[4, 3]",),
        Fails("Using a symbolic `tf.Tensor` as a Python `bool`"),
    ),
    "state is the same for eager and compiled": (
        "state = tf.Variable(1.0)\n\ndef f(x):\n    state.assign_add(1.0)\n    return x * state",
        ("f32[4]",),
        Compiles(),
    ),
    "so is that of Keras objects": (
        "import keras\n\nmean = keras.metrics.Mean()\n\ndef f(x):\n    mean.update_state(x)\n    return mean.result()",
        ("f32[4]",),
        Compiles(),
    ),
}


@pytest.mark.parametrize(("code", "inputs", "behaviour"), OUTCOMES.values(), ids=OUTCOMES.keys())
def test_outcome_is_told_from_the_others(code: str, inputs: tuple[str, ...], behaviour: Behaviour) -> None:
    measured = measure(code, inputs)
    assert measured.matches(behaviour), measured
    # A compilation for each shape is no contradiction to one for all values of a shape.
    allowed = [behaviour, Compiles()] if behaviour == Recompiles("shape") else [behaviour]
    others: list[Behaviour] = [Compiles(), Compiles(bounded=True), Diverges(), Recompiles(), Recompiles("shape")]
    assert not any(measured.matches(other) for other in others if other not in allowed)


def test_code_that_breaks_in_eager_execution_proves_nothing() -> None:
    measured = measure("def f(x):\n    return missing(x)", ("f32[4]",))
    assert measured.failure is not None
    assert "NameError" in measured.failure
    assert not measured.matches(Fails("NameError"))


def test_an_example_that_does_not_end_is_stopped() -> None:
    measured = measure("import time\n\ndef f(x):\n    time.sleep(60)\n    return x", ("f32[4]",), limit=1)
    assert measured.matches(Fails("did not finish"))
    assert measure("def f(x):\n    return x", ("f32[4]",)).matches(Compiles())


def test_an_unknown_spec_is_refused() -> None:
    assert "`float` is not a dtype" in str(measure("def f(x):\n    return x", ("float[4]",)))


def test_a_plain_tf_function_is_compiled() -> None:
    assert measure("@tf.function\ndef f(x):\n    return x * 2.0", ("f32[4]",)).matches(Compiles())


def test_nothing_compiled_is_not_a_compilation() -> None:
    measured = Measured((Call(variant=0, compilations=0, bounded=False, equal=True),))
    assert measured.equal
    assert not measured.matches(Compiles())
