"""This input pipeline needs the machine that runs Python, which a program on a TPU does not always have.

## What it does
Reports, where the target is a TPU and nothing in the program says which one, what its training reads: local files, and
batches that Python makes. Each of the two once in a program; notes name the other places. It is information: most of it
works on a TPU VM. What counts as local, and as Python, is what `pipeline-on-tpu-node` says. There are three things to
know before the program moves:

- Local files are on a TPU VM if somebody copies them there. A TPU node does not have them.
- `Dataset.from_generator`, `tf.py_function`, and what `fit` takes of a generator, a `Sequence`, a `PyDataset`, an
  `ImageDataGenerator` or a PyTorch `DataLoader` run Python: on a TPU VM the TPU waits where Python is slower, and a TPU
  node cannot run them.
- Batches of an `ImageDataGenerator`, and NumPy's arrays, that a loop of the program passes to `train_on_batch` or to a
  compiled step of its own are made, and copied to the TPU, while it waits, on both.

## What XLA does
XLA is not reached. A TPU VM is the machine of the TPU, and runs the program itself. A TPU node is another machine than
the one that runs Python, and runs the pipeline.

- Measured on a CPU with a second process as the remote worker (TensorFlow 2.21): a pipeline over a relative path fails
  there ("NotFoundError: .. No such file or directory"). One over tensors in memory works.
- Measured (Keras 3.15): Keras puts a generator, a `PyDataset` and what an `ImageDataGenerator` makes into
  `Dataset.from_generator`.
- Not measured, for lack of a TPU: how long a TPU waits.

## Example
    images = ImageDataGenerator(rescale=1 / 255).flow_from_directory("pictures")
    model.fit(images)

## Use instead
    paths = tf.data.Dataset.list_files("gs://bucket/pictures/*/*.jpg")
    images = paths.map(decoded, num_parallel_calls=tf.data.AUTOTUNE).batch(128, drop_remainder=True)
    model.fit(images.prefetch(tf.data.AUTOTUNE))

## Not flagged
Programs that train nothing or have a strategy for a TPU, other targets, arrays, files in a bucket, paths that the
program gets from elsewhere, data sets that nothing uses in a program that trains on others, and numbers of NumPy's that
a loop passes to a step.

## Fix safety
Shown only: the data has to be stored or read otherwise.

## References
- https://cloud.google.com/tpu/docs/system-architecture-tpu-vm
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/guide/data_performance
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from xlalint.analysis.domain.kinds import leaves, options
from xlalint.analysis.domain.values import NONE, Array, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import PassBatch, Program, SetupCall
from xlalint.analysis.library.strategies import TRAINING
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, DraftNote, Effect, Good, Rule, Severity, Told

from ._pipelines import Need, makes_images, needs
from ._strategies import by_default, method_of, names_tpu

MODEL: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
STEP: Final = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
READ: Final = (
    "have tf.data read and prepare the examples (TFRecord files, or arrays that fit into memory), with `.prefetch`"
)
NOTED: Final = 3  # further places of a kind that notes name
BY_LOOP: Final = "a loop passes arrays of NumPy's to each step: a TPU waits while Python makes them, and for the copy"
WHY: Final = "it is about moving to a TPU"


class PipelineToMove(Rule):
    code = "XLA513"
    name = "pipeline-to-move"
    handles = (PassBatch, Program)
    bad = (
        Bad(
            f"""{MODEL}
def parsed(row):
    return tf.io.parse_single_example(row, {{"x": tf.io.FixedLenFeature([4], tf.float32)}})["x"], 1.0

