"""Variables to which each replica of a strategy assigns data of its own, and what all of them have alike (XLA524)."""

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
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(3, use_bias=False)])
    kept = tf.Variable(tf.zeros([3]), trainable=False{made})
    other = tf.Variable(tf.zeros([3]), trainable=False)

def blend(old, new, momentum=0.9):
    return momentum * old + (1.0 - momentum) * new

def assign(variable, value):
    variable.assign(value)

def step(x):
    y = model(x)
    {update}

@tf.function
def train(x):
    strategy.run(step, args=(x,))

data = tf.data.Dataset.from_tensors(tf.range(24.0)).unbatch().batch(3).batch(8)
for x in strategy.experimental_distribute_dataset(data):
    train(x)
copies = [copy.numpy().tolist() for copy in kept.values]
"""
OWN: Final = {
    "a mean of the batch": "kept.assign(blend(kept, tf.reduce_mean(x, 0)))",
    "of what a model makes of it": "kept.assign_add(tf.reduce_sum(y, 0))",
    "by a function": "assign(kept, tf.reduce_mean(x, 0))",
    "the batch first, then the variable": "kept.assign_sub(tf.reduce_mean(x, 0) - kept)",
    "chosen by data": "kept.assign(tf.where(x[0, 0] > 6.0, other, other + 1.0))",
    "in a branch": "if tf.reduce_mean(x) > 6.0:\n        kept.assign(x[0])\n    else:\n        kept.assign(x[1])",
    "drawn at random": "kept.assign(tf.random.normal([3]))",
    "a gradient": """with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    kept.assign_sub(0.1 * tf.reduce_sum(tape.gradient(loss, model.trainable_variables)[0], 0))""",
}
ALIKE: Final = {
    "a number": "kept.assign_add([1.0, 1.0, 1.0])",
    "of a shape": "kept.assign_add(tf.ones([3]) * tf.cast(tf.shape(x)[0], tf.float32))",
    "of another variable": "kept.assign(blend(kept, other + 1.0))",
    "of weights": "for weight in model.trainable_variables:\n        kept.assign(blend(kept, weight[0]))",
    "of a weight by name": "assign(kept, tf.linalg.diag_part(model.layers[0].kernel))",
    "a mean of all replicas": """context = tf.distribute.get_replica_context()
    kept.assign(blend(kept, context.all_reduce("MEAN", tf.reduce_mean(x, 0))))""",
    "several at once": """sums = tf.distribute.get_replica_context().all_reduce("SUM", [tf.reduce_sum(x, 0), y])
    kept.assign(sums[0] + tf.reduce_mean(sums[1], 0))""",
    "a part of several": """totals = tf.distribute.get_replica_context().all_reduce("SUM", (y, x))
    kept.assign(totals[0][0, :] + totals[1][0, :])""",
    "merged": """def merge(strategy, value):
        kept.assign(strategy.reduce("MEAN", value, axis=None))
    tf.distribute.get_replica_context().merge_call(merge, args=(tf.reduce_mean(x, 0),))""",
}
AGGREGATED: Final = (
    ", aggregation=tf.VariableAggregation.MEAN",
    ", aggregation=tf.VariableAggregation.SUM",
    ', aggregation=getattr(tf.VariableAggregation, "ONLY_FIRST_REPLICA")',
    ', **{"aggregation": tf.VariableAggregation.MEAN}',
)
UNTOLD: Final = (
    ", aggregation=tf.VariableAggregation.NONE",
    ", synchronization=tf.VariableSynchronization.AUTO",
    ', name="kept"',
)
MEAN: Final = "kept.assign(tf.reduce_mean(x, 0))"
PROGRAMS: Final = (
    {PROGRAM.format(update=update, made=""): True for update in OWN.values()}
    | {PROGRAM.format(update=update, made=""): False for update in ALIKE.values()}
    | {PROGRAM.format(update=MEAN, made=made): False for made in AGGREGATED}
    | {PROGRAM.format(update=MEAN, made=made): True for made in UNTOLD}
)
MEASURE: Final = """
import json, sys
import tensorflow as tf

devices = [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])  # several would count their collectives alike
tf.distribute.MirroredStrategy = lambda devices: strategy
differ = []
for number, program in enumerate(json.load(sys.stdin)):
    with open(f"{sys.argv[1]}/program{number}.py", "w") as file:  # AutoGraph reads the source
        file.write(program)
    names = {}
    exec(compile(program, file.name, "exec"), names)
    first, second = names["copies"]
    differ.append(first != second)
print(json.dumps(differ))
"""
LAYER: Final = """\
import tensorflow as tf

