"""Losses and metrics that the project calls itself: in whichever file, and partition, that is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.analysis.fixpoint import partitions
from xlalint.linter.run import check
from xlalint.settings.config import Settings

METRICS: Final = """\
import tensorflow as tf


class Boxes(tf.keras.metrics.Metric):
    def update_state(self, truth, found):
        self.ids.update(truth.numpy())

    def result(self):
        return tf.reduce_mean(tf.boolean_mask(self.scores, self.scores > 0.0))


class Masks(Boxes):
    def update_state(self, truth, found):
        super().update_state(truth, tf.round(found))
"""
EVALUATOR: Final = """\
import tensorflow as tf

from metrics import Masks


class Evaluator:
    def __init__(self, model):
        self.masks = Masks()
        self.model = model

    def reduce(self, batches):
        for truth, found in batches:
            self.masks.update_state(tf.squeeze(truth), found)

    def log(self):
        return {metric.name: metric.result() for metric in self.metrics}
"""
TRAINER: Final = """\
import tensorflow as tf

from metrics import Masks

model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
model.compile("adam", "mse", metrics=[Masks()], jit_compile=True)
"""
STEP: Final = """\
import tensorflow as tf

from metrics import Masks

masks = Masks()


@tf.function(jit_compile=True)
def step(truth, found):
    masks.update_state(truth, found)
"""
LOSS: Final = """\
import tensorflow as tf


class Weighted(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        weight, target = y_true
        return weight * tf.abs(target - y_pred)


class Rate(tf.keras.metrics.Metric):
    def update_state(self, data):
        numerator, denominator = data
        self.rate.assign_add(tf.reduce_sum(numerator) / tf.reduce_sum(denominator))
"""


@pytest.mark.parametrize("apart", [False, True], ids=["one partition", "a partition each"])
@pytest.mark.parametrize(
    ("user", "flagged"),
    [(EVALUATOR, set()), (TRAINER, {"XLA106", "XLA201"}), (STEP, {"XLA106"})],
    ids=["eager", "handed", "in a step"],
)
def test_a_metric_is_run_as_the_project_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str, flagged: set[str], apart: bool
) -> None:
    if apart:
        monkeypatch.setattr(partitions, "_TEXT_OF_A_PART", 1)
    (tmp_path / "metrics.py").write_text(METRICS, encoding="utf-8")
    (tmp_path / "user.py").write_text(user, encoding="utf-8")
    found = check([tmp_path], Settings(exposure="certain", jobs=1)).findings
    assert {one.code for one in found} == flagged, [one.message for one in found]


def test_what_a_loss_or_metric_unpacks_is_no_batch(tmp_path: Path) -> None:
    (tmp_path / "losses.py").write_text(LOSS, encoding="utf-8")
    assert not check([tmp_path], Settings(exposure="certain")).findings
