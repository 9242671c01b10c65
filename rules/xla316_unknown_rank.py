"""The elements of a dataset have no known rank where Keras takes them.

## What it does
Reports `tf.py_function`, `tf.numpy_function`, `tf.io.parse_tensor`, and `tf.io.decode_image` that may read a GIF, in
the functions of a dataset, if what they return is passed to `fit`, `evaluate` or `predict` and nothing says what shape
it has. `generator-signature` reports `from_generator` for the same reason.

## What XLA does
A step that is traced needs to know how many dimensions its inputs have. Measured with TensorFlow 2.21 on a CPU, for
batches of which the images, or the labels alone, have no known rank:

| what takes the dataset | images | labels alone |
| --- | --- | --- |
| `fit` of Keras 3.15, with `jit_compile=True` or without, with a strategy or without | ValueError | ValueError |
| `fit` of Keras 2, with `jit_compile=True`, with declared inputs (`Input`) | works | InvalidArgumentError |
| `fit` of Keras 2, without, with declared inputs | works | works, unless the metric is `"accuracy"` |
| `fit` of Keras 2, without declared inputs | ValueError | works |
| `for batch in dataset: step(batch)` in Python | works | works |

`TPUStrategy.run` raises "input tensor .. to TPUStrategy.run() has unknown rank, which is not allowed", as its source
says, and `fit` runs its steps in it with Keras 2 as with Keras 3. Not measured, for lack of a TPU.

## Example
    def load(path, label):
        image = tf.numpy_function(read, [path], tf.float32)
        return image, label

    model.fit(paths.map(load).batch(32))

## Use instead
    def load(path, label):
        image = tf.numpy_function(read, [path], tf.float32)
        return tf.ensure_shape(image, [224, 224, 3]), label

## Not flagged
- Tensors that `set_shape`, `ensure_shape`, `reshape` or a resized image give a shape.
- `decode_image(.., expand_animations=False)`, whose rank is 3.
- Elements that a loop in Python passes to a step: their shapes are known.
- Models that run eagerly, unless a target is set, datasets that a function which is not seen has changed, and those
  that are another one elsewhere, which has a rank.

## Fix safety
No fix: nobody but the author knows the shape.

## References
- https://www.tensorflow.org/api_docs/python/tf/ensure_shape
- https://www.tensorflow.org/guide/data#applying_arbitrary_python_logic
"""

from collections.abc import Iterator

from xlalint.analysis.domain.kinds import UNRANKED
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.analysis.library.host_shapes import ANIMATED
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Good, Rule, Runs, Severity

from ._lost_ranks import lost, refused

MODEL = """
import keras
import numpy as np

model = keras.Sequential([keras.Input((6, 6, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
numbers = tf.data.Dataset.range(8)

def read(number):
    return np.ones((6, 6, 3), "float32")

def label_of(number):
    return np.float32(number)
"""
READ = "tf.numpy_function(read, [number], tf.float32)"
LABEL = "tf.numpy_function(label_of, [number], tf.float32)"
PICTURE = (
    "picture = tf.io.encode_jpeg(tf.ones([6, 6, 3], tf.uint8))\nstored = tf.io.serialize_tensor(tf.ones([6, 6, 3]))"
)


