"""Programs of several replicas: the step that each runs is compiled, and it is said that they are not together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import ran

CODE = """\
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])


@tf.function
def train(batch):
    def step(x):
        y = model(x)
        total = tf.reduce_sum(tf.boolean_mask(y, y > 0)[::2])
        return tf.distribute.get_replica_context().all_reduce("sum", total)

    return strategy.run(step, args=(batch,))


@tf.function
def total(batch):
    return strategy.reduce("sum", strategy.run(lambda x: tf.reduce_sum(model(x)), args=(batch,)), axis=None)
"""
EXPECTED = {
    "train": ("not run", "it returns what its replicas return: replicas are not compiled together"),
    "train.<locals>.step": ("fails", "one of 2 replicas: replicas are not compiled together"),
    "total": ("not run", "it runs 2 replicas: replicas are not compiled together"),
}


@pytest.mark.slow
@pytest.mark.compiler
def test_replicas_are_not_compiled_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(CODE)
    _, out, _ = ran(capsys, "probe", *(f"train.py::{name}" for name in EXPECTED), "--output-format", "json")
    functions = {one["function"]: one for one in json.loads(out)["functions"]}
    assert functions.keys() == EXPECTED.keys()
    for name, (outcome, words) in EXPECTED.items():
        told = functions[name]
        assert told["outcome"] == outcome
        assert any(said.startswith(words) for said in (told["text"], *told["details"])), told
