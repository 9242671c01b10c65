"""A constant that a block of a script may bind again has two values behind it: the code for either is judged. One that
is bound again below is what it was above, in the defaults of parameters, too."""

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


BOUND_AGAIN: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
model.compile("adam", "mse", jit_compile=True)
{first}

{middle}
{second}
{end}
"""
FIT: Final = "model.fit(tf.data.Dataset.from_tensor_slices((tf.zeros([40, 8]), tf.zeros([40, 3]))).batch({}))"
ABOVE: Final = (FIT.format("SIZE"), "")
CALLED: Final = ("def fit():\n    " + FIT.format("SIZE"), "fit()")
DEFAULT: Final = ("def fit(rows=SIZE):\n    " + FIT.format("rows"), "fit()")
METHOD: Final = ("class Run:\n    def fit(self, *, rows=2 * SIZE):\n        " + FIT.format("rows"), "Run().fit()")


@pytest.mark.parametrize(
    ("code", "which"),
    [(ABOVE, 0), (CALLED, 1), (DEFAULT, 0), (METHOD, 0)],
    ids=["above", "called", "default", "method"],
)
def test_a_constant_is_what_it_is_at_the_time(tmp_path: Path, code: tuple[str, str], which: int) -> None:
    """Rows are 40: batches of 8 (or 20) fill them, batches of 7 (or 14) do not."""
    for sizes in ((7, 8), (10, 7), (8, 10), (7, 3)):
        text = BOUND_AGAIN.format(first=f"SIZE = {sizes[0]}", middle=code[0], second=f"SIZE = {sizes[1]}", end=code[1])
        size = sizes[which] * (2 if code is METHOD else 1)
        assert _codes(tmp_path, text) == ({"XLA302"} if 40 % size else set()), sizes


@pytest.mark.parametrize("again", ["for SIZE in range(9):\n    print(SIZE)", "if rows:\n    SIZE = 9", "SIZE += 1"])
@pytest.mark.parametrize("size", [7, 8])
def test_a_default_knows_nothing_of_what_is_bound_below(tmp_path: Path, again: str, size: int) -> None:
    text = BOUND_AGAIN.format(first=f"SIZE = {size}", middle=DEFAULT[0], second=again, end=DEFAULT[1])
    assert _codes(tmp_path, text) == ({"XLA302"} if size == 7 else set())


def _codes(folder: Path, program: str) -> set[str]:
    (folder / "train.py").write_text(program, encoding="utf-8")
    return {finding.code for finding in check([folder], Settings()).findings}
