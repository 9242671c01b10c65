"""What a model is constructed with that Keras trains: its steps know it, also where a class of the project has them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import keras
import tensorflow as tf

class Pool:
    def __init__(self):
        self.images = []

    def query(self, image):
        self.images.append(image)
        return self.images[0]

class Trainer(keras.Model):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator
        self.pool = Pool()

    def train_step(self, batch):
        image = self.generator(batch)
        return {{"loss": tf.reduce_mean({used})}}

trainer = Trainer(keras.Sequential([keras.Input([1]), keras.layers.Dense(1)]))
trainer.compile("adam", jit_compile=True)
trainer.fit(tf.data.Dataset.from_tensors(tf.ones([8, 1])))
"""


@pytest.mark.parametrize(("used", "wanted"), [("self.pool.query(image)", {"XLA607"}), ("image", set())])
def test_a_model_that_the_constructor_is_passed_returns_tensors(tmp_path: Path, used: str, wanted: set[str]) -> None:
    (tmp_path / "main.py").write_text(PROGRAM.format(used=used), encoding="utf-8")
    report = check([tmp_path], Settings())
    assert report.problems == ()
    assert {finding.code for finding in report.findings} == wanted
