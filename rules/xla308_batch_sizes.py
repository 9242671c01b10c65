"""A compiled function gets batches of different sizes, so XLA compiles once for each size.

## What it does
Reports a second batch size for the same compiled step: one function called with datasets of different batch sizes,
`validation_data` of `fit` and an `evaluate` of the same model, or two calls of `fit` or `predict`. Also reports batches
whose size a loop decides, and arrays whose size changes from call to call: built with a changing number, of a list that
is filled until something happens (an episode ends) or with a text's words, chosen by a mask, in a dataset too, drawn
from a memory that fills up, read from files, by the Python functions of a pipeline, too, or with a row for each line of
a file or each file of a folder. With a target, models that are called line by line count for pictures of any size.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU: a function called with batches of 32 and of 16 compiles twice.
Keras compiles the steps for training, testing and prediction separately. Another batch size in `evaluate` than in `fit`
costs nothing, another than in the validation one, `train_on_batch` with 1 to 4 rows four, five of `fit` in a loop five.

## Example
    model.fit(train.batch(64), validation_data=test.batch(64))
    model.evaluate(test.batch(100))

## Use instead
    model.evaluate(test.batch(64))

## Not flagged
Other batch sizes in training than in evaluation, or for another model in each iteration, zipped datasets, unknown
sizes, padded or full lists. Pictures for a model that was made for one size are information.

## Fix safety
Shown only: results do not depend on the batch size unless the model normalises over the batch.

## References
- https://www.tensorflow.org/xla/tutorials/jit_compile
"""

from collections.abc import Iterator

from xlalint.analysis.domain.values import Variation
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity

from ._feeds import batched_otherwise, passed
from ._programs import COUNTED_BATCHES, PADDED_BATCHES

SIZES = {
    "sized": "has a size that changes from call to call",
    "filled": "fills a list whose length varies",
    "grown": "makes a list longer in each iteration",
    "masked": "keeps as many elements as its values decide",
    "read": "has the size that its file gives it",
}

MODEL = """
import keras
import numpy as np
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
data = tf.data.Dataset.from_tensor_slices((np.ones((64, 4), "float32"), np.ones((64, 1), "float32")))
"""
FIT = f"{MODEL}\nmodel.fit(data.batch(32), validation_data=data.batch(16), verbose=0)\n"
STEP = """
@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch)

data = tf.data.Dataset.range(64)
"""


