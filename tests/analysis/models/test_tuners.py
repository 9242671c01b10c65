"""What a tuner of Keras Tuner searches with is fitted to the models that it builds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

SEARCH: Final = """\
import keras
import keras_tuner
import tensorflow as tf


def build(hp):
    model = keras.Sequential([keras.layers.Dense(hp.Int("units", 8, 64)), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile={jit})
    return model


class Hyper(keras_tuner.HyperModel):
    def build(self, hp):
        return build(hp)


rows = tf.data.Dataset.from_tensor_slices((tf.ones([70, 4]), tf.ones([70, 1])))
keras_tuner.{tuner}({model}, objective="val_loss").search(rows.batch(32))
"""


@pytest.mark.parametrize(
    ("tuner", "model", "jit", "codes"),
    [
        ("Hyperband", "build", "True", ["XLA302"]),
        ("RandomSearch", "Hyper()", "True", ["XLA302"]),
        ("tuners.RandomSearch", "build", "False", []),
    ],
)
def test_a_search_is_fitted(tmp_path: Path, tuner: str, model: str, jit: str, codes: list[str]) -> None:
    (tmp_path / "search.py").write_text(SEARCH.format(tuner=tuner, model=model, jit=jit), encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings if one.code == "XLA302"] == codes
