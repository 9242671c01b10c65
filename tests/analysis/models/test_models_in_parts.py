"""A model that a function adds layers to, call by call, is one model."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
x, y = np.zeros([500, 8, 8, 3]), np.zeros([500, 1])
model = keras.Sequential([keras.Input([8, 8, 3])])


def block(convolutions, channels):
    for _ in range(convolutions):
        model.add(keras.layers.Conv2D(channels, 3, padding="same"))
    model.add(keras.layers.MaxPool2D(2))


{blocks}
model.add(keras.layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y, batch_size=64, epochs=3)
"""


@pytest.mark.parametrize("blocks", [1, 2, 3, 5])
def test_it_is_made_outside_of_the_scope(blocks: int, tmp_path: Path) -> None:
    calls = "\n".join(f"block({number}, {2**number})" for number in range(1, blocks + 1))
    (tmp_path / "train.py").write_text(PROGRAM.format(blocks=calls))
    assert "XLA512" in {one.code for one in check([tmp_path], Settings(jobs=1)).findings}
