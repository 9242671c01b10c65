"""Batches of datasets that a function makes for each element or window of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.scripts import HEAD, MODEL, deserved, one

KEY: Final = "lambda x: tf.constant(0, tf.int64)"
MADE: Final = {
    "flat_map of windows": (".window(5, shift=5{rest}).flat_map(lambda w: w.batch(5))"),
    "windows of an attribute": (".window(size=8, shift=1{rest}).interleave(lambda w: w.batch(8), cycle_length=4)"),
    "group_by_window": f".group_by_window({KEY}, lambda key, w: w.batch(16{{rest}}), window_size=512)",
    "apply": (
        f".apply(tf.data.experimental.group_by_window(key_func={KEY},"
        " reduce_func=lambda key, w: w.batch(16{rest}), window_size=512))"
    ),
    "files": ".flat_map(lambda name: tf.data.TFRecordDataset(name).map(tf.io.parse_tensor).batch(8{rest}))",
}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("made", MADE)
def test_batches_that_a_function_makes(tmp_path: Path, made: str, whole: bool) -> None:
    chain = MADE[made].format(rest=", drop_remainder=True" if whole else "")
    text = f"{HEAD}{MODEL}\ndata = tf.data.Dataset.from_tensor_slices(values)\ndata = data{chain}\nmodel.fit(data)\n"
    deserved(one(text, *(() if whole else (("XLA302", "data = data."),))), tmp_path)


def test_what_a_function_makes_is_not_seen(tmp_path: Path) -> None:
    text = f"{HEAD}{MODEL}\ndata = tf.data.Dataset.list_files('a').flat_map(make)\nmodel.fit(data)\n"
    deserved(one(text), tmp_path)
