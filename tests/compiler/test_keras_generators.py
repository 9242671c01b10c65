"""What XLA504 says of Keras's loops: which data they put into `Dataset.from_generator`, which runs Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim

PROGRAM: Final = """
import json
import keras
import numpy as np
import tensorflow as tf

wrapped = []
make = tf.data.Dataset.from_generator

def noted(*given, **named):
    wrapped.append(True)
    return make(*given, **named)

tf.data.Dataset.from_generator = noted

class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return np.ones([4, 3]), np.ones([4, 1])

def endless():
    while True:
        yield np.ones([4, 3]), np.ones([4, 1])

x, y = np.ones([4, 3]), np.ones([4, 1])
pictures = keras.src.legacy.preprocessing.image.ImageDataGenerator().flow(np.ones([4, 1, 1, 3]), y, batch_size=2)
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    over = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
    over.compile("sgd", "mse")
tried = {
    "PyDataset": lambda: model.fit(Batches(), verbose=0),
    "generator": lambda: model.fit(endless(), steps_per_epoch=2, verbose=0),
    "validation": lambda: model.fit(x, y, validation_data=Batches(), verbose=0),
    "predict": lambda: model.predict(Batches(), verbose=0),
    "pictures": lambda: over.fit(pictures, verbose=0),
    "arrays": lambda: model.fit(x, y, validation_data=(x, y), verbose=0),
    "one batch": lambda: model.train_on_batch(x, y),
}
told = {}
for name, run in tried.items():
    wrapped.clear()
    run()
    told[name] = bool(wrapped)
print(json.dumps(told))
"""
BY_PYTHON: Final = ("PyDataset", "generator", "validation", "predict", "pictures")


@pytest.mark.compiler
@pytest.mark.parametrize("program", [pytest.param(PROGRAM, marks=claim(PROGRAM, BY_PYTHON, sampled=False))])
def test_keras_puts_generators_into_a_dataset(program: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert {name for name, python in told.items() if python} == set(BY_PYTHON)
