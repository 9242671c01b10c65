"""What callbacks of Keras read at each batch, on a TPU: each read waits for the device."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
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


TASK: Final = """\
import tensorflow as tf

@tf.function
def step(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, model.trainable_variables)

def begin(model):
    model.set_weights([weight * 0.5 for weight in model.get_weights()])
"""
STAGES: Final = """\
import tensorflow as tf
from task import begin, step

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
for stage in range(100):
    begin(model)
    step(model, tf.ones([2, 3]))
"""


@pytest.mark.parametrize(("name", "severity"), [("train.py", Severity.WARNING), ("test_task.py", Severity.INFO)])
def test_weights_that_a_test_copies_are_information(name: str, severity: Severity, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK, encoding="utf-8")
    (tmp_path / name).write_text(STAGES, encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert [one.severity for one in found if one.code == "XLA527"] == [severity]
