"""What shows the progress of a loop yields what it is passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

LOOP = """\
import tensorflow as tf
from {module} import {name}

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

for number, x in enumerate({name}(tf.data.Dataset.from_tensor_slices(tf.zeros([10, 3])).batch(4), total=3)):
    step(x)
"""


@pytest.mark.parametrize(
    ("module", "name"),
    [("fastprogress", "progress_bar"), ("rich.progress", "track"), ("tqdm", "tqdm"), ("tqdm.rich", "tqdm")],
)
def test_batches_go_through_it(tmp_path: Path, module: str, name: str) -> None:
    (tmp_path / "train.py").write_text(LOOP.format(module=module, name=name), encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == ["XLA302"]
