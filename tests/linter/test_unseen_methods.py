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


def test_a_list_that_is_emptied_is_not_read(tmp_path: Path) -> None:
    assert said(tmp_path, EMPTIED) == set()
