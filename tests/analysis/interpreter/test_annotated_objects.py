"""Parameters of functions that nobody calls, annotated with a class of the program's own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

class Network:
    def __init__(self):
        self.steps = {steps}
        self.model = {model}

    def count(self) -> int:
        return self.steps.numpy()
{derived}
class Log(tf.keras.callbacks.Callback):
    def __init__(self, network: {annotation}):
        super().__init__()
        self.network = network

    def on_train_batch_end(self, batch, logs=None):
        print(logs["loss"], self.network.count())

def train(network: {annotation}, data):
    network.model.compile("sgd", "mse")
    network.model.fit(data, callbacks=[Log(network)])
"""
KNOWN: Final = {
    "steps": "tf.Variable(0)",
    "model": "tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])",
    "derived": "",
    "annotation": "Network",
}
OTHER: Final = "\nclass Other(Network):\n    def count(self) -> int:\n        return 0\n"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {"XLA512", "XLA516"}),
        ({"annotation": "'Network'"}, {"XLA512", "XLA516"}),
        ({"annotation": "Network | None"}, {"XLA512", "XLA516"}),
        ({"annotation": "object"}, set()),
        ({"derived": OTHER}, set()),  # whose objects may be meant
    ],
    ids=["class", "text", "or none", "object", "derived"],
)
def test_an_object_is_what_its_annotation_says(tmp_path: Path, changed: dict[str, str], found: set[str]) -> None:
    (tmp_path / "m.py").write_text(PROGRAM.format(**KNOWN | changed), encoding="utf-8")
    assert {finding.code for finding in check([tmp_path], Settings(target="tpu")).findings} == found
