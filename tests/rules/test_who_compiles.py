"""What of a program XLA compiles at all: steps that no trainer can call, strategies that a target replaces, and
programs that take everything from another file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

MARK: Final = "  # flagged"
OWN_LOOP: Final = """\
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, inputs, optimizer):
        with tf.GradientTape() as tape:  # flagged
            loss = tf.reduce_mean(self(inputs))
        optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return loss

class Fitted(Net):
    def train_step(self, inputs, factor=1.0):
        with tf.GradientTape() as tape:
            loss = factor * tf.reduce_mean(self(inputs))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}

def train(model, data, optimizer):
    for batch in data:
        print(model.train_step(batch, optimizer))

data = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(16, drop_remainder=True)
train(Net(), data, tf.keras.optimizers.Adam())
fitted = Fitted()
fitted.compile("adam")
fitted.fit(data)
"""
AROUND: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD()

@tf.function
def forward(batch):
    return model(batch)

@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = strategy.reduce("SUM", strategy.run(forward, args=(batch,)), axis=None)
    gradients = tape.gradient(loss, model.trainable_variables)
    strategy.run(lambda given: optimizer.apply_gradients(zip(given, model.trainable_variables)), args=(gradients,))
    return loss

for batch in tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(16, drop_remainder=True):
    step(batch)
"""
BUILDER: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])

def net():
    with strategy.scope():
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""
RUNNER: Final = """\
from parts.builder import {names}

if __name__ == "__main__":
    model = net()
    model.compile(optimizer="adam", loss="mse", jit_compile=True)  # flagged
"""


PAIRS: Final = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

@tf.function
def test_step(pair):
    def measured(pair):
        x, y = pair
        return tf.reduce_mean(model(x) - y)

    return strategy.reduce("MEAN", strategy.run(measured, args=(pair,)), axis=None)
"""


def _found(folder: Path, code: str, target: str | None) -> set[tuple[str, int]]:
    findings = check([folder], Settings(codes=frozenset({code}), target=target)).findings
    return {(Path(one.path).name, one.span.line) for one in findings}


def _marked(name: str, text: str) -> set[tuple[str, int]]:
    return {(name, number) for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)}


def test_a_step_that_needs_more_than_the_data_is_run_by_the_loop_that_calls_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OWN_LOOP, encoding="utf-8")
    assert _found(tmp_path, "XLA506", "tpu") == _marked("train.py", OWN_LOOP)


def test_a_target_compiles_nothing_around_another_strategy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(AROUND, encoding="utf-8")
    assert _found(tmp_path, "XLA501", "tpu") == set()
    asked = AROUND.replace("@tf.function\ndef step", "@tf.function(jit_compile=True)\ndef step")
    (tmp_path / "train.py").write_text(asked, encoding="utf-8")
    assert _found(tmp_path, "XLA501", "tpu")


@pytest.mark.parametrize("names", ["net", "*"])
def test_a_program_may_take_everything_from_another_file(tmp_path: Path, names: str) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").touch()
    (tmp_path / "parts" / "builder.py").write_text(BUILDER, encoding="utf-8")
    runner = RUNNER.format(names=names)
    (tmp_path / "main.py").write_text(runner, encoding="utf-8")
    assert _found(tmp_path, "XLA501", None) == _marked("main.py", runner)


def test_a_pair_that_a_strategy_passes_on_is_no_tensor(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PAIRS, encoding="utf-8")
    assert _found(tmp_path, "XLA103", "tpu") == set()


GIVEN: Final = """\
import json
import sys

import tensorflow as tf

