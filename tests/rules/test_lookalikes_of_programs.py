"""Programs that users write, cut down, in which no compiler meets what it meets in their neighbours: only what is
marked is flagged, with the TPU as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.codes import BUT_FOR_STRATEGY
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .marked import marked

TWIN: Final = """\
from tensorflow import keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, inputs):
        first, second = inputs
        x = keras.layers.BatchNormalization()(self.dense(first)){first}
        return keras.layers.Dense(1)(x) + second{second}

    def build_graph(self):
        inputs = [keras.Input((5,)), keras.Input((1,))]
        return keras.Model(inputs, self.call(inputs))

net = Net()
"""
STEP: Final = """\
import tensorflow as tf
from tensorflow import keras

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, x):
        return self.dense(x)

    def test_step(self, x):
        return {{"x": self(x).numpy()}}{step}

net = Net()
batches = tf.data.Dataset.from_tensor_slices(tf.ones((8, 4))).batch(4, drop_remainder=True)
"""
FLAG: Final = "  # flagged"
PROGRAMS: Final = {
    "layers that become part of another model": TWIN.format(first="", second="")
    + "net.build_graph().compile('sgd', 'mse')\n",
    "layers of a model that is compiled itself": TWIN.format(first=FLAG, second=FLAG)
    + "net.build_graph().summary()\nnet.compile('sgd', 'mse')\n",
    "layers of a model that is called itself": TWIN.format(first=FLAG, second=FLAG)
    + "net.build_graph().summary()\nimport tensorflow as tf\nnet([tf.ones((2, 5)), tf.ones((2, 1))])\n",
    "layers of a model whose twin nobody makes": TWIN.format(first=FLAG, second=FLAG).removesuffix("net = Net()\n"),
    "a step that the program runs": STEP.format(step="") + f"for x in batches:{FLAG}\n    net.test_step(x)\n",
    "a step that Keras runs, too": STEP.format(step=FLAG)
    + f"net.compile('sgd', 'mse')\nfor x in batches:{FLAG}\n    net.test_step(x)\n",
    "a step that is compiled": STEP.format(step=FLAG)
    + "step = tf.function(net.test_step)\nfor x in batches:\n    step(x)\n",
    "layers in an input pipeline": """\
import tensorflow as tf
from tensorflow import keras

def parse(record):
    image = keras.layers.Lambda(lambda x: tf.io.decode_jpeg(x))(record)
    return keras.layers.Lambda(lambda x: tf.boolean_mask(x, x > 0))(image)

def model(image):
    return keras.layers.Lambda(lambda x: tf.io.decode_jpeg(x))(image)  # flagged

for image in tf.data.TFRecordDataset("gs://b/a").map(parse):
    print(image)
""",
    "settings with a default": """\
from collections import defaultdict

import tensorflow as tf
from tensorflow import keras

settings = defaultdict(lambda: None, length=256, size=2)
model = keras.Sequential([keras.layers.Dense(2)])
model.compile("sgd", "mse")
tokens = tf.data.TFRecordDataset("gs://b/a").map(lambda record: tf.io.decode_raw(record, tf.int32))
model.fit(tokens.padded_batch(settings["size"], padded_shapes=[settings["length"]], drop_remainder=True))
model.fit(tokens.padded_batch(settings["size"], padded_shapes=[settings["longest"]], drop_remainder=True))  # flagged
""",
    "a fit that is none of Keras's": """\
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("sgd", "mse")
rows = np.load("a.npy")
model.fit(rows, np.load("b.npy"), np.concatenate([rows, rows]))
model.fit(rows, np.load("b.npy"), 7)  # flagged
""",
    "a list of one length, and one that grows": """\
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

def learn(memory):
    rewards = []
    for row in range(32):
        rewards.append(memory[row])
    step(tf.zeros((len(rewards), 1)))

def play(memory):
    seen = []
    for row in memory:
        seen.append(row)
        step(tf.zeros((len(seen), 1)))  # flagged

while True:
    learn([*range(64)])
    play([*range(64)])
""",
    "files that are cut to a multiple of the size, and all of them": """\
from glob import glob

import numpy as np
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

class Trainer:
    def __init__(self, path, size=8):
        self.path, self.size = path, size

    def run(self):
        files = glob(self.path)
        number = len(files) - (len(files) % self.size)
        for batch in [files[i : i + self.size] for i in range(0, number, self.size)]:
            step(tf.convert_to_tensor(np.array([np.load(file) for file in batch])))

    def run_all(self):
        files = glob(self.path)
        for batch in [files[i : i + self.size] for i in range(0, len(files), self.size)]:  # flagged
            step(tf.convert_to_tensor(np.array([np.load(file) for file in batch])))

trainer = Trainer("a")
trainer.run()
trainer.run_all()
""",
    "batches of one or two, if nobody asks for more": """\
import argparse

