"""Rows of the whole batch that a model's own step makes, in another file than the data."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

MODEL: Final = """\
import tensorflow as tf
from settings import BATCH_SIZE, UNITS

class Denoiser(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, images):
        return self.dense(images)

    def {method}(self, images):
        noise = {noise}
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(images + noise) - noise) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights))
        return {{"loss": loss}}
"""
MAIN: Final = """\
import tensorflow as tf
from model import Denoiser
from settings import BATCH_SIZE, UNITS

def main(rows):
    model = Denoiser()
    model.compile("sgd")
    model.fit(tf.data.Dataset.from_tensor_slices(rows).batch({size}, drop_remainder=True))

main(tf.ones([64, 3]))
"""
NOISE: Final = "tf.random.normal([BATCH_SIZE, 3])"


@pytest.mark.parametrize(
    ("noise", "size", "method", "found"),
    [
        (NOISE, "BATCH_SIZE", "train_step", True),
        ("tf.zeros([BATCH_SIZE, 3])", "BATCH_SIZE", "train_step", True),
        ("tf.zeros([UNITS, 3])", "BATCH_SIZE", "train_step", False),  # another number, of the same value
        ("tf.random.normal(tf.shape(images))", "BATCH_SIZE", "train_step", False),
        (NOISE, "16", "train_step", False),
        (NOISE, "2 * BATCH_SIZE", "train_step", False),
        ("tf.reshape(images[:1] * 0.0, [BATCH_SIZE, 3])", "BATCH_SIZE", "train_step", True),
        ("tf.stack([images[row] for row in range(0, BATCH_SIZE)])", "BATCH_SIZE", "train_step", True),
        ("tf.stack([images[row] for row in range(1, BATCH_SIZE)])", "BATCH_SIZE", "train_step", False),
        ("tf.reshape(images, [UNITS, 3])", "BATCH_SIZE", "train_step", False),
        ("tf.reshape(images, [-1, 3]) / BATCH_SIZE", "BATCH_SIZE", "train_step", False),
        (NOISE, "BATCH_SIZE", "distill", False),  # which nobody calls
    ],
)
def test_rows_of_the_whole_batch(tmp_path: Path, noise: str, size: str, method: str, found: bool) -> None:
    (tmp_path / "settings.py").write_text("BATCH_SIZE = 16\nUNITS = 16\n", encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL.format(noise=noise, method=method), encoding="utf-8")
    (tmp_path / "main.py").write_text(MAIN.format(size=size), encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    found_here = [finding for finding in findings if finding.code == "XLA520"]
    assert [(finding.path.rpartition("/")[2], finding.span.line) for finding in found_here] == [
        ("model.py", 13) for _ in range(found)
    ]


SIZED: Final = """\
import tensorflow as tf
{before}
class Rows(tf.keras.Model):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def call(self, images):
        return tf.reshape(images, [self.batch_size, 3])

def main({parameters}):
    {local}
    model = Rows({passed})
    model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.from_tensor_slices((tf.ones([64, 3]), tf.ones([64, 3]))).batch({size}), verbose=0)

if __name__ == "__main__":
    main({given})
"""


@pytest.mark.parametrize(
    ("before", "parameters", "local", "passed", "given", "found"),
    [
        ("batch_size = 16", "", "pass", "batch_size", "", True),
        ("", "", "batch_size = 16", "batch_size", "", True),
        ("", "", "batch_size = 16", "batch_size=batch_size", "", True),
        ("", "batch_size=16", "pass", "batch_size", "", True),
        ("", "batch_size", "pass", "batch_size", "16", True),
        ("", "", "batch_size = 16", "16", "", True),
        ("", "", "batch_size = 16", "8", "", False),
        ("", "large", "batch_size = 16\n    if large:\n        batch_size = 32", "batch_size", "True", False),
        ("", "", "batch_size = 16\n    batch_size *= 2", "batch_size", "", True),  # of one name, whatever it is
        ("", "", "for batch_size in (8, 16):\n        pass", "batch_size", "", True),
        ("", "batch_size=8", "batch_size = 16", "batch_size", "", False),  # it is bound twice
    ],
)
def test_sizes_that_constructors_are_passed(
    tmp_path: Path, before: str, parameters: str, local: str, passed: str, given: str, found: bool
) -> None:
    text = SIZED.format(
        before=before, parameters=parameters, local=local, passed=passed, given=given, size="batch_size"
    )
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    assert [finding.span.line for finding in findings if finding.code == "XLA520"] == [9] * found
