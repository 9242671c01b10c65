"""What a branch or a loop of a script's top-level code binds is there for the functions that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

FUNCTIONS: Final = """\
import numpy as np
import tensorflow as tf

size = 8
whole = None

def batches(x):
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(16, drop_remainder=remainder)
    return strategy.experimental_distribute_dataset(dataset)

def choose():
    global whole
    whole = True

def chosen(x):
    return tf.data.Dataset.from_tensor_slices(x).batch(16, drop_remainder=bool(whole))

@tf.function
def run(batch):
    return strategy.run(step, args=(batch,))

def step(batch):
    return tf.reduce_sum(model(batch))
"""
SETUP: Final = """
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.TPUStrategy(tpu)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
"""
LOOP: Final = """
    for batch in dataset:
        run(batch)
"""
BATCHES: Final = "\n    dataset = batches(np.load('rows.npy'))"
GUARDS: Final = ("if __name__ == '__main__':", "if True:", "for _ in range(1):")


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("remainder", [False, True], ids=["smaller last batch", "whole batches"])
def test_functions_read_what_a_branch_binds(guard: str, remainder: bool, tmp_path: Path) -> None:
    main = guard + f"\n    remainder = {remainder}" + SETUP + BATCHES + LOOP
    assert _found(FUNCTIONS + main, tmp_path) == ([] if remainder else [8])


def test_what_a_function_assigns_stays(tmp_path: Path) -> None:
    main = GUARDS[0] + SETUP + "\n    choose()\n    dataset = chosen(np.load('rows.npy'))" + LOOP
    assert _found(FUNCTIONS + main, tmp_path) == []


def _found(program: str, folder: Path) -> list[int]:
    (folder / "main.py").write_text(program, encoding="utf-8")
    report = check([str(folder)], Settings())
    return [finding.span.line for finding in report.findings if finding.code == "XLA302"]
