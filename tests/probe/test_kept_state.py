"""What is measured for findings of some rules: what an object keeps of a trace, gradients that are compiled again, and
what eager execution refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import DIVERGES, FAILS, NESTED, OF_THEMSELVES, RECOMPILES, STATE, WEIGHTS, Observation, Plan
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

class Levelled(Frozen):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4, "softmax", kernel_initializer="zeros")

class Built(Frozen):
    def build(self, shape):
        self.dense.build(shape)

    @tf.function
    def call(self, x):
        return self.dense(x)

@tf.function
def padded(x):
    return tf.pad(x * x, [[0, 1]])

@tf.function
def squared(x):
    return x * x + 1.0

@tf.function
def counted_up(x):
    return tf.pad(x * x, [[0, 1]]) + tf.reduce_sum(tf.range(tf.cast(tf.reduce_max(x), tf.int32)))

CALLS = [0]

def checked(x):
    CALLS[0] += 1
    tf.debugging.assert_less(tf.reduce_sum(x) * 0.0 + float(CALLS[0]), 2.0, "called again")
    return x * 2.0

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


def line_of(text: str, after: str = "import keras") -> int:
    start = next(number for number, line in enumerate(LINES) if after in line)
    return next(number for number, line in enumerate(LINES, 1) if number > start and text in line)


def seen(worker: Worker, folder: Path, name: str, kind: str = "method") -> list[Observation]:
    file = folder / "m.py"
    file.write_text(CODE)
    wanted: tuple[int, ...] = tuple(range(1, len(LINES) + 1))
    if kind != "method":  # at its decorator
        wanted = (line_of("def call", name) if kind == "class" else line_of(f"def {name}") - 1,)
    rules, roots = tuple(sorted(OF_THEMSELVES)), (str(folder),)
    target = Target(str(file), name, kind=kind, wanted=wanted, roots=roots, autograph=True, rules=rules)
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
    assert [one.kind for one in seen(worker, tmp_path, "Levelled", "class") if one.per == WEIGHTS] == [DIVERGES]
    assert [one.kind for one in seen(worker, tmp_path, "Built", "class") if one.per == WEIGHTS] == []


@pytest.mark.compiler
def test_gradients_of_what_is_a_function_by_itself(worker: Worker, tmp_path: Path) -> None:
    found = {}
    for name in ("padded", "squared", "counted_up"):
        found[name] = [one.kind for one in seen(worker, tmp_path, name, "function") if one.per == NESTED]
    assert found["padded"] == [RECOMPILES]
    assert found["squared"] == []  # which needs no constants
    assert found["counted_up"] == []  # it is compiled again without a gradient


@pytest.mark.compiler
def test_what_eager_execution_refuses_at_the_line_in_question(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(CODE)
    line = line_of("assert_less")
    target = Target(str(file), "checked", wanted=(line,), roots=(str(tmp_path),), extreme=True)
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    assert "called again" in (outcome.not_run or "")
    assert [(one.kind, one.spots[0].line) for one in outcome.observations if one.extreme] == [(DIVERGES, line)]


@pytest.mark.compiler
def test_what_makes_variables_is_not_compiled(worker: Worker, tmp_path: Path) -> None:
    assert seen(worker, tmp_path, "Counted.__init__") == []