import tensorflow as tf
from tensorflow import keras

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--others", type=int, default=2)
args = parser.parse_args()
model = keras.Sequential([keras.layers.Dense(2)])
model.compile("sgd", "mse")
rows = tf.data.TFRecordDataset("gs://b/a").map(lambda record: tf.reshape(tf.io.decode_raw(record, tf.int32), (4,)))
model.evaluate(rows.batch(args.batch))  # flagged
model.evaluate(rows.batch(1))
model.evaluate(rows.batch(args.others))  # flagged
""",
    "a tensor that the constructor keeps, and one that others change": """\
import tensorflow as tf

class Channel:
    def __init__(self, settings):
        self._load(settings)
        self.change(settings)

    def _load(self, settings):
        self._straight = tf.cast(settings["straight"], tf.bool)

    def change(self, settings):
        self._moving = tf.cast(settings["moving"], tf.bool)

    def again(self, settings):
        self.change(settings)

    @tf.function(jit_compile=True)
    def factor(self, x):
        assert self._straight
        return x

    @tf.function(jit_compile=True)
    def speed(self, x):
        assert self._moving  # flagged
        return x

channel = Channel({"straight": 1, "moving": 0})
channel.factor(tf.ones(3))
channel.speed(tf.ones(3))
""",
    "a method that draws": """\
import matplotlib.pyplot as plt
import tensorflow as tf

class Grid:
    def corners(self):
        return tf.stack([tf.zeros(2), tf.ones(2)])

    def show(self, figure=None):
        axes = plt.subplots()[1] if figure is None else figure.gca()
        axes.plot([corner[0] for corner in self.corners()])

    def heights(self):
        return [corner[0] for corner in self.corners()]  # flagged
""",
    "sizes of whole batches, and of a smaller one": """\
import tensorflow as tf

@tf.function(jit_compile=True)
def generate(noise):
    return noise * 2.0

def first(rows):
    for real in rows.batch(32).take(3):
        generate(tf.zeros((real.shape[0], 8)))

def whole(rows):
    for real in rows.batch(32, drop_remainder=True):
        generate(tf.zeros((real.shape[0], 8)))

def every(rows):
    for real in rows.batch(32):  # flagged
        generate(tf.zeros((real.shape[0], 8)))

first(tf.data.TFRecordDataset("gs://b/a"))
whole(tf.data.TFRecordDataset("gs://b/a"))
every(tf.data.TFRecordDataset("gs://b/a"))
""",
    "arrays that fill all batches, and arrays that do not": """\
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras.preprocessing.sequence import pad_sequences

def model():
    made = keras.Sequential([keras.layers.Dense(10)])
    made.compile("sgd", "mse")
    return made

(x_train, t_train), (x_test, t_test) = keras.datasets.mnist.load_data()
x_train = (x_train.reshape(-1, 784) / 255).astype(np.float32)
model().fit(x_train, t_train, batch_size=100)
model().fit(x_train, t_train, batch_size=99)  # flagged
x, rest, t, t_rest = train_test_split(x_train, t_train, test_size=0.2)
model().fit(x, t, batch_size=100)
model().fit(x, t, batch_size=64)
model().fit(x_train, t_train, batch_size=64)  # flagged
model().fit(rest - x_test.mean(axis=0), t_rest, batch_size=80)
model().fit(np.concatenate([x_train, rest]), t_rest, batch_size=100)
model().fit(np.concatenate([x_train, rest]), t_rest, batch_size=1000)
model().fit(np.concatenate([x_train, rest]), t_rest, batch_size=7000)  # flagged
model().fit(np.concatenate([x_train, np.load("a.npy")]), t_rest, batch_size=100)  # flagged
x, t = make_moons(300)
model().fit(x, t, batch_size=10)
model().fit(x.reshape(-1, 1), np.ones(600), batch_size=40)
model().fit(x.reshape(-1, 1), np.ones(600), batch_size=70)  # flagged
model().fit(np.ones((50, 64, 3)).reshape(-1, 32, 3) / 2, np.ones(100), batch_size=20)
model().fit(np.ones((50, 64, 3)).reshape(-1, 32, 3) / 2, np.ones(100), batch_size=50)
model().fit(np.ones((50, 64, 3)).reshape(-1, 32, 3) / 2, np.ones(100), batch_size=40)  # flagged
model().fit(np.load("a.npy").reshape(-1, 4), np.load("b.npy"), batch_size=100)  # flagged
(x, t), _ = keras.datasets.imdb.load_data()
model().fit(pad_sequences(x, maxlen=80), t, batch_size=100)
model().fit(pad_sequences(x, maxlen=80), t, batch_size=99)  # flagged
""",
    "a tensor that has grown, and one that grows": """\
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

def grown(x):
    for _ in range(4):
        x = tf.concat([x, tf.ones((1, 4))], axis=0)
    for _ in range(8):
        step(x)
    return x

def grows(x):
    for _ in range(8):
        for _ in range(4):
            x = tf.concat([x, tf.ones((1, 4))], axis=0)  # flagged
        step(x)

grown(tf.ones((1, 4)))
grows(tf.ones((1, 4)))
""",
    "a script that misses a name": """\
import random

from detector import Detector

helpers.download("weights")

# tf.debugging.enable_check_numerics()