class BatchSizes(Rule):
    code = "XLA308"
    name = "batch-sizes"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"{FIT}model.evaluate(data.batch(8), verbose=0)\n",
            ["data.batch(8)"],
            Runs(3),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
        ),
        Bad(
            f"{STEP}\nfor batch in data.batch(32):\n    step(batch)\nfor batch in data.batch(16):\n    step(batch)\n",
            ["data.batch(16)"],
            Runs(2),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
def predictions(size):
    return model.predict(data.map(lambda x, y: x).batch(size), verbose=0)

predictions(32)
predictions(64)
""",
            ["data.map(lambda x, y: x).batch(size)"],
            Runs(2),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{STEP}
def run(dataset):
    for batch in dataset:
        step(batch)

run(data.batch(32).prefetch(1))
run(data.shuffle(8).batch(16).cache())
""",
            ["data.shuffle(8).batch(16)"],
            Runs(2),
        ),
        Bad(
            f"""{MODEL}
for n in range(1, 5):
    model.predict(np.zeros((n, 4)), verbose=0)
""",
            ["np.zeros((n, 4))"],
            Runs(4),
            severity=Severity.WARNING,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def sample(noise):
    return tf.reduce_sum(noise)

for size in [16, 32, 64]:
    noise = tf.random.normal(shape=[size, 3])
    sample(noise)
""",
            ["noise"],
            Runs(3),
        ),
        Bad(
            """
import random
import numpy as np

@tf.function(jit_compile=True)
def update(states):
    return tf.reduce_sum(states)

def train(episodes):
    for length in episodes:
        states, done = [], False
        while not done:
            states.append(np.ones(3, "float32"))
            done = len(states) == length
        update(np.array(states))

train([3, 5, 4])
""",
            ["np.array(states)"],
            Runs(3),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(images):
    return tf.reduce_sum(images)

def batches(size):
    images = tf.data.Dataset.from_tensors(tf.ones([9, 9, 3])).repeat(4)
    return images.map(lambda image: tf.image.resize(image, [size, size])).batch(2, drop_remainder=True)

for size in (4, 8, 16):
    for images in batches(size):
        step(images)
""",
            ["images"],
            Runs(3),
            why="images that grow by stages",
        ),
        Bad(
            """
import sys
import numpy as np

@tf.function(jit_compile=True)
def step(image):
    return tf.reduce_sum(image)

image = np.ones([32 + len(sys.argv) % 2, 48, 3], "float32")
sizes = [image.shape[:2]]
for octave in range(1, 3):
    sizes.append(tuple([int(side / 1.4**octave) for side in image.shape[:2]]))
for size in sizes:
    step(tf.image.resize(image, size))
""",
            ["tf.image.resize(image, size)"],
            Runs(3),
            why="of an unknown size, divided by another number in each iteration",
        ),
        Bad(
            """
import numpy as np

class Episode:
    def __init__(self):
        self.columns = {"state": [], "reward": []}

    def add(self, **step):
        for name, value in step.items():
            self.columns[name].append(value)

    def arrays(self):
        return {name: np.array(values) for name, values in self.columns.items()}

@tf.function(jit_compile=True)
def learn(batch):
    return tf.reduce_sum(batch["state"]) * tf.reduce_sum(batch["reward"])

for seed in (3, 4, 7):
    episode, chance = Episode(), np.random.default_rng(seed)
    while chance.random() > 0.2:
        episode.add(state=np.ones(2), reward=1.0)
    learn(episode.arrays())
""",
            ["episode.arrays()"],
            Runs(3),
            why="a list in a table of an object",
        ),
        Bad(
            """
import numpy as np

class Player:
    def __init__(self):
        self.states = []
        self.update = tf.function(lambda states: tf.reduce_sum(states), jit_compile=True)

    def see(self, state):
        self.states.append(state)

    def finish(self):
        self.update(np.stack(self.states).astype("float32"))
        self.states = []

player = Player()
for length in range(2, 5):
    for place in range(9):
        player.see(np.ones(3))
        if place == length:
            break
    player.finish()
""",
            ['np.stack(self.states).astype("float32")'],
            Runs(3),
            why="a method fills it as often as the loop around its call says",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def filtered(image):
    return tf.reduce_mean(image, [1, 2])

def read(data):
    return tf.cast(tf.io.decode_png(data), tf.float32)[None] / 255.0

for size in (4, 8, 6):
    filtered(read(tf.io.encode_png(tf.zeros([size, 8, 3], tf.uint8))))
""",
            ["read(tf.io.encode_png(tf.zeros([size, 8, 3], tf.uint8)))"],
            Runs(3),
            why="each image has its own size",
        ),
        Bad(
            """
import numpy as np

@tf.function(jit_compile=True)
def embed(tokens):
    return tf.reduce_sum(tokens, 1)

def padded(batch):
    longest = max(len(row) for row in batch)
    rows = np.zeros((len(batch), longest), "int32")
    for place, row in enumerate(batch):
        rows[place, : len(row)] = row
    return rows

texts = [[1] * length for length in (3, 5, 2, 4, 9, 1)]
for start in range(0, len(texts), 2):
    embed(padded(texts[start : start + 2]))
""",
            ["padded(texts[start : start + 2])"],
            Runs(3),
            why="as wide as the longest of each batch",
        ),
        Bad(
            f"""{STEP}
for odd in data.batch(8).map(lambda batch: batch[batch % 7 < 3]):
    step(odd)
for distinct in data.batch(8).map(lambda batch: tf.unique(batch // 10)[0]):
    step(distinct)
""",
            ["odd", "distinct"],
            Runs(4),
            why="as many elements of each batch as the mask leaves, and as there are distinct values",
        ),
    )
    good = (
        Good(
            STEP + COUNTED_BATCHES,
            Runs(1),
            why="the loop that counts is over where the function returns",
        ),
        Good(
            STEP + PADDED_BATCHES,
            Runs(1),
            why="filled up to one size, promised to be of one, or batched once more",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def update(states):
    return tf.reduce_sum(states)

def train():
    for _ in range(4):
        states = []
        for _ in range(16):
            states.append(np.ones(3, "float32"))
        update(np.array(states))

train()
""",
            Runs(1),
            why="as many each time",
        ),
        Good(
            """
import collections
import numpy as np

@tf.function(jit_compile=True)
def act(frames):
    return tf.reduce_sum(frames)

class Player:
    def __init__(self):
        self.frames = collections.deque(np.zeros((4, 3)), maxlen=4)

    def play(self, frame):
        self.frames.append(frame)
        return act(np.stack(self.frames))

player = Player()
for _ in range(4):
    player.play(np.ones(3))
""",
            Runs(1),
            why="it holds four from the start",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def energy(x):
    return tf.reduce_sum(x)

def loaded(count):
    rows = []
    for _ in range(count):
        rows.append(np.ones(3))
    return np.array(rows)

data = loaded(5)
for _ in range(3):
    energy(data)
""",
            Runs(1),
            why="filled once",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def update(states):
    return tf.reduce_sum(states)

class Rollout:
    def __init__(self):
        self.states = []

    def add(self, state):
        self.states.append(state)

    def flush(self):
        states, self.states = np.stack(self.states), []
        return states

rollout = Rollout()
for _ in range(3):
    for _ in range(8):
        rollout.add(np.ones(3))
    update(rollout.flush())
""",
            Runs(1),
            why="as many calls each time",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def step(image, tokens):
    return tf.reduce_sum(image), tf.reduce_sum(tokens)

texts = [[1] * length for length in (3, 5, 2, 4)]
longest = max(len(row) for row in texts)
tokens = np.array([row + [0] * (longest - len(row)) for row in texts])
image = tf.cast(tf.io.decode_png(tf.io.encode_png(tf.zeros([4, 4, 3], tf.uint8))), tf.float32)
for start in range(0, len(texts), 2):
    step(image, tokens[start : start + 2])
""",
            Runs(1),
            why="read and counted once",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def filtered(image):
    return tf.reduce_mean(image)

for size in (4, 8, 6):
    image = tf.io.decode_png(tf.io.encode_png(tf.zeros([size, 8, 3], tf.uint8)))
    filtered(tf.image.resize(image, [8, 8])[None])
""",
            Runs(1),
            why="of one size",
        ),
        Good(f"{FIT}model.evaluate(data.batch(16), verbose=0)\n", Runs(2)),
        Good(f"{MODEL}\nmodel.fit(data.batch(32), verbose=0)\nmodel.evaluate(data.batch(16), verbose=0)\n", Runs(2)),
        Good(
            f"""{STEP}
@tf.function(jit_compile=True)
def other(batch):
    return tf.reduce_max(batch)

for batch in data.batch(32):
    step(batch)
for batch in data.batch(16):
    other(batch)
""",
            Runs(2),
            why="one size for each",
        ),
        Good(
            f"""{STEP}
import random

def mixed(batch):
    rows = []
    for row in batch.numpy():
        if random.random() > 0.5:
            rows.append(row)
        else:
            rows.append(-row)
    return tf.stack(rows)

for batch in data.batch(32, drop_remainder=True):
    step(mixed(batch))
""",
            Runs(1),
            why="each way puts one row in",
        ),
        Good(
            f"""{STEP}
@tf.function(jit_compile=True)
def both(few, many):
    return tf.reduce_sum(few) + tf.reduce_sum(many)

for few, many in tf.data.Dataset.zip((data.batch(8), data.batch(32))):
    both(few, many)
""",
            Runs(1),
            why="two sizes in one shape",
        ),
        Good(f"{STEP}\nfor epoch in range(2):\n    for batch in data.batch(32):\n        step(batch)\n", Runs(1)),
    )

    def __init__(self) -> None:
        self._said: set[tuple[Location, Severity]] = set()
        self._sizes: dict[object, dict[str, Variation]] = {}

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        yield from passed(event, self._said, SIZES, "pad to a few fixed sizes, and mask the padding")
        yield from batched_otherwise(event, self._sizes)
