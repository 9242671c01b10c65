"""Programs that show nothing of XLA, asked what they would meet on a TPU: their steps are compiled there."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

LOADED: Final = """\
import tensorflow as tf
import tensorflow_datasets as tfds

data = tfds.load("mnist", as_supervised=True{})
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse"{})
model.fit({}.batch(64))
"""
STEPS: Final = """\
import tensorflow as tf

@tf.function{}
def step(batch):
    return tf.reduce_sum(batch)

for epoch in range(3):
    for batch in tf.data.TFRecordDataset("rows").map(tf.io.decode_raw).batch(32):
        step(batch)
"""
PREDICTS: Final = """\
import sys
import tensorflow as tf

model = tf.keras.models.load_model(sys.argv[1])
for size in range(1, 9):
    model.predict(tf.ones([size, 4]))
"""


@pytest.mark.parametrize(
    ("program", "codes"),
    [
        (LOADED.format("", "", 'data["train"]'), {"XLA302"}),
        (LOADED.format(', split="train"', "", "data"), {"XLA302"}),
        (LOADED.format(', split=["train", "test"]', "", "data[0]"), {"XLA302"}),
        (LOADED.format(', split="train", with_info=True', "", "data[0]"), {"XLA302"}),
        (LOADED.format(', split="train"', ", jit_compile=False", "data"), set()),
        (LOADED.format(', split="train"', ", run_eagerly=True", "data"), set()),
        (STEPS.format(""), {"XLA302"}),
        (STEPS.format("(jit_compile=True)"), {"XLA302"}),
        (PREDICTS, {"XLA308"}),
    ],
)
def test_a_target_has_steps_compiled(program: str, codes: set[str]) -> None:
    def found(target: str | None) -> set[str]:
        findings = lint_source(program, settings=Settings(target=target)).findings
        eager = {"XLA506"}  # a setting that has the steps run line by line
        return {one.code for one in findings if one.severity > Severity.INFO} - eager

    assert found("tpu") == found("jit") == codes
    assert found(None) == (codes if "jit_compile=True" in program else set())


METRIC = """
import tensorflow as tf

class Kept(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        if tf.reduce_sum(y_true) > 0:
            self.total.assign_add(1.0)

    def result(self):
        return self.total

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=[Kept()], jit_compile={jit})
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
"""


@pytest.mark.parametrize(
    ("keras", "target", "severity"),
    [(2, "tpu", Severity.INFO), (2, None, Severity.WARNING), (3, "tpu", Severity.ERROR)],
)
def test_what_keras_2_converts_is_information_for_a_tpu(keras: int, target: str | None, severity: Severity) -> None:
    source = METRIC.format(jit=target is None)
    [found] = [
        one
        for one in lint_source(source, settings=Settings(keras=keras, target=target)).findings
        if one.code == "XLA101"
    ]
    assert found.severity is severity
