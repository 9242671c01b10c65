"""A step of training in a plain `tf.function`: with a target it is judged as what that would compile."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

MARK: Final = "  # flagged"

STEPS: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()
writer = tf.summary.create_file_writer("logs")

def named(x):
    return tf.strings.length(tf.strings.as_string(x))

@tf.function
def train(x):
    tf.print("before the step")  # flagged
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
        tf.print(loss)  # flagged
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=0)  # flagged
    return loss

@tf.function
def predict(x):
    tf.print(x)
    return model(x)

for _ in range(3):
    train(tf.ones([4, 2]))
    predict(tf.ones([4, 2]))
"""


@pytest.mark.parametrize("target", ["tpu", None])
def test_a_step_of_a_plain_function_is_judged_for_a_target(tmp_path: Path, target: str | None) -> None:
    (tmp_path / "m.py").write_text(STEPS, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA403"]
    lines = {number for number, line in enumerate(STEPS.splitlines(), 1) if line.endswith(MARK)}
    assert {one.span.line for one in found} == (lines if target else set())
    assert {one.severity for one in found} <= {Severity.WARNING}


EAGER: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()

def train(data):
    for x in data:
        tf.print("before the step")
        with tf.GradientTape() as tape:
            tf.print("in the step")  # flagged
            loss = tf.reduce_mean(model(x))
        tf.print("behind the step")
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

train([tf.ones([4, 2])] * 30)
"""


@pytest.mark.parametrize("target", ["tpu", None])
def test_what_a_tape_records_line_by_line_is_judged_for_a_target(tmp_path: Path, target: str | None) -> None:
    (tmp_path / "m.py").write_text(EAGER, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA403"]
    lines = {number for number, line in enumerate(EAGER.splitlines(), 1) if line.endswith(MARK)}
    assert {one.span.line for one in found} == (lines if target else set())
    assert {one.severity for one in found} <= {Severity.WARNING}


def test_what_a_compiled_function_runs_as_well_is_an_error(tmp_path: Path) -> None:
    shared = """
@tf.function(jit_compile=True)
def compiled(x):
    return named(x)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)) + tf.cast(tf.reduce_sum(named(x)), tf.float32)
    return tape.gradient(loss, model.trainable_variables)

compiled(tf.ones([4, 2]))
step(tf.ones([4, 2]))
"""
    (tmp_path / "m.py").write_text(STEPS + shared, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA404"]
    assert found
    assert {one.severity for one in found} == {Severity.ERROR}


def test_a_second_tape_is_in_the_same_function(tmp_path: Path) -> None:
    """Behind the first one the code is a step already; it is no eager one."""
    twice = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

@tf.function(input_signature=[tf.TensorSpec([None, None])])
def adversarial(x):
    with tf.GradientTape() as first:
        loss = tf.reduce_sum(model(x))
    with tf.GradientTape() as second:
        loss = loss + tf.reduce_sum(model(x))
    return loss

def train():
    for size in range(9):
        adversarial(np.zeros([size + 1, 3]))

if __name__ == "__main__":
    train()
"""
    (tmp_path / "m.py").write_text(twice, encoding="utf-8")
    codes = {one.code for one in check([tmp_path], Settings(target="tpu")).findings}
    assert "XLA308" in codes
    assert "XLA506" not in codes


PASSED: Final = """\
import functools

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

class Learner:
    def learn(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
            tf.print(loss)  # flagged
        return tape.gradient(loss, model.trainable_variables)

def work(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
        tf.print(loss)  # flagged
    return tape.gradient(loss, model.trainable_variables)

def weighted(x, weight):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)) * weight
        tf.print(loss)  # flagged
    return tape.gradient(loss, model.trainable_variables)

def measure(x):
    tf.print(x)
    return tf.reduce_sum(model(x))

@tf.function
def run(step, x):
    return step(x)

@tf.function
def run_learner(learner, x):
    return learner.learn(x)

@tf.function
def run_named(steps, x):
    return [step(x) for step in steps.values()]

run(work, tf.ones([4, 2]))
run(measure, tf.ones([4, 2]))
run_learner(Learner(), tf.ones([4, 2]))
run_named({"weighted": functools.partial(weighted, weight=2.0)}, tf.ones([4, 2]))
"""