class UnknownRank(Rule):
    code = "XLA316"
    name = "unknown-rank"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"{MODEL}\ndef load(number):\n    return {READ}, 1.0\n\nmodel.fit(numbers.map(load).batch(4))\n",
            [READ],
            Breaks("unknown"),
            effect=Effect.FAILS,
            severity=Severity.WARNING,
            help="tf.ensure_shape",
        ),
        Bad(
            f"""{MODEL}
def load(number):
    image = {READ}
    image.set_shape([6, 6, 3])
    return image, {LABEL}

model.fit(numbers.map(load).shuffle(8).batch(4, drop_remainder=True).prefetch(1))
""",
            [LABEL],
            Breaks("unknown rank"),
            severity=Severity.WARNING,
            why="the labels alone",
        ),
        Bad(
            f"""{MODEL}
def both(number):
    return read(number), label_of(number)

def load(number):
    image, label = tf.py_function(func=both, inp=[number], Tout=[tf.float32, tf.float32])
    return image / 255.0, label

data = numbers.map(load, num_parallel_calls=tf.data.AUTOTUNE)
model.fit(data.batch(4), validation_data=data.batch(4))
""",
            ["tf.py_function(func=both, inp=[number], Tout=[tf.float32, tf.float32])"],
            Breaks("unknown"),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
def both(number):
    return read(number), label_of(number)

data = numbers.map(lambda number: tuple(tf.numpy_function(both, [number], [tf.float32, tf.float32])))
model.fit(data.batch(4))
""",
            ["tf.numpy_function(both, [number], [tf.float32, tf.float32])"],
            Breaks("unknown"),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
class Reader:
    def image(self, number):
        return {READ}

    def load(self, number):
        return tf.cast(self.image(number), tf.float32) / 255.0, 1.0

    def dataset(self):
        return numbers.map(self.load).cache().batch(4)

model.fit(Reader().dataset())
""",
            [READ],
            Breaks("unknown"),
            severity=Severity.WARNING,
        ),
        Bad(
            f"""{MODEL}
{PICTURE}

def load(number):
    return tf.image.convert_image_dtype(tf.io.decode_image(picture, channels=3), tf.float32), 1.0

model.fit(numbers.map(load).batch(4))
""",
            ["tf.io.decode_image(picture, channels=3)"],
            Breaks("unknown"),
            severity=Severity.WARNING,
            help="expand_animations=False",
        ),
        Bad(
            f"""{MODEL}
{PICTURE}
data = numbers.map(lambda number: (tf.io.parse_tensor(stored, tf.float32), 1.0))
model.evaluate(data.batch(4))
""",
            ["tf.io.parse_tensor(stored, tf.float32)"],
            Breaks("unknown"),
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{MODEL}
def load(number):
    return tf.ensure_shape({READ}, [6, 6, 3]), tf.reshape({LABEL}, [1])

model.fit(numbers.map(load).batch(4))
""",
            Runs(),
        ),
        Good(
            f"""{MODEL}
def both(number):
    return read(number), label_of(number)

def load(number):
    parts = tf.numpy_function(both, [number], [tf.float32, tf.float32])
    for part, shape in zip(parts, ([6, 6, 3], [])):
        part.set_shape(shape)
    return parts[0], parts[1]

model.fit(numbers.map(load).batch(4))
""",
            Runs(),
            why="a loop gives all of them a shape",
        ),
        Good(
            f"""{MODEL}
def both(number):
    return read(number), label_of(number)

def load(number):
    parts = tf.py_function(both, [number], [tf.float32, tf.float32])
    parts[0].set_shape([6, 6, 3])
    parts[1].set_shape([])
    return parts[0], parts[1]

model.fit(numbers.map(load).batch(4))
""",
            Runs(),
        ),
        Good(
            f"""{MODEL}
def promise(image, label):
    image.set_shape([6, 6, 3])
    label.set_shape([])

def load(number):
    image, label = {READ}, {LABEL}
    promise(image, label)
    return image, label

model.fit(numbers.map(load).batch(4))
""",
            Runs(),
            why="a function that returns nothing gives them a shape",
        ),
        Good(
            f"""{MODEL}
def shaped(image, label):
    image.set_shape([6, 6, 3])
    return image, label

data = numbers.map(lambda number: ({READ}, tf.ensure_shape({LABEL}, [])))
model.fit(data.map(shaped).batch(4))
""",
            Runs(),
            why="each in a function of its own",
        ),
        Good(
            f"""{MODEL}
{PICTURE}

def load(number):
    image = tf.io.decode_image(picture, channels=3, expand_animations=False)
    return tf.image.resize(image, [6, 6]), 1.0

model.fit(numbers.map(load).batch(4))
""",
            Runs(),
        ),
        Good(
            f"""{MODEL}
{PICTURE}

def load(number):
    return tf.image.resize_with_pad(tf.io.decode_image(picture, channels=3), 6, 6), 1.0

model.fit(numbers.map(load).batch(4))
""",
            None,
            why="resized, which gives it a rank",
        ),
        Good(
            f"""{MODEL}
data = numbers.map(lambda number: ({READ}, {LABEL}))
model.fit(data.padded_batch(4, padded_shapes=([6, 6, 3], [])))
""",
            Runs(),
            why="padded to shapes that are written",
        ),
        Good(
            f"""{MODEL}
class Loader:
    def shaped(self, image, label):
        image.set_shape([6, 6, 3])
        return image, label

    def load(self):
        self.images = numbers.map(lambda number: ({READ}, 1.0))
        self.images = self.images.map(self.shaped)
        return self.images.batch(4)

model.fit(Loader().load())
""",
            Runs(),
            why="an attribute that is assigned again",
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", run_eagerly=True)
model.fit(numbers.map(lambda number: ({READ}, {LABEL})).batch(4))
""",
            Runs(),
            why="run eagerly",
        ),
        Good(
            f"""
import numpy as np

def read(number):
    return np.ones((6, 6, 3), "float32")

@tf.function(jit_compile=True)
def step(image):
    return tf.reduce_mean(image)

for image in tf.data.Dataset.range(8).map(lambda number: {READ}).batch(4):
    step(image)
""",
            Runs(1),
            why="a loop in Python passes tensors of known shapes",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        for variation in lost(event, UNRANKED):
            code = brief(variation.location.node)
            help = (
                "pass expand_animations=False"
                if variation.detail == ANIMATED
                else "give it a shape: tf.ensure_shape(result, SHAPE)"
            )
            yield refused(event, variation.location, f"nothing says what rank `{code}` has", help, None)
