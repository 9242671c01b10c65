"""A call of a generator runs nothing of it: what it makes is a generator, whatever stands before its first element."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import sys
import numpy as np
import tensorflow as tf

class Batches:
    def __init__(self, way):
        self.way = way

    def generate(self):
        if self.way == "planned":
            return self.planned()
        return self.made()

    def planned(self):
        {planned}

    def made(self):
        while True:
            yield np.ones((4, 8)), np.ones((4, 1))

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(Batches(sys.argv[1]).generate(), steps_per_epoch=10)
"""


@pytest.mark.parametrize(
    ("planned", "told"),
    [
        ("raise NotImplementedError\n        yield np.ones((4, 8)), np.ones((4, 1))", True),
        ("sys.exit()\n        yield np.ones((4, 8)), np.ones((4, 1))", True),
        ("return tf.data.Dataset.from_tensors((np.ones((4, 8)), np.ones((4, 1)))).repeat()", False),
    ],
)
def test_it_is_made_where_it_never_comes_to_an_element(tmp_path: Path, planned: str, told: bool) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(planned=planned), encoding="utf-8")
    codes = [finding.code for finding in check([tmp_path], Settings(target="tpu")).findings]
    assert ("XLA513" in codes) is told
