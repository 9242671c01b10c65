"""Methods that nobody calls, of a class whose others run in input pipelines, or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

CLASS: Final = """\
import tensorflow as tf

class Augmentation:
    def __init__(self, most):
        self.most = most

    def flip(self, image):
        return tf.image.random_flip_left_right(image)

    def shift(self, image):
        by = tf.random.uniform([], 0, self.most, tf.int32)
        if by > 2:
            image = tf.roll(image, 2, 1)
        return image

def prepared(data):
    augmentation = Augmentation(8)
    return data.map(lambda image: augmentation.flip(image)).batch(8, drop_remainder=True)
"""
IN_STEP: Final = """
augmentation = Augmentation(4)

@tf.function
def step(image):
    return augmentation.flip(image)

step(tf.ones([8, 8, 3]))
"""


@pytest.mark.parametrize(("more", "found"), [("", False), (IN_STEP, True)], ids=["pipeline", "step"])
def test_uncalled_method(tmp_path: Path, more: str, found: bool) -> None:
    (tmp_path / "m.py").write_text(CLASS + more, encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    assert [finding.span.line for finding in findings if finding.code == "XLA101"] == [12] * found
