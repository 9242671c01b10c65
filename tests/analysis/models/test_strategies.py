"""What a strategy passes to the steps that it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

EVALUATOR: Final = """\
import tensorflow as tf


class Evaluator:
    def __init__(self, model):
        self.strategy = tf.distribute.get_strategy()
        self.model = model

    def evaluate(self, iterator, batch):
        self.strategy.run(self.step, args=({}, 3))

    def step(self, inputs, count):
        return tf.ones([inputs["size"][0, 0], 2]), tf.zeros([count])
"""


@pytest.mark.parametrize(
    ("batch", "codes"), [("next(iterator)", ["XLA205"]), ("batch", []), ("self.first(iterator)", [])]
)
def test_a_step_is_passed_the_next_batch(tmp_path: Path, batch: str, codes: list[str]) -> None:
    (tmp_path / "evaluator.py").write_text(EVALUATOR.format(batch), encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings(exposure="certain")).findings] == codes


RUN: Final = """\
import tensorflow as tf

strategy = {strategy}
FEATURES = {{"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}}


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.io.decode_raw(example["image"], tf.uint8), example["label"], example["image"]


{decorator}
def step(image, label, text=None):
    return tf.unique_with_counts(label)


@tf.function
def train(image, label, text):
    strategy.run({step}, args=(image, label, {text}))


if __name__ == "__main__":
    for image, label, text in tf.data.TFRecordDataset("gs://bucket/train").map(parse).batch(8, drop_remainder=True):
        train(image, label, text)
"""


@pytest.mark.parametrize(
    ("strategy", "decorator", "step", "text", "codes"),
    [
        ("tf.distribute.TPUStrategy()", "", "step", "None", {"XLA202", "XLA503"}),
        ("tf.distribute.TPUStrategy()", "@tf.function", "step", "None", {"XLA202", "XLA503"}),
        ("tf.distribute.TPUStrategy()", "", "tf.function(step)", "None", {"XLA202", "XLA503"}),
        ("tf.distribute.TPUStrategy()", "@tf.function", "step", "text", {"XLA202", "XLA404", "XLA503"}),
        ("tf.distribute.TPUStrategy()", "@tf.function", "step", "label", {"XLA202", "XLA503"}),
        ("tf.distribute.MirroredStrategy()", "@tf.function", "step", "text", set()),
    ],
    ids=["plain", "decorated", "wrapped", "with text", "with numbers", "not a TPU's"],
)
def test_a_step_is_compiled_with_a_function_of_its_own_too(
    tmp_path: Path, strategy: str, decorator: str, step: str, text: str, codes: set[str]
) -> None:
    code = RUN.format(strategy=strategy, decorator=decorator, step=step, text=text)
    (tmp_path / "train.py").write_text(code, encoding="utf-8")
    found = check([tmp_path], Settings()).findings
    assert {one.code for one in found if one.severity is Severity.ERROR} == codes
