"""What callbacks of Keras read at each batch, on a TPU: each read waits for the device."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf

class Watch(tf.keras.callbacks.Callback):
    def __init__(self, every=100):
        super().__init__()
        self.every = every

    def {method}(self, number, logs=None):
        {body}

    def keep(self, number):
        np.save(f"{{number}}.npy", self.model.get_weights()[0])

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(300)
model.fit(data, callbacks=[Watch()])
"""
READS: Final = {
    "a weight": "print(float(tf.norm(self.model.layers[-1].kernel)))",
    "the learning rate": "print(self.model.optimizer.learning_rate.numpy())",
}
COPIES: Final = {
    "self.keep(number)": 13,
    "self.keep(number) if number % 2 else print(self.model.get_weights())": 10,
}
SELDOM: Final = {
    "numbers that Keras has read": 'print(logs["loss"], float(logs["loss"]), len(self.model.layers))',
    "every hundredth": "if number % self.every == 0:\n            self.keep(number)",
    "all but every hundredth left out": "if number % 100:\n            return\n        self.keep(number)",
}
BATCHES: Final = ("on_train_batch_end", "on_batch_end", "on_train_batch_begin")


@pytest.mark.parametrize("body", READS.values(), ids=READS)
@pytest.mark.parametrize("method", BATCHES)
def test_a_read_at_each_batch_is_found(method: str, body: str, tmp_path: Path) -> None:
    assert _lines(tmp_path, PROGRAM.format(method=method, body=body)) == [9]


@pytest.mark.parametrize(("body", "line"), COPIES.items())
@pytest.mark.parametrize("method", BATCHES)
def test_a_copy_of_all_weights_is_found_where_it_is_made(method: str, body: str, line: int, tmp_path: Path) -> None:
    assert _lines(tmp_path, PROGRAM.format(method=method, body=body)) == [line]


@pytest.mark.parametrize("body", SELDOM.values(), ids=SELDOM)
def test_a_read_now_and_then_is_not(body: str, tmp_path: Path) -> None:
    assert _lines(tmp_path, PROGRAM.format(method="on_train_batch_end", body=body)) == []


@pytest.mark.parametrize("body", [*READS.values(), *COPIES])
def test_a_read_at_each_epoch_is_not(body: str, tmp_path: Path) -> None:
    assert _lines(tmp_path, PROGRAM.format(method="on_epoch_end", body=body)) == []


def _lines(folder: Path, text: str) -> list[int]:
    file = folder / "train.py"
    file.write_text(text, encoding="utf-8")
    report = check([file], Settings(target="tpu"))
    assert report.problems == ()
    return [finding.span.line for finding in report.findings if finding.code in ("XLA516", "XLA527")]
