"""What a strategy's `run` passes to its step, and what its `reduce` returns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.programs.tpu import NODE
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """
data = tf.data.TFRecordDataset("gs://rows").map(lambda row: (tf.zeros([4]), tf.io.decode_raw(row, tf.float32)))
data = strategy.experimental_distribute_dataset(data.padded_batch(8, ([4], [{length}]), drop_remainder=True))
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(tf.reduce_mean((model(x) - y) ** 2, -1), global_batch_size=8)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, model(x)

@tf.function
def train(iterator):
    loss, outputs = strategy.run(step, args=next(iterator))
    return strategy.reduce("SUM", loss, axis=None), strategy.reduce("SUM", outputs, axis=0)

history = []
iterator = iter(data)
for number in range(100):
    loss, outputs = train(iterator)
    {then}
"""


def found(folder: Path, length: str, then: str) -> set[str]:
    program = folder / "main.py"
    program.write_text(NODE + PROGRAM.format(length=length, then=then), encoding="utf-8")
    report = check([program], Settings())
    assert report.problems == ()
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    "read", ["history.append(float(loss))", "print(f'{loss:.3f}')", "history.append(float(outputs[0]))"]
)
def test_what_the_replicas_come_to_is_read_in_each_iteration(tmp_path: Path, read: str) -> None:
    assert found(tmp_path, "16", read) == {"XLA516"}


@pytest.mark.parametrize(
    "kept", ["history.append(loss)", "if number % 50 == 0: print(float(loss))", "print(loss.shape)"]
)
def test_what_the_replicas_come_to_is_not_read(tmp_path: Path, kept: str) -> None:
    assert found(tmp_path, "16", kept) == set()


def test_the_next_batch_of_an_iterator_is_as_long_as_its_longest_row(tmp_path: Path) -> None:
    assert found(tmp_path, "None", "history.append(loss)") == {"XLA303"}


SHARED: Final = """
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)

def with_decay(loss):
    return loss + tf.add_n([tf.nn.l2_loss(weight) for weight in model.weights])

def step(x):
    with tf.GradientTape() as tape:
        mean = tf.reduce_mean(tf.cast(model(x), tf.float32))
        part = mean / tf.cast(strategy.num_replicas_in_sync, tf.float32)
        shown, loss = with_decay({shown}), with_decay({loss})
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return shown

@tf.function
def train(x):
    return strategy.run(step, args=(x,))

for x in strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors(tf.ones([8, 4]))):
    train(x)
"""


@pytest.mark.parametrize(("shown", "loss", "wanted"), [("mean", "part", set()), ("part", "mean", {"XLA518"})])
def test_what_is_shown_is_not_taken_for_the_loss(tmp_path: Path, shown: str, loss: str, wanted: set[str]) -> None:
    program = tmp_path / "main.py"
    program.write_text(NODE + SHARED.format(shown=shown, loss=loss), encoding="utf-8")
    report = check([program], Settings())
    assert report.problems == ()
    assert {finding.code for finding in report.findings} == wanted
