"""Layers that only a GPU computes, in the forms in which programs have them."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

HEAD: Final = """\
import functools
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.layers import Bidirectional, CuDNNGRU, CuDNNLSTM, Dense, GRU, Input, LSTM, TimeDistributed

"""
FIT: Final = "\nmodel.compile('sgd', 'mse')\nmodel.fit(tf.ones([8, 4, 3]), tf.ones([8, 1]))\n"
CLASS: Final = """\
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        {made}

    def call(self, x):
        return {called}

model = Net()
"""
OF_GPUS: Final = (
    "model = keras.Sequential([CuDNNLSTM(8), Dense(1)])",
    "model = keras.Sequential([Input([4, 3]), Bidirectional(CuDNNGRU(8)), Dense(1)])",
    "model = keras.Sequential([layers.CuDNNLSTM(units=8)])",
    "model = keras.Sequential([tf.compat.v1.keras.layers.CuDNNLSTM(8)])",
    "model = keras.Sequential()\nmodel.add(keras.layers.CuDNNLSTM(8, input_shape=(4, 3)))",
    "model = keras.Sequential()\nmodel.add(Bidirectional(layer=CuDNNLSTM(8)))",
    "rnn = CuDNNLSTM\nmodel = keras.Sequential([rnn(8)])",
    "rnn = CuDNNLSTM(8)\nmodel = keras.Sequential([rnn, Dense(1)])",
    "x = Input([4, 3])\nmodel = keras.Model(x, Dense(1)(CuDNNLSTM(8)(x)))",
    "x = Input([4, 3])\ny = Bidirectional(CuDNNLSTM(8))(x)\ny = Dense(1)(y)\nmodel = keras.Model(inputs=x, outputs=y)",
    "def build(x):\n    return CuDNNGRU(8)(x)\n\nx = Input([4, 3])\nmodel = keras.Model(x, build(x))",
    "inner = keras.Sequential([CuDNNLSTM(8)])\nmodel = keras.Sequential([inner, Dense(1)])",
    CLASS.format(made="self.rnn = CuDNNLSTM(8)", called="self.rnn(x)"),
    CLASS.format(made="self.rnn = Bidirectional(layers.CuDNNGRU(8))", called="self.rnn(x)"),
    CLASS.format(made="self.all = [CuDNNGRU(8) for _ in range(3)]", called="self.all[0](x)"),
    CLASS.format(made="self.net = keras.Sequential([CuDNNGRU(8)])", called="self.net(x)"),
)
OF_ALL: Final = (
    "model = keras.Sequential([LSTM(8), Bidirectional(GRU(8)), Dense(1)])",
    "rnn = CuDNNLSTM if tf.test.is_gpu_available() else LSTM\nmodel = keras.Sequential([rnn(8)])",
    "rnn = CuDNNLSTM(8) if tf.config.list_physical_devices('GPU') else LSTM(8)\nmodel = keras.Sequential([rnn])",
    "if tf.test.is_gpu_available():\n    rnn = CuDNNLSTM\nelse:\n"
    "    rnn = functools.partial(LSTM, recurrent_activation='sigmoid')\nmodel = keras.Sequential([rnn(8)])",
    "def gru(units):\n    if tf.test.is_gpu_available():\n        return CuDNNGRU(units)\n    return GRU(units)\n\n"
    + CLASS.format(made="self.rnn = gru(8)", called="self.rnn(x)"),
    "if tf.config.list_physical_devices('GPU'):\n    model = keras.Sequential([CuDNNLSTM(8)])\nelse:\n"
    "    model = keras.Sequential([LSTM(8)])",
    "class CuDNNLSTM(layers.LSTM):\n    pass\n\nmodel = keras.Sequential([CuDNNLSTM(8)])",
    "unused = CuDNNLSTM(8)\nmodel = keras.Sequential([LSTM(8)])",
)


def _told(code: str, target: str | None) -> set[Severity]:
    found = lint_source(f"{HEAD}{code}{FIT}", settings=Settings(target=target)).findings
    return {one.severity for one in found if one.code == "XLA415"}


@pytest.mark.parametrize("code", OF_GPUS)
def test_layer_of_gpus_alone(code: str) -> None:
    assert _told(code, "tpu") == {Severity.ERROR}
    assert _told(code, None) == set()


@pytest.mark.parametrize("code", OF_ALL)
def test_layer_of_all_devices(code: str) -> None:
    assert _told(code, "tpu") == set()
