"""XLA106 where Keras's backend is asked for a value: of a tensor it has none during tracing, of a variable it has."""

from __future__ import annotations

from typing import Final

import pytest

from rules.xla106_host_read import HostReadOfTensor
from tests.compiler.claims import claim
from xlalint.authoring import examples
from xlalint.linter.rule import Bad, Compiles, Effect, Fails, Good

PROGRAM: Final = """
from tensorflow.keras import backend as K

SCALE = tf.Variable(2.0)

def distance(a, b):
    return tf.reduce_mean(tf.abs(a - b))

@tf.function(jit_compile=True)
def f(x):
    return x * {value}
"""
FLAGGED: Final = {
    "get_value": "K.get_value(distance(x, tf.reverse(x, [0])))",
    "eval": "K.eval(distance(x, 1.0))",
    "of several": "K.batch_get_value([distance(x, 1.0)])",
}
SILENT: Final = {
    "of a variable": "K.get_value(SCALE)",
    "of a variable, by another name": "K.eval(SCALE)",
}
BADS: Final = {
    name: Bad(PROGRAM.format(value=value), [value], Fails("numpy"), effect=Effect.FAILS)
    for name, value in FLAGGED.items()
}
GOODS: Final = {name: Good(PROGRAM.format(value=value), Compiles()) for name, value in SILENT.items()}


@pytest.mark.parametrize("name", BADS)
def test_a_tensor_has_no_value(name: str) -> None:
    assert list(examples.flagged(HostReadOfTensor, BADS[name])) == []


@pytest.mark.parametrize("name", GOODS)
def test_a_variable_has_one(name: str) -> None:
    assert list(examples.silent(HostReadOfTensor, GOODS[name])) == []


@pytest.mark.compiler
@pytest.mark.parametrize(
    "example", [pytest.param(one, id=name, marks=claim(one.code)) for name, one in (BADS | GOODS).items()]
)
def test_what_tracing_does(example: Bad | Good) -> None:
    assert list(examples.claimed(example, examples.measured_claim(example))) == []
