"""A constant that a block of a script may bind again has two values behind it: the code for either is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

DEVICE = "TPU"
{chosen}
if DEVICE {asked}:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
else:
    strategy = tf.distribute.get_strategy()

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.data.TFRecordDataset(["gs://rows/0"]).map(parsed).batch(32))

def parsed(row):
    return tf.io.decode_raw(row, tf.float32), 1.0
"""
NOT_FOUND: Final = """
try:
    tf.distribute.cluster_resolver.TPUClusterResolver()
except ValueError:
    DEVICE = "GPU"
"""
SHOWN: Final = """
if tf.config.list_physical_devices("GPU"):
    print("a GPU")
    DEVICE = "GPU"
"""
ON_ITS_OWN: Final = """
if tf.config.list_physical_devices("GPU"):
    DEVICE = "GPU"
"""


@pytest.mark.parametrize("asked", ["== 'TPU'", "!= 'GPU'"])
@pytest.mark.parametrize("chosen", [NOT_FOUND, SHOWN, ON_ITS_OWN, ""], ids=["except", "if", "only", "as it is"])
def test_the_default_stays_possible(tmp_path: Path, chosen: str, asked: str) -> None:
    assert _codes(tmp_path, PROGRAM.format(chosen=chosen, asked=asked)) == {"XLA302"}


def test_what_is_bound_again_for_certain_is_no_default(tmp_path: Path) -> None:
    assert _codes(tmp_path, PROGRAM.format(chosen='\nprint(DEVICE)\nDEVICE = "GPU"\n', asked="== 'TPU'")) == set()


def test_what_either_branch_binds_is_possible(tmp_path: Path) -> None:
    chosen = ON_ITS_OWN + 'else:\n    DEVICE = "TPU v3"\n'
    assert _codes(tmp_path, PROGRAM.format(chosen=chosen, asked="== 'TPU v3'")) == {"XLA302"}
    assert _codes(tmp_path, PROGRAM.format(chosen=chosen, asked="== 'GPU'")) == {"XLA302"}


def _codes(folder: Path, program: str) -> set[str]:
    (folder / "train.py").write_text(program, encoding="utf-8")
    return {finding.code for finding in check([folder], Settings()).findings}
