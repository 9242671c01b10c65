"""Callees that are functions of one of two libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

CODE = """\
import keras
import numpy as np
import tensorflow as tf


def blended(image):
    library = tf if ASKED else np
    return library.multiply(image, 0.5) + library.zeros_like(image)


class M(keras.Model):
    def call(self, inputs):
        return inputs

    def compute_loss(self, x, y, y_pred, sample_weight=None, training=True):
        return tf.reduce_sum(blended(y_pred))
"""


@pytest.mark.parametrize(
    ("asked", "codes"), [("isinstance(image, tf.Tensor)", set()), ("image is None", {"XLA106"}), ("len(GIVEN)", set())]
)
def test_of_two_libraries_a_tensor_is_for_tensorflow(asked: str, codes: set[str], tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(CODE.replace("ASKED", asked))
    assert {finding.code for finding in check([tmp_path], Settings(jobs=1)).findings} == codes
