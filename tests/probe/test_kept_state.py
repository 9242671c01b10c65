"""What an object keeps of a trace is told by what it holds after eager calls and after traced ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from xlalint.probe.process import Interpreter, Limits, Worker
from xlalint.probe.protocol import DIVERGES, FAILS, STATE, WEIGHTS, Observation, Plan
from xlalint.probe.refutation import OF_STATE, OF_WEIGHTS
from xlalint.probe.target import Target

CODE = """\
import keras
import tensorflow as tf

class Trainer:
    def __init__(self):
        self.steps, self.rows, self.last = 0, [], None
        self.count = tf.Variable(0)

    @tf.function
    def step(self, x):
        self.steps += 1
        self.count.assign_add(1)
        self.last = "step"
        return x / self.steps

    @tf.function(jit_compile=True)
    def collect(self, x):
        self.rows.append(x * 2.0)
        return x + 1.0

class Table(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(4,), name="kernel", initializer="ones")
        self.table = tf.cast(self.kernel, tf.float32) * 2.0
        self.width = shape[-1]

    def call(self, x):
        return x * self.table

class Frozen(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    @tf.function
    def call(self, x):
        return self.dense(x)

class Built(Frozen):
    def build(self, shape):
        self.dense.build(shape)

    @tf.function
    def call(self, x):
        return self.dense(x)

class Counted(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred):
        self.count.assign_add(1.0)

    def result(self):
        return self.count * 1.0
"""
LINES = CODE.splitlines()


@pytest.fixture(scope="module")
def worker() -> Worker:
    return Worker(Interpreter(sys.executable))


def line_of(text: str, after: str = "import keras") -> int:
    start = next(number for number, line in enumerate(LINES) if after in line)
    return next(number for number, line in enumerate(LINES, 1) if number > start and text in line)


def seen(worker: Worker, folder: Path, name: str, kind: str = "method") -> list[Observation]:
    file = folder / "m.py"
    file.write_text(CODE)
    wanted = tuple(range(1, len(LINES) + 1)) if kind != "class" else (line_of("def call", name),)
    target = Target(
        str(file), name, kind=kind, wanted=wanted, roots=(str(folder),), autograph=True, rules=(OF_STATE, OF_WEIGHTS)
    )
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    if kind == "method" and name.endswith("__init__"):
        assert outcome.not_run is not None
        assert "it creates variables" in outcome.not_run
    return list(outcome.observations)


@pytest.mark.compiler
def test_attributes_that_a_trace_sets_once(worker: Worker, tmp_path: Path) -> None:
    found = seen(worker, tmp_path, "Trainer.step")
    kept = [(one.kind, one.spots[0].line) for one in found if one.per == STATE]
    assert (DIVERGES, line_of("self.steps += 1")) in kept
    assert line_of("self.last =", "def step") not in {line for _, line in kept}  # both leave the same there
    # What differs stands where it is computed, and not on lines of what TensorFlow puts around a method.
    [apart] = [one for one in found if one.kind == DIVERGES and not one.per]
    assert [spot.line for spot in apart.spots] == [line_of("return x / self.steps")]


@pytest.mark.compiler
def test_tensors_of_a_trace(worker: Worker, tmp_path: Path) -> None:
    kept = {(one.kind, one.spots[0].line) for one in seen(worker, tmp_path, "Trainer.collect") if one.per == STATE}
    assert (FAILS, line_of("self.rows.append")) in kept
    kept = {(one.kind, one.spots[0].line) for one in seen(worker, tmp_path, "Table.build") if one.per == STATE}
    assert (FAILS, line_of("self.table = ")) in kept
    assert line_of("self.width") not in {line for _, line in kept}


@pytest.mark.compiler
def test_weights_that_a_trace_creates(worker: Worker, tmp_path: Path) -> None:
    assert [one.kind for one in seen(worker, tmp_path, "Frozen", "class") if one.per == WEIGHTS] == [DIVERGES]
    assert [one.kind for one in seen(worker, tmp_path, "Built", "class") if one.per == WEIGHTS] == []


@pytest.mark.compiler
def test_what_makes_variables_is_not_compiled(worker: Worker, tmp_path: Path) -> None:
    assert seen(worker, tmp_path, "Counted.__init__") == []
