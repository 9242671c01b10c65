"""What a strategy passes to the steps that it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

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
