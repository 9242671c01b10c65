"""A dict of tensors by its annotation may hold lists of them, which a compiled function iterates as Python does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.rules.marked import flagged, marked

LISTS: Final = """\
from typing import Dict, Mapping

import tensorflow as tf

@tf.function(jit_compile=True)
def step(batch: Dict[str, tf.Tensor]):
    total = 0.0
    for part in batch["parts"]:
        total += tf.reduce_sum(part)
    return total

@tf.function(jit_compile=True)
def masked(batch: Mapping[str, tf.Tensor]):
    kept = tf.boolean_mask(batch["x"], batch["x"] > 0)  # flagged
    return tf.reduce_sum(tf.ones_like(kept))

step({"parts": [tf.ones([3]), tf.ones([4])]})
"""


def test_a_dict_of_tensors_may_hold_lists(tmp_path: Path) -> None:
    assert {line for line, _ in flagged(tmp_path, LISTS)} == marked(LISTS)
