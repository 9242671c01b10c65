"""Programs that users write, cut down, in which no compiler meets what it meets in their neighbours: only what is marked
is flagged, with the TPU as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

from .test_lookalikes import marked

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
    "a step that the program runs": STEP.format(step="") + "for x in batches:\n    net.test_step(x)\n",
    "a step that Keras runs, too": STEP.format(step=FLAG)
    + "net.compile('sgd', 'mse')\nfor x in batches:\n    net.test_step(x)\n",
    "a step that is compiled": STEP.format(step=FLAG)
    + "for x in batches:\n    tf.function(net.test_step)(x)\n",
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
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_only_what_is_marked_is_flagged(text: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    report = check([tmp_path], Settings(target="tpu"))
    assert report.problems == ()
    assert {finding.span.line for finding in report.findings} == marked(text)
