"""What is said of methods that are asked for by a name that is put together, and of lists that are emptied."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import load

BY_NAME: Final = """
import keras
from keras import ops

class L(keras.layers.Layer):
    def __init__(self, mode="scaled", how="mean"):
        super().__init__()
        self.how = how
        self.run = getattr(self, {name})

    def call(self, x):
        return self.run(x, self.reduced(x, self.how))

    def scaled_rows(self, x, by):
        return x * by

    def shifted_rows(self, x, by):
        return x + by

    def reduced(self, x, how):
        if how == "mean":
            return ops.mean(x)
        return ops.max(x)
"""
# As Keras's own trainer does with the losses of layers.
EMPTIED: Final = """
import keras

class L(keras.Model):
    def __init__(self):
        super().__init__()
        self.passed = []

    def call(self, x):
        self.passed.clear()
        self.passed = [x * 2.0, x]
        total = self.passed[0] + self.passed[1]
        self.passed.clear()
        return total
"""


def said(folder: Path, text: str) -> set[str]:
    (folder / "layer.py").write_text(text)
    settings = load([folder], options={"backend": "jax", "exposure": "certain"}, cached=False)
    return {one.code for one in check([folder], settings).findings}


@pytest.mark.parametrize(
    "name", ['"{}_rows".format(mode)', 'f"{mode}_rows"', 'mode + "_rows"', '"%s_rows" % mode', '"scaled" + "_rows"']
)
def test_a_method_whose_name_is_put_together_is_one_that_has_such_a_name(name: str, tmp_path: Path) -> None:
    assert said(tmp_path, BY_NAME.replace("{name}", name)) == set()


def test_where_nothing_is_known_of_the_name_it_may_be_each(tmp_path: Path) -> None:
    assert said(tmp_path, BY_NAME.replace("{name}", "mode")) == {"XLA101"}


PROCESSOR: Final = """
import keras
from keras import ops

class Base(keras.layers.Layer):
    def __call__(self, *args, **kwargs):
        return {call}

class Processor(Base):
    def call(self, rows):
        if ops.max(rows) > 1.0:
            return rows / 255.0
        return rows
"""
BEHIND: Final = """
import jax
import keras
from keras import ops

class Generator(keras.Model):
    def make(self, count, name):
        def compiled(several, noise):
            return self.step(*several, noise, count, name)

        return jax.jit(compiled)

    def step(self, tokens, mask, noise, count, name):
        if count <= 1 or name == "greedy":
            return tokens
        return ops.zeros((count, 4)) + ops.sum(tokens * mask)

Generator().make(3, "greedy")((1, 2), 3)
"""


@pytest.mark.parametrize(
    ("call", "severity"), [("self.call(*args, **kwargs)", "warning"), ("super().__call__(*args, **kwargs)", "error")]
)
def test_a_layer_that_is_called_without_keras_is_mostly_not_compiled(call: str, severity: str, tmp_path: Path) -> None:
    (tmp_path / "layer.py").write_text(PROCESSOR.replace("{call}", call))
    settings = load([tmp_path], options={"backend": "jax", "exposure": "certain"}, cached=False)
    assert [one.severity.label for one in check([tmp_path], settings).findings] == [severity]


def test_what_stands_behind_an_unpacked_sequence_is_for_the_last_parameters(tmp_path: Path) -> None:
    assert said(tmp_path, BEHIND) == set()


def test_a_list_that_is_emptied_is_not_read(tmp_path: Path) -> None:
    assert said(tmp_path, EMPTIED) == set()
