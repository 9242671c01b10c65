"""A model that Keras 3 leaves out of XLA on every device, because of a layer that it holds, shows no XLA."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD: Final = """\
import keras
import tensorflow as tf

class Norm(keras.layers.Layer):
    def call(self, x):
        return tf.math.reduce_euclidean_norm(x, axis=-1)

class Net(keras.Model):
    def __init__(self, first):
        super().__init__()
        self.first = first
        self.norm = Norm()

    def call(self, x):
        return self.norm(self.first(x))

class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = [keras.layers.LSTM(3)]
        self.norm = Norm()

    def call(self, x):
        return self.norm(self.first[0](x))

inputs = keras.Input((9, 4))
"""
FIT: Final = 'model.compile("adam", "mse")\nmodel.fit(tf.ones([8, 9, 4]), tf.ones([8]))\n'
FUNCTIONAL: Final = "model = keras.Model(inputs, Norm()({}))\n"


def severity(folder: Path, text: str, target: str | None = None) -> Severity:
    (folder / "train.py").write_text(HEAD + text, encoding="utf-8")
    found = check([folder], Settings(target=target)).findings
    return next(one.severity for one in found if one.code == "XLA401")


@pytest.mark.parametrize(
    "model",
    [
        FUNCTIONAL.format("keras.layers.LSTM(3)(inputs)"),
        FUNCTIONAL.format("keras.layers.Bidirectional(keras.layers.GRU(3))(inputs)"),
        "x = Norm()(keras.layers.LSTM(3, return_sequences=True)(inputs))\nmodel = keras.Model(inputs, Norm()(x))\n",
        FUNCTIONAL.format("keras.layers.RandomTranslation(0.1, 0.1)(inputs)"),
        "model = keras.Sequential([inputs, keras.layers.LSTM(3), Norm()])\n",
        "model = Net(keras.layers.LSTM(3))\n",
        "model = Own()\n",
    ],
)
def test_a_model_that_keras_leaves_out_of_xla_shows_none(model: str, tmp_path: Path) -> None:
    assert severity(tmp_path, model + FIT) is Severity.INFO
    assert severity(tmp_path, model + FIT, target="tpu") is Severity.ERROR


@pytest.mark.parametrize(
    "model",
    [
        FUNCTIONAL.format("keras.layers.Dense(3)(inputs)"),
        FUNCTIONAL.format("keras.layers.LSTM(3, use_cudnn=False)(inputs)"),
        FUNCTIONAL.format("keras.layers.LSTM(3, unroll=True)(inputs)"),
        "model = keras.Sequential([inputs, keras.layers.Dense(3), Norm()])\n",
        "model = Net(keras.layers.Dense(3))\n",
        "other = Net(keras.layers.LSTM(3))\nother.compile('adam', 'mse')\nmodel = Net(keras.layers.Dense(3))\n",
    ],
)
def test_a_model_without_such_layers_does(model: str, tmp_path: Path) -> None:
    assert severity(tmp_path, model + FIT) is Severity.ERROR


def test_what_asks_for_xla_shows_it(tmp_path: Path) -> None:
    text = 'model = Net(keras.layers.LSTM(3))\nmodel.compile("adam", "mse", jit_compile=True)\n'
    assert severity(tmp_path, text) is Severity.ERROR