class Normalized(tf.keras.layers.Layer):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def build(self, shape):
        self.layer.build(shape)
        self.w = self.layer.kernel
        self.u = self.add_weight(name="u", shape=[1, self.w.shape[-1]], trainable=False)

    def call(self, x, training=None):
        if training:
            self.update(x)
        return self.layer(x)

    def update(self, x):
        {update}

def power(w, u):
    v = tf.math.l2_normalize(tf.matmul(u, w, transpose_b=True))
    return tf.math.l2_normalize(tf.matmul(v, w))

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), Normalized({layer}), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
"""
OF_WEIGHTS: Final = (
    "self.u.assign(power(tf.reshape(self.w, [-1, self.w.shape[-1]]), self.u))",
    "self.u.assign(power(self.layer.kernel, self.u))",
    "self.u.assign(tf.cast(tf.reshape(self.w, [1, -1])[:, :3], self.u.dtype))",
    "self.u.assign(self.layer.kernel[:1, :] + 0.5 * self.u)",
)
LAYERS: Final = ("tf.keras.layers.Dense(3)", "__import__('layers').make(3)")
ALONE: Final = """\
import tensorflow as tf

class Follow(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.mean = tf.Variable(0.0, trainable=False)
        self.size = tf.Variable(0.0, trainable=False)

    def call(self, x):
        self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(x))
        self.size.assign(tf.norm(x))
        return x

model = tf.keras.Sequential([tf.keras.Input([3]), Follow(), tf.keras.layers.Dense(1)])
"""
TRAINED: Final = 'model.compile("sgd", "mse")\nmodel.fit(tf.ones([8, 3]), tf.ones([8, 1]))\n'


def _found(folder: Path, text: str, target: str = "cpu") -> list[Severity]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    report = check([folder], Settings(target=target))
    assert report.problems == ()
    return [finding.severity for finding in report.findings if finding.code == "XLA524"]


@pytest.mark.parametrize("name", [*OWN, *ALIKE])
def test_what_each_replica_assigns(name: str, tmp_path: Path) -> None:
    update = (OWN | ALIKE)[name]
    places = update.count("kept.assign") + update.count("assign(kept") if name in OWN else 0
    assert _found(tmp_path, PROGRAM.format(update=update, made="")) == places * [Severity.WARNING]


@pytest.mark.parametrize("made", [*AGGREGATED, *UNTOLD])
def test_what_a_variable_is_created_with(made: str, tmp_path: Path) -> None:
    places = [Severity.WARNING] if made in UNTOLD else []
    assert _found(tmp_path, PROGRAM.format(update=MEAN, made=made)) == places


@pytest.mark.compiler
@pytest.mark.parametrize("programs", [pytest.param(PROGRAMS, marks=claim(MEASURE, PROGRAMS), id="all")])
def test_copies_differ_on_two_devices(programs: dict[str, bool], tmp_path: Path) -> None:
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, "-c", MEASURE, str(tmp_path)]
    ran = subprocess.run(
        command,
        input=json.dumps([*programs]),
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == [*programs.values()]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("update", OF_WEIGHTS)
def test_the_weights_of_a_layer_are_no_data(update: str, layer: str, tmp_path: Path) -> None:
    assert _found(tmp_path, LAYER.format(update=update, layer=layer)) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_what_a_layer_is_passed_is_data(layer: str, tmp_path: Path) -> None:
    update = "self.u.assign(tf.reduce_mean(x, 0, keepdims=True) @ self.w)"
    assert _found(tmp_path, LAYER.format(update=update, layer=layer)) == [Severity.WARNING]


def test_a_program_without_a_strategy_is_told_of_once(tmp_path: Path) -> None:
    assert _found(tmp_path, ALONE + TRAINED) == []
    assert _found(tmp_path, ALONE + TRAINED, target="tpu") == [Severity.INFO]


def test_what_is_not_trained_has_no_replicas(tmp_path: Path) -> None:
    assert _found(tmp_path, ALONE + "model(tf.ones([8, 3]))\n", target="tpu") == []


def test_another_program_of_the_files_says_nothing_of_this_one(tmp_path: Path) -> None:
    other = """\
import tensorflow as tf

with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones([8, 3]), tf.ones([8, 1]))
"""
    (tmp_path / "other.py").write_text(other, encoding="utf-8")
    assert _found(tmp_path, ALONE + TRAINED) == []


def test_a_variable_from_outside_of_the_scope_has_no_copies(tmp_path: Path) -> None:
    outside = PROGRAM.format(update=MEAN, made="").replace("with strategy.scope():\n", "if True:\n")
    assert _found(tmp_path, outside) == []
