"""Programs whose steps a registry, a base class of a library or a chosen strategy leads to.

A comment `# finds XLA201` stands in the line of a finding; there are no others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

_ASKED: Final = re.compile(r"# finds (XLA\d+)")
TPU: Final = """\
import tensorflow as tf

def strategy_for(node):
    if node is None:
        return tf.distribute.MirroredStrategy()
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(node)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
"""
REGISTRY: Final = """\
class Registry:
    def __init__(self):
        self._held = {}

    def register(self, key):
        def keep(item):
            self._held[key] = item
            return item
        return keep

    def lookup(self, key):
        return self._held[key]
"""
REGISTERED: Final = {
    "registry.py": REGISTRY,
    "devices.py": TPU,
    "models/base.py": """\
import registry

Trainers = registry.Registry()
Tokenizers = registry.Registry()
""",
    "models/masked.py": """\
import tensorflow as tf
from models import base

@base.Trainers.register("masked")
class Masked:
    def train_step(self, batch):
        return tf.reduce_sum(tf.boolean_mask(batch, batch > 0.0))  # finds XLA201

@base.Tokenizers.register("words")
class Words:
    def train_step(self, batch):
        return float(batch.numpy().sum())
""",
    "models/plain.py": """\
import tensorflow as tf
from models import base

@base.Trainers.register("plain")
class Plain:
    def train_step(self, batch):
        return tf.reduce_sum(batch)
""",
    "run.py": """\
import sys

import tensorflow as tf
from devices import strategy_for
from models import base
from models import masked
from models import plain

def main(name, node):
    strategy = strategy_for(node)
    trainer = base.Trainers.lookup(name)()

    @tf.function
    def step(iterator):
        strategy.run(trainer.train_step, args=(next(iterator),))

    data = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
    step(iter(strategy.experimental_distribute_dataset(data)))

if __name__ == "__main__":
    main(*sys.argv[1:])
""",
}
STEPS: Final = """\
import orbit
import tensorflow as tf
from devices import strategy_for

class Evaluator(orbit.StandardEvaluator):
    def __init__(self, model, data):
        super().__init__(data)
        self.strategy = tf.distribute.get_strategy()
        self.model = model

    def eval_step(self, iterator):
        def step(inputs):
            size = [inputs["size"][0, 0], 8]
            return tf.image.resize(self.model(inputs["image"]), size)  # finds XLA205

        return self.strategy.run(step, args=(next(iterator),))
"""
SHORT: Final = """\
import tensorflow as tf
from devices import strategy_for
from parsing import parsed

def rows(training, size=None):
    data = tf.data.TFRecordDataset("gs://bucket/rows").map(parsed)
    if training:
        data = data.repeat()
    if size is not None:
        data = data.batch(size)  # finds XLA302
    return data

strategy = strategy_for("node")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
train, rest = [rows(training, 32) for training in (True, False)]
model.fit(train, steps_per_epoch=9)
model.fit(rest)
"""
CHOSEN: Final = """\
import sys

import tensorflow as tf
from devices import strategy_for

def optimizer_for(name):
    if name == "sgd":
        return tf.keras.optimizers.SGD(0.1)
    return tf.keras.optimizers.Adam(0.1)

def main(node, name):
    strategy = strategy_for(node)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
        optimizer = optimizer_for(name)

    @tf.function
    def step(batch):
        def one(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))

        strategy.run(one, args=(batch,))

    step(tf.ones([4, 4]))

main(*sys.argv[1:])
"""
BY_NAME: Final = """\
import sys

import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self, optimizer):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
        self.wanted = optimizer
        self.strategy = None

    def call(self, x):
        return self.dense(x)

    def create_optimizer(self):
        if self.wanted == "adam":
            self.own = tf.keras.optimizers.Adam(0.1)
        elif self.wanted == "adadelta":
            self.own = tf.keras.optimizers.Adadelta(0.1)
        elif self.wanted == "rms":
            self.own = tf.keras.optimizers.RMSprop(0.1)
        else:
            self.own = tf.keras.optimizers.SGD(0.1, momentum=0.9)

    def one(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self(x))
        self.own.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))

    def step(self, x):
        self.strategy.run(self.one, args=(x,))

def main(distributed, name):
    if distributed:
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            net = Net(name)
            net.create_optimizer()
        net.strategy = strategy
        net.step(tf.ones([4, 4]))
    else:
        net = Net(name)
        net.create_optimizer()
        net.one(tf.ones([4, 4]))

main(len(sys.argv) > 2, sys.argv[1])
"""
PROGRAMS: Final[dict[str, dict[str, str]]] = {
    "a registry of trainers, in folders without `__init__.py`": REGISTERED,
    "the same where the folder is named in full": {
        **REGISTERED,
        "run.py": REGISTERED["run.py"]
        .replace("from models import base\n", "import models.base\n")
        .replace("base.Trainers.lookup", "models.base.Trainers.lookup"),
    },
    "an evaluator that a library's loop calls": {"devices.py": TPU, "evaluator.py": STEPS},
    "a model of a strategy's, compiled elsewhere": {"devices.py": TPU, "main.py": SHORT},
    "one of two strategies, by an argument": {"devices.py": TPU, "main.py": CHOSEN},
    "one of four optimizers, by a name, in a strategy's scope or without one": {"main.py": BY_NAME},
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_what_leads_to_a_step_is_followed(tmp_path: Path, files: dict[str, str]) -> None:
    wanted = set()
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        lines = enumerate(text.splitlines(), 1)
        wanted |= {(path.name, number, match[1]) for number, line in lines if (match := _ASKED.search(line))}
    report = check([tmp_path], Settings(keras=2, jobs=1))
    assert report.problems == ()
    found = {(Path(it.path).name, it.span.line, it.code) for it in report.findings if it.severity > Severity.INFO}
    assert found == wanted


@pytest.mark.parametrize(("replaced", "found"), [("update_state", []), ("reset_state", ["XLA106"])])
def test_a_method_that_new_replaces_is_not_what_keras_calls(tmp_path: Path, replaced: str, found: list[str]) -> None:
    (tmp_path / "metric.py").write_text(
        f"""\
import types
import numpy as np
import tensorflow as tf

class Matched(tf.keras.metrics.Metric):
    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        on_host = made.{replaced}

        def on_cpu(self, y_true, y_pred):
            return tf.py_function(on_host, [y_true, y_pred], [])

        made.{replaced} = types.MethodType(on_cpu, made)
        return made

    def update_state(self, y_true, y_pred):
        self.total = float(np.sum(y_true == y_pred))
""",
        encoding="utf-8",
    )
    codes = frozenset(("XLA106",))
    findings = check([tmp_path], Settings(exposure="certain", codes=codes)).findings
    assert [finding.code for finding in findings] == found
