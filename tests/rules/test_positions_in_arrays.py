"""XLA106 where NumPy is asked for a position that is a tensor; keys of dicts, which no tensor can be, beside it."""

from __future__ import annotations

from typing import Final

import pytest

from rules.xla106_host_read import HostReadOfTensor
from tests.compiler.claims import claim
from xlalint.authoring import examples, on_jax
from xlalint.authoring.examples import with_import
from xlalint.linter.rule import Bad, Compiles, Fails, Good

LAYER: Final = """
import keras
import numpy as np
from keras import ops

TABLE = np.arange(12.0, dtype="float32").reshape(4, 3)
NAMES = {{0: 1.0, 1: 2.0}}

class L(keras.layers.Layer):
    def call(self, x):
        i = ops.argmax(x)
        return x * {value}
"""
ARRAY: Final = ("Cannot convert a symbolic", "__array__() was called")
FLAGGED: Final = {
    "a position": ("TABLE[i]", "TABLE[i][0]", *ARRAY),
    "positions": ("TABLE[ops.argsort(x)]", "TABLE[ops.argsort(x)][:, 0]", *ARRAY),
    "a column": ("TABLE[:, i]", "TABLE[:, i]", *ARRAY),
    "a slice": ("TABLE[:i + 1]", "TABLE[:i + 1].sum()", "slice indices must be integers", "__index__() method"),
}
KEYS: Final = {
    "a dict": "NAMES[i]",
    "get": "NAMES.get(i, 1.0)",
    "a key of a new dict": "len({i: 1.0})",
    "a set": "len({i})",
}
SILENT: Final = {
    "taken": "ops.take(ops.convert_to_tensor(TABLE), i, axis=0)[0]",
    "a position of a tensor": "ops.convert_to_tensor(TABLE)[i][0]",
    "a number": "TABLE[x.shape[0] - 1][0]",
    "numbers": "sum(TABLE[at][0] for at in range(4))",
    "a key that is a number": "NAMES[len(x.shape)]",
    "a value of a dict": "{'i': ops.cast(i, 'float32')}['i']",
    "its identity": "len({id(i): i})",
}


def bad(name: str) -> Bad:
    place, value, error, on_jax = FLAGGED[name]
    return Bad(LAYER.format(value=value), [place], Fails(error), jax=Fails(on_jax))


def good(name: str) -> Good:
    value = SILENT[name]
    once = None if name == "a position of a tensor" else Compiles()  # which TensorFlow compiles for each value
    return Good(LAYER.format(value=value), once, jax=Compiles())


BADS: Final = [pytest.param(bad(name), id=name) for name in FLAGGED]
GOODS: Final = [pytest.param(good(name), id=name) for name in SILENT]


@pytest.mark.parametrize("example", BADS)
def test_what_is_looked_up_by_a_tensor_is_flagged(example: Bad) -> None:
    assert list(examples.flagged(HostReadOfTensor, example)) == []


@pytest.mark.parametrize("example", GOODS)
def test_what_has_its_value_or_is_taken_in_the_graph_is_not(example: Good) -> None:
    assert list(examples.silent(HostReadOfTensor, example)) == []


def _claims() -> list[object]:
    return [
        pytest.param(case.values[0], id=case.id, marks=claim(case.values[0].code, case.values[0].jax))
        for case in (*BADS, *GOODS)
        if isinstance(case.values[0], Bad | Good) and case.values[0].jax is not None
    ]


@pytest.mark.compiler
@pytest.mark.parametrize("example", _claims())
def test_both_backends_do_what_is_said(example: Bad | Good) -> None:
    if example.behaviour is not None:
        assert list(examples.claimed(example, examples.measured_claim(example))) == []
    assert example.jax is not None
    measured = on_jax.measure(with_import(example.code), tuple(example.inputs))
    assert measured.matches(example.jax), measured


def keyed(value: str) -> Good:
    return Good(LAYER.format(value=value), None, why="eager tensors have no hash either")


@pytest.mark.parametrize("value", KEYS.values(), ids=KEYS)
def test_of_keys_nothing_is_said(value: str) -> None:
    assert list(examples.silent(HostReadOfTensor, keyed(value))) == []


@pytest.mark.compiler
@pytest.mark.parametrize(
    "value", [pytest.param(value, id=name, marks=claim(LAYER, value, sampled=False)) for name, value in KEYS.items()]
)
def test_keys_fail_without_a_trace_as_well(value: str) -> None:
    example = keyed(value)
    failure = on_jax.measure(with_import(example.code), tuple(example.inputs)).failure
    assert failure is not None
    assert failure.startswith("TypeError: unhashable type")
    assert "Tensor is unhashable" in str(examples.measured_claim(example))