detector = Detector("weights")
print(detector.detect(random.choice(["a.png", "b.png"])))
""",
    "a piece of documentation": """\
import random

x = tf.concat([tf.ones(2), tf.ones(3)], axis=0)
y = x * random.random()  # flagged
""",
    "a number that a loop has counted, and one that it counts": """\
import numpy as np
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

class Data:
    def __init__(self, files):
        total = 0
        for file in files:
            total += len(np.load(file))
        self.rows = np.zeros((total, 4))

    def part(self, files):
        total = 0
        for file in files:
            total += len(np.load(file))
            step(np.ones((total, 4)))  # flagged
        return total

data = Data(["a.npy", "b.npy"])
step(data.rows)
data.part(["c.npy"])
""",
    "an initializer, and a function that is none": """\
import tensorflow as tf
from tensorflow import keras

class Bounded(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **kwargs):
        return drawn(shape)

def drawn(shape: tf.Tensor | tuple):
    return tf.random.uniform(shape=shape)

def made(shape: tf.Tensor | tuple):
    return tf.random.uniform(shape=shape)  # flagged
""",
    "what else a metric is told": """\
import tensorflow as tf
from tensorflow import keras

class Precision(keras.metrics.Metric):
    def update_state(self, y_true, y_pred, top_k=5):
        self.total = tf.range(top_k)

class Weighted(keras.metrics.Metric):
    def update_state(self, y_true, y_pred, weights=None):
        self.total = tf.range(weights)  # flagged
""",
    "sizes that a layer returns beside its result": """\
import tensorflow as tf
from tensorflow import keras

class Block(keras.layers.Layer):
    def pool(self, x, shape):
        height, width = shape
        return tf.reshape(x, (-1, height, width, 4))

    def call(self, x, shape):
        y = self.pool(x, shape)
        return y, [tf.convert_to_tensor(y.shape[1]), tf.convert_to_tensor(y.shape[2])]

class Counted(keras.layers.Layer):
    def call(self, x, count):
        return tf.reshape(x[:count], (count, 4))  # flagged

inputs = keras.Input((8, 3, 4))
x, shape = Block()(inputs, [8, 3])
x, shape = Block()(x, shape)
x = Counted()(x, tf.math.count_nonzero(x))
keras.Model(inputs, x).compile("sgd", "mse")
""",
}
TAPES: Final = """\
import tensorflow as tf

def learn(actor, critic, x):
    with tf.GradientTape() as tape:  # flagged
        loss = tf.reduce_sum(actor(x))
    actor.optimizer.apply_gradients(zip(tape.gradient(loss, actor.variables), actor.variables))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(critic(x))
    critic.optimizer.apply_gradients(zip(tape.gradient(loss, critic.variables), critic.variables))

def detached(x):
    return tf.identity(x.numpy())  # flagged

def imitate(actor, x):
    with tf.GradientTape() as tape:  # flagged
        loss = tf.reduce_sum(actor(x) - detached(actor(x)))
    actor.optimizer.apply_gradients(zip(tape.gradient(loss, actor.variables), actor.variables))

for x in tf.data.Dataset.range(8):
    learn(tf.keras.models.load_model("a"), tf.keras.models.load_model("b"), x)
    imitate(tf.keras.models.load_model("a"), x)
"""


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_only_what_is_marked_is_flagged(text: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    report = check([tmp_path], Settings(target="tpu", codes=BUT_FOR_STRATEGY))
    assert report.problems == ()
    assert {finding.span.line for finding in report.findings} == marked(text)


def test_a_function_that_runs_eagerly_is_said_once(tmp_path: Path) -> None:
    """And what fails once it is compiled says how it runs so far."""
    (tmp_path / "train.py").write_text(TAPES, encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu", codes=BUT_FOR_STRATEGY)).findings
    assert {finding.span.line for finding in findings if finding.severity > Severity.INFO} == marked(TAPES)
    assert [finding.code for finding in findings if finding.severity is Severity.INFO] == ["XLA506"]
    read = next(finding for finding in findings if finding.code == "XLA106")
    assert read.context is not None
    assert read.context.shown.endswith("so far it is a step of `imitate`, which runs eagerly")


def test_batches_of_two_programs_do_not_meet(tmp_path: Path) -> None:
    """They do in one program, whose parts stand in several files."""
    trainer = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def run(rows):
    for x in rows:
        step(x)
"""
    program = """\
import tensorflow as tf
from trainer import run

def main():
    run(tf.data.Dataset.range(64).batch({}, drop_remainder=True))

if __name__ == "__main__":
    main()
"""
    (tmp_path / "trainer.py").write_text(trainer, encoding="utf-8")
    (tmp_path / "train.py").write_text(program.format(32), encoding="utf-8")
    (tmp_path / "evaluate.py").write_text(program.format(4), encoding="utf-8")
    assert check([tmp_path], Settings()).findings == ()
    both = program.format(4) + "    run(tf.data.Dataset.range(64).batch(8, drop_remainder=True))\n"
    (tmp_path / "evaluate.py").write_text(both, encoding="utf-8")
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == ["XLA308"]
