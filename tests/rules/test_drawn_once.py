"""Random numbers of Python's and NumPy's in functions that are traced: one number for all calls and elements."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import random
from multiprocessing import Pool

import numpy as np
import pandas as pd
import tensorflow as tf
from elsewhere import load

data = tf.data.Dataset.from_tensor_slices((tf.ones([8, 3]), tf.ones([8]))).batch(4)

ORDER = [0, 1, 2]

def scale():
    return random.uniform(0.5, 1.5)

def scaled(x, y):
    return x * scale(), y

class Scale:
    def __init__(self):
        self.random = np.random.default_rng(1)

    def __call__(self, x, y):
        return x * self.random.uniform(0.5, 1.5), y

def drawn(x):
    return x * np.random.rand()

def numbers():
    for _ in range(8):
        yield random.random()

"""
ONCE: Final = {
    "in a function": "def flipped(x, y):\n    return (-x if random.random() < 0.5 else x), y\n\ndata.map(flipped)",
    "in a lambda": "data.map(lambda x, y: (x * np.random.uniform(), y))",
    "in a helper": "data.map(scaled)",
    "in a function that is passed on": "def mapped(pairs):\n    return pairs.map(scaled)\n\nmapped(data)",
    "by a generator that an object has": "data.map(Scale())",
    "of a filter": "data.filter(lambda x, y: random.random() < 0.5)",
    "of datasets": "data.flat_map(lambda x, y: tf.data.Dataset.from_tensors(x * random.random()))",
    "of a dataset from elsewhere": "load().map(scaled, num_parallel_calls=tf.data.AUTOTUNE)",
    "of files": 'tf.data.Dataset.list_files("*.png").map(lambda path: tf.io.read_file(path) + str(random.random()))',
    "in an order": "def mixed(x, y):\n    random.shuffle(ORDER)\n    return tf.gather(x, ORDER), y\n\ndata.map(mixed)",
    "in a function of TensorFlow": "@tf.function\ndef f(x):\n    return x * scale()\n\nf(tf.ones([3]))",
}
EACH_TIME: Final = {
    "by what NumPy runs": "data.map(lambda x, y: (tf.numpy_function(drawn, [x], tf.float32), y))",
    "by what Python runs": "data.map(lambda x, y: (tf.py_function(drawn, [x], tf.float32), y))",
    "by a generator": "tf.data.Dataset.from_generator(numbers, output_types=tf.float32).map(lambda x: x * 2.0)",
    "by TensorFlow": "data.map(lambda x, y: (x * tf.random.uniform([]), y))",
    "before": "k = random.random()\ndata.map(lambda x, y: (x * k, y))",
    "by pandas": 'pd.read_csv("a.csv")["a"].map(lambda x: x * random.random())',
    "of a dataset of another library": "load().map(lambda x: x * random.random(), num_proc=2)",
    "by Python": "print(list(map(lambda x: x * random.random(), [1.0, 2.0])))",
    "by processes": "with Pool(2) as pool:\n    pool.map(drawn, [1.0, 2.0])",
    "by eager code": "for x, y in data:\n    print(scaled(x, y))",
}


@pytest.mark.parametrize("name", ONCE)
def test_drawn_once(name: str, tmp_path: Path) -> None:
    assert _drawn(ONCE[name], tmp_path) == [Severity.WARNING]


@pytest.mark.parametrize("name", EACH_TIME)
def test_drawn_each_time(name: str, tmp_path: Path) -> None:
    assert not _drawn(EACH_TIME[name], tmp_path)


def _drawn(code: str, folder: Path) -> list[Severity]:
    (folder / "m.py").write_text(PROGRAM + code + "\n", encoding="utf-8")
    found = check([folder], Settings(target="tpu")).findings
    return [one.severity for one in found if one.code == "XLA603"]