class Masked(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.reduce_sum(tf.boolean_mask(y_pred, y_true > 0))  # flagged

def weighted(weight):
    def loss(y_true, y_pred):
        tf.print(y_true)  # flagged
        return tf.reduce_sum(y_pred) * weight

    return loss

def measured(y_true, y_pred):
    tf.print(y_pred)  # flagged
    return tf.reduce_sum(y_pred)

def named(y_true, y_pred):
    tf.print(y_pred)  # flagged
    return tf.reduce_sum(y_pred)

def train(losses, metrics):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", loss=losses, metrics=metrics, jit_compile=True)
    model.fit(tf.zeros([64, 3]), tf.zeros([64, 1]), batch_size=8)

kept = []
for name in sys.argv:
    kept.append(measured)
train([weighted(weight) for weight in json.load(open("weights"))], kept)
train({name: named for name in sys.argv}, [Masked() if len(sys.argv) > 2 else "mse"])
"""


def test_losses_and_metrics_in_whatever_a_model_is_given(tmp_path: Path) -> None:
    """Lists and dicts of a length that nobody knows, and one of two."""
    (tmp_path / "m.py").write_text(GIVEN, encoding="utf-8")
    found = {one.span.line for one in check([tmp_path], Settings()).findings if one.code in ("XLA201", "XLA403")}
    assert found == {number for number, line in enumerate(GIVEN.splitlines(), 1) if line.endswith("# flagged")}


COMPILED: Final = """\
import tensorflow as tf
{made}

@tf.function
def largest(x):
    return tf.boolean_mask(x, x > 0)

print(largest(tf.ones([3])))
{made_of}.compile({settings})
"""


@pytest.mark.parametrize(
    ("made", "made_of", "settings", "is_keras"),
    [
        ("from cffi import FFI\n\nbuilder = FFI()", "builder", "verbose=True", False),
        ("from nets import build\n\nnet = build()", "net", "'adam', 'mse'", True),
        ("from nets import build\n\nnet = build()", "net", "optimizer='adam', clipping=3", True),
        ("net = tf.keras.Sequential()", "net", "clipping=3", True),
    ],
)
def test_what_another_library_compiles_is_no_model(
    tmp_path: Path, made: str, made_of: str, settings: str, is_keras: bool
) -> None:
    (tmp_path / "m.py").write_text(COMPILED.format(made=made, made_of=made_of, settings=settings), encoding="utf-8")
    [finding] = check([tmp_path], Settings()).findings
    assert (finding.code, finding.severity is Severity.INFO) == ("XLA201", not is_keras)


SAVED: Final = """\
import tensorflow as tf

class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.first = self.add_weight(shape=(3,))
        self.second = self.add_weight(shape=(3,))

    def is_new(self):
        return tf.reduce_sum(self.first - self.second) > 0.1

    def save_own_variables(self, store):
        if self.is_new():
            self.second.assign(self.first)
        super().save_own_variables(store)

    def load_own_variables(self, store):
        super().load_own_variables(store)
        if self.is_new():
            self.second.assign(self.first)

    def call(self, x):
        if self.is_new():  # flagged
            return x
        return x * self.first

model = tf.keras.Sequential([Scale()])
model.compile("sgd", "mse", jit_compile=True)
"""


def test_nothing_is_traced_while_a_layer_is_saved_and_loaded(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SAVED, encoding="utf-8")
    assert _found(tmp_path, "XLA101", None) == _marked("main.py", SAVED)


# The layer of the program above, whose `call` is left out, and what saves and loads it.
LAYERS: Final = SAVED.replace("if self.is_new():  # flagged", "if x is None:").replace("model.compile(", "# (")
SAVING: Final = """\
import layers, tensorflow as tf
layers.model(tf.ones([2, 3]))
layers.model.save_weights("kept.weights.h5")
layers.model.load_weights("kept.weights.h5")
"""


@pytest.mark.compiler
@claim(LAYERS, SAVING, sampled=False)
def test_a_layer_that_reads_its_weights_is_saved_and_loaded(tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text(LAYERS, encoding="utf-8")
    subprocess.run([sys.executable, "-c", SAVING], cwd=tmp_path, check=True)


TABLE: Final = """\
for path in paths:
    order = path.split("/")[-1]
    now = table[table["order"] == order]
    boxes = features["boxes"][features["scores"] > limit]  # flagged
    print(len(now), boxes)
"""


def test_a_fragment_may_be_about_a_table(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text(TABLE, encoding="utf-8")
    assert _found(tmp_path, "XLA201", None) == _marked("show.py", TABLE)


FORMS: Final = """\
import tensorflow as tf

class Rows(tf.keras.layers.Layer):
    def call(self, x: tf.Tensor):
        {statement}
"""


@pytest.mark.parametrize(
    ("statement", "older"),
    [
        ("for row in tf.nn.relu(x):\n            print(row)", True),
        ("return [row * 2.0 for row in tf.nn.relu(x)]", False),
        ("first, *rest = tf.nn.relu(x)", False),
        ("return tuple(tf.shape(x))", False),
        ("return max(tf.nn.relu(x)[0])", False),
        ("return tf.reduce_sum(x) > 0.0 and tf.reduce_max(x) > 1.0", True),
    ],
)
def test_an_older_keras_is_named_where_it_helps(statement: str, older: bool, tmp_path: Path) -> None:
    """AutoGraph, under which Keras 2 traces, converts no comprehension, no unpacking, and no `tuple` or `max`."""
    (tmp_path / "layers.py").write_text(FORMS.format(statement=statement), encoding="utf-8")
    found = [one.message for one in check([tmp_path], Settings()).findings if one.code in ("XLA103", "XLA104")]
    assert ["(Keras 2 converts it)" in message for message in found] == [older], found


OWN_LAYER: Final = """\
import tensorflow as tf

class Clip(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        return x
"""
# What a package requires, and how grave it is then what a layer of it does that compiled code can do nowhere.
REQUIRED: Final = {
    "tensorflow==1.13.1": Severity.INFO,
    "tensorflow-gpu~=1.15": Severity.INFO,
    "tensorflow<2": Severity.INFO,
    "tensorflow>=1.13": Severity.WARNING,
    "tensorflow==2.10": Severity.WARNING,
    "tensorflow_probability==0.6.0": Severity.WARNING,
}


@pytest.mark.parametrize("required", REQUIRED)
def test_tensorflow_1_compiles_what_asks_for_it_alone(required: str, tmp_path: Path) -> None:
    """There is no default of Keras by which the users of a package may have it compiled."""
    package = tmp_path / "clips"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "clip.py").write_text(OWN_LAYER, encoding="utf-8")
    setup = (
        f"from setuptools import setup\n\nsetup(name='clips', packages=['clips'], install_requires=['{required}'])\n"
    )
    (tmp_path / "setup.py").write_text(setup, encoding="utf-8")
    found = [each.severity for each in check([tmp_path], Settings(keras=2)).findings if each.code == "XLA101"]
    assert found == [REQUIRED[required]]


PREPARED: Final = """\
import tensorflow as tf

class Centred(tf.keras.layers.Layer):
    def call(self, x):
        if tf.rank(x) == 3:  # flagged
            y = x[None]
        else:
            y = x
        return y - tf.reduce_mean(y)

class Prepared(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.centred = Centred()

    def call(self, x):
        return self.centred(x)

def parsed(row):
    return Prepared()(tf.reshape(tf.io.decode_raw(row, tf.float32), [-1, 8, 3]))[0]

rows = tf.data.TFRecordDataset("rows").map(lambda row: parsed(row)).batch(16, drop_remainder=True)
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(rows)
"""
IN_A_MODEL: Final = """\
inputs = tf.keras.Input([8, 3])
outputs = Centred()(inputs)
"""


@pytest.mark.parametrize(
    ("keras", "more", "flagged"),
    [
        (2, "", False),
        (2, IN_A_MODEL, True),
        (
            2,
            "with strategy.scope():\n    other = tf.keras.Sequential([Centred()])\nother.compile('sgd', 'mse')\n",
            True,
        ),
        (3, "", True),  # which raises in a pipeline, too: AutoGraph converts nothing there
    ],
)
def test_a_layer_that_pipelines_alone_call_is_not_compiled(
    keras: int, more: str, flagged: bool, tmp_path: Path
) -> None:
    """On the host a condition may have sides of different rank (run)."""
    (tmp_path / "train.py").write_text(PREPARED + more, encoding="utf-8")
    report = check([tmp_path], Settings(keras=keras))
    found = {("train.py", one.span.line) for one in report.findings if one.code == "XLA101"}
    assert found == (_marked("train.py", PREPARED) if flagged else set())
