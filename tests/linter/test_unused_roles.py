"""A loss or a metric that nothing in a whole program has Keras run, nor calls as Keras does, is only information."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SCORES: Final = """\
import tensorflow as tf

class Score(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="score")
        self.rows = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.rows.append(y_pred.numpy().mean())

    def result(self):
        return sum(self.rows) / len(self.rows)

class Gap(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return y_true.numpy() - y_pred
"""
TRAIN: Final = """\
import tensorflow as tf
from scores import Gap, Score

made = {{"gap": Gap, "score": Score}}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

@tf.function(jit_compile=True)
def evaluate(x, y):
    {step}
    return tf.reduce_mean(model(x) - y)

if __name__ == "__main__":
    model.compile("sgd", "mse"{metrics}, jit_compile=True)
    model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=4)
    evaluate(tf.ones([4, 3]), tf.ones([4, 1]))
"""
NEITHER: Final = TRAIN.format(metrics="", step="pass")


@pytest.mark.parametrize(
    ("main", "severity"),
    [
        (NEITHER, Severity.INFO),
        (TRAIN.format(metrics=", metrics=[Score()], loss=Gap()", step="pass").replace('"mse", ', ""), Severity.ERROR),
        (TRAIN.format(metrics="", step="Score().update_state(y, model(x)), Gap()(y, model(x))"), Severity.ERROR),
    ],
    ids=["neither", "handed to Keras", "called in a compiled step"],
)
def test_what_nothing_uses(tmp_path: Path, main: str, severity: Severity) -> None:
    assert _severities(tmp_path, main) == {severity}


def test_those_of_a_package_are_for_its_users(tmp_path: Path) -> None:
    assert _severities(tmp_path, "") == {Severity.ERROR}


def test_a_target_is_for_all_of_the_program(tmp_path: Path) -> None:
    assert _severities(tmp_path, NEITHER, Settings(target="gpu")) == {Severity.ERROR}


def _severities(folder: Path, main: str, settings: Settings | None = None) -> set[Severity]:
    (folder / "scores.py").write_text(SCORES, encoding="utf-8")
    if main:
        (folder / "train.py").write_text(main, encoding="utf-8")
    found = check([folder], settings or Settings()).findings
    said = [one for one in found if one.code == "XLA106" and one.path.endswith("scores.py")]
    assert len(said) == 2
    return {one.severity for one in said}
