"""Tests that show what a function is called with."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import tensorflow as tf

CODE = 3571

def gathered(state, ids):
    if state.scale * 4 + state.code != 1 + CODE:
        raise ValueError("not the code")
    return tf.gather(state.table, ids) * state.scale

class State:
    def __init__(self, table, scale):
        self.table, self.scale, self.code = table, scale, CODE
        assert table.shape == (7, 3) and scale == 0.25

class Outer:
    def call(self, state, ids):
        return gathered(state, ids)
"""
_OF_PYTEST = """\
import pytest
import tensorflow as tf
from program import Outer, State

@pytest.fixture
def table():
    yield tf.ones([7, 3])

@pytest.mark.parametrize("scale, others", [(0.25, 2), (0.5, 3)])
def test_outer(table, scale, others):
    Outer().call(State(table, scale), tf.constant([1, 2]))
    raise OSError("a file that is not there")
"""
_OF_UNITTEST = """\
import unittest
import tensorflow as tf
from program import Outer, State

class OuterTest(unittest.TestCase):
    def setUp(self):
        self.scale = 0.25

    def test_outer(self):
        Outer().call(State(tf.ones([7, 3]), self.scale), tf.constant([1, 2]))
"""


_WITHOUT_PYTEST = _OF_PYTEST.replace("import pytest", "import absent_pytest as pytest")


@pytest.mark.parametrize("text", [_OF_PYTEST, _OF_UNITTEST, _WITHOUT_PYTEST])
def test_the_tests_of_a_caller_show_what_a_function_is_called_with(tmp_path: Path, text: str) -> None:
    from xlalint.probe.worker.driving.driver import drive

    (tmp_path / "program.py").write_text(_PROGRAM)
    (tmp_path / "program_test.py").write_text(text)
    target = Targets().at(tmp_path / "program.py", "gathered")
    assert [caller.qualname.rpartition(".")[2] for caller in target.callers] == ["call", "test_outer"]
    driven = drive(target, lambda stage: None)
    try:
        assert driven.how.endswith("test_outer` does")
        positional, keywords = driven.make(0, 0)
        assert driven.call(*positional, **keywords).shape == (2, 3)
    finally:
        driven.close()


_LAYER = """\
import keras
import tensorflow as tf

class Picked(keras.layers.Layer):
    def call(self, inputs):
        x, ids = inputs
        if x.shape[-1] != 7 or ids.dtype != "int32":
            raise ValueError("other inputs")
        return tf.gather(x, ids[0], axis=1)
"""
_FUNCTIONAL = """\
import keras
import numpy as np
from program import Picked

def test_picked():
    x, ids = keras.Input([5, 7]), keras.Input([2], dtype="int32")
    model = keras.Model([x, ids], Picked()([x, ids]))
    assert model.predict([np.ones([3, 5, 7], "float32"), np.ones([3, 2], "int32")]).shape == (3, 2, 7)
"""


def test_a_layer_is_called_as_a_model_does_that_a_test_puts_together(tmp_path: Path) -> None:
    from xlalint.probe.worker.driving.driver import drive

    (tmp_path / "program.py").write_text(_LAYER)
    (tmp_path / "test_program.py").write_text(_FUNCTIONAL)
    driven = drive(Targets().at(tmp_path / "program.py", "Picked.call"), lambda stage: None)
    try:
        assert driven.how.endswith("as `test_picked` does")
        positional, keywords = driven.make(0, 0)
        assert driven.call(*positional, **keywords).shape == (3, 2, 7)
    finally:
        driven.close()
