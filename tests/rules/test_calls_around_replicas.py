"""Methods of a strategy in the step that it runs: in which forms, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    weight = tf.Variable(1.0)
x = tf.ones([4])

def total(values):
    return strategy.reduce("SUM", values, axis=None)

class Trainer:
    def __init__(self, strategy):
        self.strategy = strategy

    def mean(self, values):
        return self.strategy.reduce(tf.distribute.ReduceOp.MEAN, values, axis=0)

    def inner(self, x):
        return self.mean(weight * x)

    def outer(self, x):
        return weight * x

    @tf.function
    def wrong(self, x):
        return self.strategy.run(self.inner, args=(x,))

    @tf.function
    def right(self, x):
        return self.mean(self.strategy.run(self.outer, args=(x,)))

"""
RUN = """
@tf.function
def train(x):
    return strategy.run(step, args=(x,))

train(x)
"""
TOLD = {
    "a sum": 'def step(x):\n    return strategy.reduce("SUM", weight * x, axis=None)\n',
    "a mean": "def step(x):\n    return strategy.reduce(tf.distribute.ReduceOp.MEAN, weight * x, axis=0)\n",
    "by keywords": 'def step(x):\n    return strategy.reduce(reduce_op="SUM", value=x, axis=None)\n',
    "by a function": "def step(x):\n    return total(weight * x)\n",
    "a scope": "def step(x):\n    with strategy.scope():\n        return weight * x\n",
    "a scope and a tape": "def step(x):\n    with strategy.scope(), tf.GradientTape():\n        return weight * x\n",
    "a run in a run": "def step(x):\n    return strategy.run(lambda y: weight * y, args=(x,))\n",
    "gathered": "def step(x):\n    return strategy.gather(weight * x, axis=0)\n",
    "in a branch": """
def step(x):
    if x.shape[0] > 2:
        x = strategy.reduce("SUM", x, axis=None)
    return x
""",
    "in a loop": """
def step(x):
    for _ in range(2):
        x = strategy.reduce("SUM", x, axis=None)
    return x
""",
    "a lambda": 'step = lambda x: strategy.reduce("SUM", weight * x, axis=None)\n',
    "another name": 'mine = strategy\n\ndef step(x):\n    return mine.reduce("SUM", weight * x, axis=None)\n',
    "the strategy of the scope": """
def step(x, strategy=strategy):
    return strategy.reduce("SUM", weight * x, axis=None)
""",
    "a step that is itself compiled": """
@tf.function
def step(x):
    return strategy.reduce("SUM", weight * x, axis=None)
""",
}
SILENT = {
    "around the replicas": """
def step(x):
    return weight * x

@tf.function
def whole(x):
    return strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)

whole(x)
""",
    "by a function around": "def step(x):\n    return weight * x\n\ntotal(strategy.run(step, args=(x,)))\n",
    "the number of replicas": "def step(x):\n    return weight * x / strategy.num_replicas_in_sync\n",
    "of all replicas": """
def step(x):
    return tf.distribute.get_replica_context().all_reduce("SUM", weight * x)
""",
    "merged": """
def merged(strategy, values):
    return strategy.reduce("SUM", values, axis=None)

def step(x):
    return tf.distribute.get_replica_context().merge_call(merged, args=(weight * x,))
""",
    "merged, by the name outside": """
def merged(_, values):
    return total(values)

def step(x):
    return tf.distribute.get_replica_context().merge_call(merged, args=(weight * x,))
""",
    "a sum of TensorFlow": "def step(x):\n    return tf.reduce_sum(weight * x)\n",
    "a dataset": "def step(x):\n    return weight * x\n\ntf.data.Dataset.range(4).reduce(0, lambda a, b: a + 1)\n",
    "one device": """
alone = tf.distribute.OneDeviceStrategy("/cpu:0")

def other(x):
    return alone.num_replicas_in_sync * x

def step(x):
    return weight * x

alone.run(other, args=(x,))
""",
}


def lines(tmp_path: Path, code: str) -> list[int]:
    (tmp_path / "program.py").write_text(HEAD + code, "utf-8")
    report = check([tmp_path], Settings(codes=frozenset(("XLA533",))))
    return [one.span.line for one in report.findings]


@pytest.mark.parametrize("code", TOLD.values(), ids=TOLD)
def test_a_method_in_the_step_is_told(tmp_path: Path, code: str) -> None:
    assert len(lines(tmp_path, code + RUN)) == 1


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_a_method_elsewhere_is_left_alone(tmp_path: Path, code: str) -> None:
    assert lines(tmp_path, code + RUN) == []


def test_methods_of_one_object_are_told_apart(tmp_path: Path) -> None:
    assert len(lines(tmp_path, "Trainer(strategy).wrong(x)\n")) == 1
    assert lines(tmp_path, "Trainer(strategy).right(x)\n") == []
