"""Many findings of one value: the first ones alone are warnings or errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SIZES = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def sizes(n, m):
    many = tf.zeros([n]), tf.ones([n, 2]), tf.range(n), tf.fill([n], 1.0), tf.zeros([n, 3])
    return many, tf.zeros([m])
"""


@pytest.mark.parametrize(("target", "severity"), [(None, Severity.WARNING), ("tpu", Severity.ERROR)])
def test_the_further_findings_of_a_value_are_information(
    target: str | None, severity: Severity, tmp_path: Path
) -> None:
    (tmp_path / "sizes.py").write_text(SIZES, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA205"]
    severities = [one.severity for one in found]
    assert severities == [severity] * 3 + [Severity.INFO] * 2 + [severity]
    assert all(one.notes[-1].span == found[0].span for one in found[3:5])


SELECTIONS = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def kept(boxes, scores, classes, labels):
    mask = scores > 0.5
    return (
        tf.boolean_mask(boxes, mask),
        tf.boolean_mask(scores, mask),
        tf.boolean_mask(classes, mask),
        tf.boolean_mask(labels, mask),
    )

@tf.function(jit_compile=True)
def positive(x):
    return tf.boolean_mask(x, x > 0.0)
"""


def test_the_further_selections_of_a_function_are_information(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(SELECTIONS, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA201"]
    assert [one.severity for one in found] == [Severity.WARNING] * 3 + [Severity.INFO, Severity.WARNING]
    assert found[3].notes[-1].span == found[0].span


TRAININGS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.zeros([500, 3]), np.zeros([500, 1])

def network():
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=True)
    return model
"""
BATCHES = "network().fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(64), epochs=2)\n"


def test_the_further_trainings_on_arrays_of_a_file_are_information(tmp_path: Path) -> None:
    fits = "".join(f"network().fit(x[:{number}], y[:{number}], batch_size=64)\n" for number in range(200, 205))
    (tmp_path / "train.py").write_text(TRAININGS + fits + BATCHES, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA302"]
    assert [one.severity for one in found] == [Severity.WARNING] * 3 + [Severity.INFO] * 2 + [Severity.WARNING]
    assert all(one.notes[-1].span == found[0].span for one in found[3:5])


READS = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def loss(boxes, others):
    corners = boxes.numpy()
    areas = tf.reduce_prod(boxes, 1).numpy()
    centers = others.numpy()
    widths = (boxes - others).numpy()
    return tf.reduce_sum(boxes - others) + corners + areas + centers + widths

@tf.function(jit_compile=True)
def other(x):
    return x + x.numpy()
"""


def test_the_further_reads_of_a_function_are_information(tmp_path: Path) -> None:
    (tmp_path / "loss.py").write_text(READS, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA106"]
    assert [one.severity for one in found] == [Severity.ERROR] * 3 + [Severity.INFO, Severity.ERROR]
    assert found[3].notes[-1].span == found[0].span


LOOP = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3)])

@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

optimizer = tf.keras.optimizers.SGD()
rows = tf.data.Dataset.from_tensor_slices(tf.zeros([{rows}, 4]))
for epoch in range(3):
    for x in rows.batch(32):
        loss = step(x){read}
"""


@pytest.mark.parametrize(
    ("rows", "read", "codes"),
    [
        (70, "\n        print(float(loss))", ["XLA302", "XLA516"]),
        (64, "\n        print(float(loss))", ["XLA516"]),
        (70, "\n    print(float(loss))", ["XLA302"]),
    ],
)
def test_what_a_loop_does_is_told_beside_what_is_wrong_with_its_batches(
    rows: int, read: str, codes: list[str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(LOOP.format(rows=rows, read=read), encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.span.line == 15]
    assert [one.code for one in found] == codes
    assert {one.severity for one in found} == {Severity.WARNING}


CREATIONS = """\
import tensorflow as tf

class Block(tf.keras.layers.Layer):
    def call(self, x):
        x = tf.keras.layers.Dense(8)(x)
        x = tf.keras.layers.Dense(8)(x)
        return self.last(x)

    def last(self, x):
        return tf.keras.layers.Dense(8)(x)
"""


def test_what_a_function_creates_besides_is_information(tmp_path: Path) -> None:
    (tmp_path / "block.py").write_text(CREATIONS, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code in ("XLA409", "XLA606")]
    assert [one.severity for one in found] == [Severity.ERROR, Severity.INFO, Severity.ERROR]
    assert found[1].notes[-1].span == found[0].span


STATES = """\
import keras

class Cell(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.potential = self.spikes = self.rate = self.trace = 0.0

    def call(self, x):
        self.integrate(x)
        self.fire()
        return self.spikes

    def integrate(self, x):
        self.potential = self.potential + x
        self.trace = 0.9 * self.trace + x

    def fire(self):
        self.spikes = self.spikes + self.potential
        self.rate = 0.5 * self.rate + self.spikes

class Other(Cell):
    def call(self, x):
        self.integrate(x)
        return self.potential

model = keras.Sequential([keras.Input((4,)), Cell(), Other(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
"""


def test_the_further_states_of_a_layer_are_information(tmp_path: Path) -> None:
    (tmp_path / "cell.py").write_text(STATES, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA607"]
    assert [one.severity for one in found] == [Severity.ERROR] * 3 + [Severity.INFO]
    assert found[3].notes[-1].span == found[0].span


INPUTS = """\
import tensorflow as tf

class Layer(tf.keras.layers.Layer):
    def call(self, x):
        first, second, third, last = [tf.cast(tf.reduce_sum(part), tf.int32) for part in (x[0], x[1], x[2], x[3])]
        return tf.zeros([first]), tf.zeros([second]), tf.zeros([third]), tf.zeros([last])
"""


def test_the_inputs_of_a_layer_are_no_single_cause(tmp_path: Path) -> None:
    (tmp_path / "layer.py").write_text(INPUTS, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA205"]
    assert [one.severity for one in found] == [Severity.WARNING] * 4


NAMES_GONE = """\
import tensorflow as tf

def estimator(tpu):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu)
    config = tf.contrib.tpu.RunConfig(cluster=resolver)
    return tf.contrib.tpu.TPUEstimator(config=config)
"""


def test_the_further_names_that_a_file_misses_are_information(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(NAMES_GONE, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA534"]
    assert [one.severity for one in found] == [Severity.WARNING, Severity.INFO, Severity.INFO]
    assert all(one.notes[-1].span == found[0].span for one in found[1:])
