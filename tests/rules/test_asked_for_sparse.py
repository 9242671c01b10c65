"""What Keras says is sparse: a program knows what it passes its own layers, a package does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

LAYER = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K


class Pooled(keras.layers.Layer):
    def call(self, inputs):
        x, a = inputs
        if K.is_sparse(a):
            return tf.sparse.reduce_sum(a, axis=-1)
        return x
"""


@pytest.mark.parametrize("installed", [True, False])
def test_a_layer_that_asks(installed: bool, tmp_path: Path) -> None:
    package = tmp_path / "graphs"
    package.mkdir()
    if installed:
        (tmp_path / "setup.py").touch()
        (package / "__init__.py").touch()
    (package / "pooled.py").write_text(LAYER)
    found = [finding.code for finding in check([tmp_path], Settings(jobs=1, target="tpu")).findings]
    assert found == ["XLA207"] * installed
