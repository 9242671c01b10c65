"""XLA205 where a method of JAX's tensors is passed a size that is data; TensorFlow's tensors have none of these."""

from __future__ import annotations

from typing import Final

import pytest

from rules.xla205_size_from_value import SizeFromValue
from tests.compiler.claims import claim
from xlalint.authoring import examples, on_jax
from xlalint.authoring.examples import with_import
from xlalint.linter.rule import Bad, Compiles, Fails, Good

LAYER: Final = """
import keras
from keras import ops

class L(keras.layers.Layer):
    def call(self, x):
        n = ops.cast(ops.sum(x) * 0.0 + 1.0, "int32")
        return x + 0.0 * {value}
"""
REFUSED: Final = Fails("concrete value")
FLAGGED: Final = {
    "sizes": "x.reshape(-1, n)",
    "a tuple": "x.reshape((-1, n))",
    "a size": "x.reshape(4 * n)",
    "how often": "x.repeat(n)",
    "how often, along an axis": "x.repeat(n, axis=0)",
}
SILENT: Final = {
    "numbers": "x.reshape(-1, 4)[0]",
    "static sizes": "x.reshape(x.shape[0], -1)[:, 0]",
    "a number": "x.repeat(2)[0]",
    "how often each": "x.repeat(1, axis=0)",
    "of an array": "ops.convert_to_tensor(__import__('numpy').ones(4).reshape(2, 2))[0, 0]",
}
WHY: Final = "TensorFlow's tensors have no such method"


def bad(value: str) -> Bad:
    return Bad(LAYER.format(value=value), [value], None, why=WHY, backend="jax", jax=REFUSED)


def good(value: str, backend: str | None = "jax") -> Good:
    return Good(LAYER.format(value=value), None, why=WHY, backend=backend, jax=Compiles())


@pytest.mark.parametrize("value", FLAGGED.values(), ids=FLAGGED)
def test_a_size_that_is_data_is_flagged_where_jax_runs_it(value: str) -> None:
    assert list(examples.flagged(SizeFromValue, bad(value))) == []
    assert list(examples.silent(SizeFromValue, good(value, None))) == []


@pytest.mark.parametrize("value", SILENT.values(), ids=SILENT)
def test_a_size_that_is_a_number_is_not(value: str) -> None:
    assert list(examples.silent(SizeFromValue, good(value))) == []


CLAIMS: Final[dict[str, Bad | Good]] = {
    **{f"flagged: {name}": bad(value) for name, value in FLAGGED.items()},
    **{f"silent: {name}": good(value) for name, value in SILENT.items()},
}


@pytest.mark.compiler
@pytest.mark.parametrize(
    "example", [pytest.param(one, id=name, marks=claim(one.code, one.jax)) for name, one in CLAIMS.items()]
)
def test_jax_does_what_is_said(example: Bad | Good) -> None:
    measured = on_jax.measure(with_import(example.code), tuple(example.inputs))
    assert example.jax is not None
    assert measured.matches(example.jax), measured