train = tf.data.TFRecordDataset("data/train.tfrecord").map(parsed).batch(8)
valid = tf.data.TFRecordDataset("data/valid.tfrecord").map(parsed).batch(8)
model.fit(train, validation_data=valid)
""",
            ['"data/train.tfrecord"'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="gs://",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{STEP}
def rows():
    for i in range(64):
        yield [float(i)], [1.0]

kinds = (tf.TensorSpec([1]), tf.TensorSpec([1]))
for x, y in tf.data.Dataset.from_generator(rows, output_signature=kinds).batch(8):
    step(x, y)
""",
            ["rows"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="tf.data",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
import numpy as np

class Pictures(tf.keras.utils.Sequence):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.full([16, 4], index), np.ones([16, 1])

model.fit(Pictures())
model.fit(Pictures(), epochs=2)
""",
            ["Pictures()"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
images = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
for x, y in images.flow_from_directory("pictures", class_mode="binary"):
    model.train_on_batch(x, y)
""",
            ["model.train_on_batch(x, y)"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="prefetch",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{STEP}
import numpy as np

def batches():
    for i in range(8):
        yield np.full([16, 4], i, "float32"), np.ones([16, 1], "float32")

for epoch in range(2):
    for x, y in batches():
        step(x, y)
""",
            ["x"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            help="prefetch",
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
import numpy as np

data = np.load("data.npy")
for start in range(0, 64, 8):
    model.train_on_batch(data[start:start + 8, :4], data[start:start + 8, 4:])
""",
            ["data[start:start + 8, :4]"],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why=WHY,
            target="tpu",
        ),
        Bad(
            f"""{MODEL}
import numpy as np

class Boxes:
    def generate(self):
        while True:
            yield np.ones([16, 4]), np.ones([16, 2]), np.ones([16, 1])

for index, batch in enumerate(Boxes().generate()):
    if index >= 100:
        break
    model.train_on_batch({{"images": batch[0], "boxes": np.array(batch[1])}}, batch[2])
""",
            ['{"images": batch[0], "boxes": np.array(batch[1])}'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why=WHY,
            target="tpu",
        ),
    )
    good = (
        Good(
            f"""{MODEL}
model.fit(tf.data.Dataset.list_files("pictures/*.png").map(lambda path: (tf.zeros([4]), 1.0)).batch(8))
""",
            None,
            why="nobody says that a TPU is to run it",
        ),
        Good(
            f"""{MODEL}
model.fit(tf.data.TFRecordDataset("gs://bucket/rows").map(lambda row: (tf.zeros([4]), 1.0)).batch(8))
""",
            None,
            why="files in a bucket",
            target="tpu",
        ),
        Good(
            f"""{STEP}
import numpy as np

@tf.function
def draw(noise):
    return model(noise)

x, y = np.ones([64, 4], "float32"), np.ones([64, 1], "float32")
for x, y in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
    step(x, y)
    draw(np.random.normal(size=(8, 4)))
""",
            None,
            why="what trains takes the batches of a data set",
            target="tpu",
        ),
        Good(
            f"""{MODEL}
for line in tf.data.TextLineDataset("rows.csv"):
    print(model.predict(tf.ones([1, 4])))
""",
            None,
            why="nothing is trained",
            target="tpu",
        ),
        Good(
            f"""{MODEL}
import numpy as np

def pairs():
    while True:
        yield np.ones([16, 4]), np.ones([16, 1])

model.fit(np.ones([16, 4]), np.ones([16, 1]))
model.evaluate(pairs(), steps=3)
""",
            None,
            why="the training takes arrays",
            target="tpu",
        ),
        Good(
            """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.data.TextLineDataset("rows.csv").map(lambda row: (tf.zeros([4]), 1.0)).batch(8, drop_remainder=True))
""",
            None,
            why="a TPU VM, says the program",
            target="tpu",
        ),
    )

    def __init__(self) -> None:
        self._passed: list[PassBatch] = []

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case PassBatch():
                self._passed.append(event)
            case Program(steps=steps, trains=True, files=code) if not any(map(names_tpu, steps)):
                found = [need for need in needs(steps) if not need.fed or method_of(need.step) in TRAINING]
                files, python = [need for need in found if need.files], [need for need in found if not need.files]
                if files:
                    yield _needed(files, "a TPU VM can, where they are copied there", files[0].help)
                if python:
                    yield _needed(python, "a TPU VM can, no faster than Python is", READ)
                elif images := [step for step in steps if makes_images(step)]:
                    yield from _one_by_one(steps, images)
                elif places := [*_by_hand(steps), *(one.location for one in self._passed if one.location.path in code)]:
                    yield _told(places, f"`{brief(places[0].node)}`: {BY_LOOP}", READ, "so is this")


def _needed(found: Sequence[Need], on_vm: str, help: str) -> Draft:
    """What several calls need alike, at the first of them."""
    usual, _ = by_default(found[0].setting, NONE, Severity.INFO)
    message = f"`{brief(found[0].step.node)}` {found[0].reason}{usual}: {on_vm}; a TPU node cannot"
    draft = _told([need.location for need in found], message, help, "so does this")
    makers = dict.fromkeys(need.maker for need in found if need.maker is not None)
    made = tuple(DraftNote(maker, "Python makes each batch here") for maker in makers)
    return replace(draft, notes=(*made, *draft.notes))


def _one_by_one(steps: Sequence[SetupCall], images: Sequence[SetupCall]) -> Iterator[Draft]:
    """Images that a loop of the program asks for, and trains on, by Keras's step or one of its own."""
    trained = [step for step in steps if method_of(step) in TRAINING]
    if all(method_of(step) == "train_on_batch" for step in trained):
        what = "Python makes each batch when the loop asks for it, and a TPU waits meanwhile"
        places = [*trained[:1], *images]
        message = f"`{brief(places[0].node)}`: {what}"
        yield _told([place.location for place in places], message, READ, "this makes batches")


def _by_hand(steps: Sequence[SetupCall]) -> Iterator[Location]:
    """What is passed to `train_on_batch` and is an array, of several examples as far as is known."""
    for step in steps:
        if method_of(step) == "train_on_batch" and any(
            _is_batch(part) for option in options(step.arguments.get("x", NONE)) for part in leaves(option)
        ):
            yield step.location.at(step.argument_nodes["x"])


def _is_batch(value: Value) -> bool:
    return isinstance(value, Array) and (bool(value.varies) or value.length not in (None, 1))


def _told(places: Sequence[Location], message: str, help: str, note: str) -> Draft:
    first, *others = dict.fromkeys(places)
    return Draft(
        message,
        Effect.TPU,
        help,
        location=first,
        notes=tuple(DraftNote(other, note) for other in others[:NOTED]),
        at_most=Severity.INFO,
        told=Told.FOR_TPU_ALONE,
    )
