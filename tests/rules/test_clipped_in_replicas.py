"""Gradients that are clipped in each replica of a strategy, before and behind the adding up (XLA522)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1, use_bias=False)])
    optimizer = tf.keras.optimizers.SGD(1.0{own})
optimizer.build(model.trainable_variables)
model.set_weights([tf.constant([[0.5], [-1.0], [2.0]])])
limit = 0.5

def sizes(gradients):
    return tf.linalg.global_norm(gradients)

def step(x, y):
    with tf.GradientTape() as tape:
        losses = tf.reduce_sum((model(x) - y) ** 2, -1)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=8)
    grads = tape.gradient(loss, model.trainable_variables)
    {clip}
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

@tf.function
def train(x, y):
    strategy.run(step, args=(x, y))

before = tf.constant(model.get_weights()[0])
rows = tf.reshape(tf.range(24.0), [8, 3])
data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1] * 3.0)).batch(8, drop_remainder=True)
for x, y in strategy.experimental_distribute_dataset(data):
    train(x, y)
"""
OF_EACH: Final = {
    "all": "grads, norm = tf.clip_by_global_norm(grads, limit)",
    "the first result": "grads = tf.clip_by_global_norm(grads, clip_norm=0.5)[0]",
    "each": "grads = [tf.clip_by_norm(grad, limit) for grad in grads]",
    "each that there is": "grads = [None if grad is None else tf.clip_by_norm(grad, 0.5) for grad in grads]",
    "twice": "grads = [tf.clip_by_norm(g, 9.0) for g in grads]\n    grads, _ = tf.clip_by_global_norm(grads, limit)",
    "as a list": "grads = list(tf.clip_by_global_norm(grads, limit)[0])",
    "under another name": "clipped, _ = tf.clip_by_global_norm(grads, limit)\n    grads = clipped",
}
OF_THE_SUM: Final = {
    "added up before": """everywhere = tf.distribute.get_replica_context()
    grads = everywhere.all_reduce("SUM", grads)
    grads, _ = tf.clip_by_global_norm(grads, limit)
    grads = [grad / everywhere.num_replicas_in_sync for grad in grads]""",
    "the bound shared out": """bound = limit / strategy.num_replicas_in_sync
    grads, _ = tf.clip_by_global_norm(grads, bound)""",
    "shared out behind": """grads, _ = tf.clip_by_global_norm(grads, limit)
    grads = [grad / strategy.num_replicas_in_sync for grad in grads]""",
}
NOT_CLIPPED: Final = {
    "to be shown": "shown, norm = tf.clip_by_global_norm(grads, limit)",
    "the loss": "tf.clip_by_value(loss, 0.0, 1.0)",
}
OWN: Final = ("clipnorm=0.5", "global_clipnorm=0.5", "clipvalue=0.25")
SHORT: Final = {PROGRAM.format(clip=clip, own=""): "up to the bound" for clip in OF_THE_SUM.values()}
LONG: Final = {PROGRAM.format(clip=clip, own=""): "longer" for clip in OF_EACH.values()}
BY_KERAS: Final = {PROGRAM.format(clip="", own=f", {own}"): "longer" for own in OWN}
STEPS: Final = LONG | SHORT | BY_KERAS
MEASURE: Final = """
import json, sys
import tensorflow as tf

devices = [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
lengths = []
for program in json.load(sys.stdin):
    names = {}
    exec(program, names)
    lengths.append(float(tf.norm(names["before"] - names["model"].get_weights()[0])))
print(json.dumps(lengths))
"""


def _found(folder: Path, text: str, keras: int | None = None, target: str = "cpu") -> list[Severity]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    report = check([folder], Settings(target=target, keras=keras))
    assert report.problems == ()
    return [finding.severity for finding in report.findings if finding.code == "XLA522"]


@pytest.mark.parametrize("name", [*OF_EACH, *OF_THE_SUM, *NOT_CLIPPED])
def test_what_is_clipped_in_each_replica(name: str, tmp_path: Path) -> None:
    clip = (OF_EACH | OF_THE_SUM | NOT_CLIPPED)[name]
    places = (clip.count("tf.clip_by") if name in OF_EACH else 0) * [Severity.WARNING]
    assert _found(tmp_path, PROGRAM.format(clip=clip, own="")) == places


@pytest.mark.compiler
@pytest.mark.parametrize("steps", [pytest.param(STEPS, marks=claim(MEASURE, STEPS), id="all")])
def test_steps_are_as_long_on_two_devices(steps: dict[str, str]) -> None:
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, "-c", MEASURE]
    given = json.dumps([*steps])
    ran = subprocess.run(
        command, input=given, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    lengths = json.loads(ran.stdout.splitlines()[-1])
    assert ["longer" if length > 0.501 else "up to the bound" for length in lengths] == [*steps.values()]


@pytest.mark.parametrize(("keras", "found"), [(2, []), (None, [Severity.INFO]), (3, [Severity.INFO])])
@pytest.mark.parametrize("own", OWN)
def test_keras_2_adds_up_before_its_optimizers_clip(
    own: str, keras: int | None, found: list[Severity], tmp_path: Path
) -> None:
    assert _found(tmp_path, PROGRAM.format(clip="", own=f", {own}"), keras) == found


def test_the_steps_of_a_program_without_a_strategy_are_told_of_once(tmp_path: Path) -> None:
    lines = PROGRAM.format(clip=OF_EACH["all"], own="").splitlines()
    alone = [line for line in lines if "strategy = " not in line]
    text = (
        "\n".join(alone)
        .replace("with strategy.scope():", "if True:")
        .replace("strategy.run(step, args=(x, y))", "step(x, y)")
    )
    text = text.replace("strategy.experimental_distribute_dataset(data)", "data")
    assert _found(tmp_path, text) == []
    assert _found(tmp_path, text, target="tpu") == [Severity.INFO]