def test_a_step_that_a_plain_function_is_passed_is_judged_for_a_target(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PASSED, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA403"]
    lines = {number for number, line in enumerate(PASSED.splitlines(), 1) if line.endswith(MARK)}
    assert {one.span.line for one in found} == lines


MADE: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
data = tf.data.Dataset.from_tensor_slices(tf.ones([8, 3])).batch(2, drop_remainder=True)

def loss_of(net, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x))
    return tape.gradient(loss, net.trainable_variables)

for x in data:
    @tf.function  # flagged
    def step(x):
        return loss_of(model, x)

    step(x)

def train(net, epochs):
    epoch = 0
    while epoch < epochs:
        fast = tf.function(lambda x: loss_of(net, x))  # flagged
        for x in data:
            fast(x)
        epoch += 1

train(model, 3)

def search(rates):
    for rate in rates:
        net = tf.keras.Sequential([tf.keras.layers.Dense(1)])

        @tf.function
        def learn(x):
            return loss_of(net, x)

        for x in data:
            learn(x)

search([0.1, 0.2])
kinds = {}
for kind in ("sum", "mean"):
    kinds[kind] = tf.function(lambda x, kind=kind: loss_of(model, x))
for x in data:
    kinds["sum"](x)
"""


@pytest.mark.parametrize("target", ["tpu", None])
def test_a_plain_function_that_a_loop_makes_is_made_again_for_a_target(tmp_path: Path, target: str | None) -> None:
    (tmp_path / "m.py").write_text(MADE, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA307"]
    lines = {number for number, line in enumerate(MADE.splitlines(), 1) if line.endswith(MARK)}
    assert {one.span.line for one in found} == (lines if target else set())


MANAGER: Final = """\
class Manager:
    def __init__(self, batch=100, epochs=3):
        self.epochs = epochs
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam()
        self.data = self.read("train", batch)

    def read(self, name, batch):
        return tf.data.TFRecordDataset(name).map(parse).batch(batch)  # flagged

    def learn(self, data):
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self.model(x))
            gradients = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

        batches = iter(data)
        while True:
            batch = next(batches, None)
            if batch is None:
                break
            step(batch)

    def run(self, data=None):
        data = data if data else self.data
        for _ in range(self.epochs):
            self.learn(data)

def train(model, name="train"):
    for x in tf.data.TFRecordDataset(name).map(parse).batch(8):  # flagged
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        print(len(tape.gradient(loss, model.trainable_variables)))

def train_on(model, data):
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        print(len(tape.gradient(loss, model.trainable_variables)))

def train_whole(model, name="train"):
    for x in tf.data.TFRecordDataset(name).map(parse).batch(8, drop_remainder=True):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        print(len(tape.gradient(loss, model.trainable_variables)))
"""
LIBRARIES: Final = """\
import tensorflow as tf

def parse(record):
    return tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([3], tf.float32)})["x"]
"""


@pytest.mark.parametrize("by_star", [False, True])
def test_an_eager_step_that_nothing_calls_is_judged_by_its_shapes(tmp_path: Path, by_star: bool) -> None:
    """Whether the file imports TensorFlow, or takes it of another file by `import *`."""
    (tmp_path / "libraries.py").write_text(LIBRARIES, encoding="utf-8")
    imports = "from libraries import *\n" if by_star else "import tensorflow as tf\nfrom libraries import parse\n"
    text = imports + MANAGER
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)}
    assert {one.span.line for one in found if one.code == "XLA302"} == lines
    assert not [one for one in found if one.code == "XLA506" and one.severity is not Severity.INFO]


AROUND_STEPS: Final = """\
import tensorflow as tf

strategy = tf.distribute.{strategy}

@tf.function
def train(batches, smoothing):
    strategy.run(lambda x: x * smoothing, args=(next(batches),))

def main(batches):
    for epoch in range(30):
        train(batches, {smoothing})  # flagged
"""
TPU: Final = "TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())"


@pytest.mark.parametrize(
    ("strategy", "smoothing", "told"),
    [
        (TPU, "0.1 / (epoch + 1)", [Severity.WARNING]),
        (TPU, "tf.constant(0.1 / (epoch + 1))", []),
        (TPU, "0.1", []),
        ("MirroredStrategy()", "0.1 / (epoch + 1)", []),
    ],
)
def test_a_graph_around_the_steps_of_a_strategy_is_traced_for_each_number(
    tmp_path: Path, strategy: str, smoothing: str, told: list[Severity]
) -> None:
    text = AROUND_STEPS.format(strategy=strategy, smoothing=smoothing)
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA306"]
    assert [one.severity for one in found] == told
