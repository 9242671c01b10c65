"""What a program is set to by a file of its own that has nothing to do with TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf
import settings

def main():
    batch_size = {asked}
    data = tf.data.Dataset.range({count}).batch(batch_size)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=True)
    model.fit(data)

main()
"""
NUMBER: Final = """\
def half(number):
    return number // 2
"""
ENTRIES: Final = """\
def load():
    # a number for each step
    return {"train": {"batch_size": 25}}
"""
OBJECT: Final = """\
class Config:
    def __init__(self):
        self.batch_size = 25

def load():
    config = Config()
    return config
"""
METHOD: Final = """\
class Config:
    scale = 5

    @classmethod
    def load(cls):
        config = cls()
        config.batch_size = 5 * cls.scale
        return config
"""
TUPLE: Final = """\
from typing import NamedTuple

class Sizes(NamedTuple):
    batch_size: int
    rows: int

def load(rows):
    return Sizes(25, rows=rows)
"""
NAMESPACE: Final = """\
from types import SimpleNamespace

def load():
    return SimpleNamespace(batch_size=25)
"""
SPELLINGS: Final = {
    "number": (NUMBER, "settings.half(50)"),
    "entries": (ENTRIES, 'settings.load()["train"]["batch_size"]'),
    "object": (OBJECT, "settings.load().batch_size"),
    "method": (METHOD, "settings.Config.load().batch_size"),
    "tuple": (TUPLE, "settings.load(3).batch_size"),
    "namespace": (NAMESPACE, "settings.load().batch_size"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("count", [100, 110])
def test_a_function_without_loops_says_what_a_program_is_set_to(tmp_path: Path, spelling: str, count: int) -> None:
    """100 elements fill batches of 25, 110 do not."""
    settings, asked = SPELLINGS[spelling]
    (tmp_path / "settings.py").write_text(settings, encoding="utf-8")
    (tmp_path / "m.py").write_text(PROGRAM.format(asked=asked, count=count), encoding="utf-8")
    found = [one.span.line for one in check([tmp_path], Settings()).findings if one.code == "XLA302"]
    assert found == ([6] if count == 110 else [])


OPTIONS: Final = """\
import argparse

def read():
    parser = argparse.ArgumentParser(description="settings for the program")
    parser.add_argument("--batch-size", type=int, default=128, help="rows for each step")
    return parser.parse_args()
"""
MEMORY: Final = """\
import numpy as np
import tensorflow as tf
from settings import read

class Memory:
    def __init__(self):
        self.rows = np.zeros((0, 4), np.float32)

    def store(self, row):
        self.rows = np.append(self.rows, row[None], axis=0)

    def sample(self, number):
        if number > len(self.rows):
            number = len(self.rows)
        return self.rows[np.random.choice(len(self.rows), size=number, replace=False)]

@tf.function(jit_compile=True)
def learn(rows):
    return tf.reduce_mean(rows)

def main(options):
    memory = Memory()
    while True:
        memory.store(np.random.rand(4))
        learn(memory.sample(options.batch_size))  # flagged

main(read())
"""


def test_options_that_another_file_reads_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(OPTIONS, encoding="utf-8")
    (tmp_path / "m.py").write_text(MEMORY, encoding="utf-8")
    found = [one.span.line for one in check([tmp_path], Settings()).findings if one.code == "XLA308"]
    lines = [number for number, line in enumerate(MEMORY.splitlines(), 1) if line.endswith("# flagged")]
    assert found == lines
