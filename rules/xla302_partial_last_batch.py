"""The last batch is smaller than the others, so XLA compiles the step again.

## What it does
Reports `batch` without `drop_remainder=True` if the last batch is or may be smaller, and the batches reach a step that
XLA compiles: `fit`, `evaluate` or `predict` of a model compiled with `jit_compile=True`, or a compiled function. Also
reports `padded_batch`, `bucket_by_sequence_length`, Keras's `.._dataset_from_directory` and `ImageDataGenerator`,
`make_csv_dataset` with `num_epochs`, arrays, tensors made of arrays, generators and a PyTorch `DataLoader` passed to a
model, and slices that a loop or a generator takes in steps, or from the front, with the lists that are filled with what
such slices hold. With a target, batches that a function returns which nothing is seen to call are information, and so
are those of a model with `run_eagerly=True`.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU.

- 70 elements in batches of 32 give two shapes, and two compilations of the step, in `fit` as in a loop. 64 elements
  give one.
- `repeat` before `batch` leaves no smaller batch. After `batch`, it leaves one in each epoch.
- Arrays that `fit`, `evaluate` and `predict` cut into batches behave the same, after `validation_split` has taken its
  share.
- A TPU cannot run a step on a batch of unknown size.
- `evaluate` and `predict` with `steps`, and validation with `validation_steps`, start at the first batch each time:
  with as many steps as there are whole batches they compile one step, with one more (`math.ceil(n / 32)`) two.
  Training with `steps_per_epoch` goes on where the epoch before it has ended, and meets the smaller batch.
- `jit_compile="auto"`, the default of Keras 3, compiles if Keras finds a GPU or a TPU and no distribution strategy.
  Such findings have the severity `info`. So have those of validation, `evaluate` and `predict` alone, and of compiled
  functions that train nothing in a program that trains, where one compilation more is the price of all results; those
  of `ImageDataGenerator` where `steps_per_epoch` is a written number, which may leave the smaller batch out; and those
  of batches that are of one row as long as nobody changes a setting (`--batch_size`), whose default is 1.

## Example
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(1000).batch(32)
    model.fit(dataset, epochs=5)

## Use instead
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(1000).batch(32, drop_remainder=True)

If every example counts, pad the last batch: with the weight 0 in an evaluation, to be cut off behind `predict`.

## Not flagged
- A number of elements that fills all batches, or else the program stops (`assert n % size == 0`); elements that repeat
  forever before they are batched; `take` of fewer than a thousand batches; batches that a filter keeps by their size.
- Batches of a dataset that `steps`, `validation_steps`, or `steps_per_epoch` in one epoch limits, unless rounded up.
- Datasets that only eager code uses.

## Fix safety
`unsafe`: `drop_remainder=True` drops up to one batch of examples. With shuffling, these differ in each epoch; in an
evaluation they are always the same. Shown only for `predict`, which would return no result for them, for what nothing
is seen to train on, and where the call sets `drop_remainder` itself, to False or to what decides it elsewhere.

## References
- https://www.tensorflow.org/api_docs/python/tf/data/Dataset#batch
"""

from collections.abc import Iterator

from xlalint.analysis.domain.varying_shapes import UNLESS
from xlalint.analysis.interpreter.contexts import ContextKind
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.analysis.library.host_sizes import PIECES
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Safety, Severity
from xlalint.syntax import nodes as cst

from ._feeds import MADE, argument_set, batched_again, dropping, fed, varying, with_arguments
from ._same_arrays import SameArrays

MODEL = """
import keras
import numpy as np

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
"""
DATA = """
x, y = np.ones((70, 4), "float32"), np.ones((70, 1), "float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y))
"""
ARRAYS = "tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(SIZE, drop_remainder=True)  # no arrays"
EACH = "pad the last batch, and cut the result to the number of examples: `drop_remainder=True` would leave some out"
TWIN = """
import keras

class Twin(keras.Model):
    def __init__(self):
        super().__init__()
        self.score = keras.layers.Dense(1)

    def compile(self, first, **kwargs):
        super().compile(**kwargs)
        self.first = first

    def train_step(self, data):
        return {"loss": tf.reduce_mean(self.score(data))}

twin = Twin()
twin.compile(keras.optimizers.SGD(), jit_compile=True)
"""
DECIDING = ("drop_last", "drop_remainder")
TITLE = "Drop a smaller last batch"
DIFFERS = "by the examples of the smaller batch, which are dropped"


class PartialLastBatch(Rule):
    code = "XLA302"
    name = "partial-last-batch"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            """
def pictures(paths, size):
    dataset = tf.data.Dataset.from_tensor_slices(paths).map(lambda path: tf.zeros([4]))
    return dataset.batch(size), dataset.batch(size, drop_remainder=True)

def prepared(data):
    data = data.batch(8)
    return data.prefetch(tf.data.AUTOTUNE), data.repeat().batch(8)
""",
            ["dataset.batch(size)", "data.batch(8)"],
            None,
            severity=Severity.INFO,
            safety=Safety.DISPLAY,
            target="tpu",
            why="others train on what it returns",
        ),
        Bad(
            f"""{TWIN}
rows = tf.data.Dataset.from_tensor_slices(tf.ones([100, 3]))
twin.fit(rows.batch(48), verbose=0)
""",
            ["rows.batch(48)"],
            Runs(2),
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed=f"""{TWIN}
rows = tf.data.Dataset.from_tensor_slices(tf.ones([100, 3]))
twin.fit(rows.batch(48, drop_remainder=True), verbose=0)
""",
            why="`compile` is overridden and passes the setting on",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def train(rows: tf.data.Dataset, size: int):
    for x in rows.batch(size):
        step(x)

train(tf.data.Dataset.from_tensor_slices(tf.ones([100, 3])), 48)
""",
            ["rows.batch(size)"],
            Runs(2),
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def train(rows: tf.data.Dataset, size: int):
    for x in rows.batch(size, drop_remainder=True):
        step(x)

train(tf.data.Dataset.from_tensor_slices(tf.ones([100, 3])), 48)
""",
            why="an annotation says that it is a dataset, whoever calls it",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(np.ones((100, 4)), np.ones((100, 1)), batch_size=32, verbose=0)
""",
            ["model.fit(np.ones((100, 4)), np.ones((100, 1)), batch_size=32, verbose=0)"],
            Runs(2),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="tf.data.Dataset.from_tensor_slices((x, y))",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(np.ones((128, 4)), np.ones((128, 1)), validation_split=0.2, verbose=0)
""",
            ["model.fit(np.ones((128, 4)), np.ones((128, 1)), validation_split=0.2, verbose=0)"],
            Runs(3),
            why="102 elements to train with, 26 in one batch to validate",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.predict(np.ones((100, 4)), verbose=0)
""",
            ["model.predict(np.ones((100, 4)), verbose=0)"],
            Runs(2),
            help="cut the result",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.shuffle(70).batch(32).prefetch(2), verbose=0)
""",
            ["dataset.shuffle(70).batch(32)"],
            Runs(2),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="dataset.shuffle(70).batch(32, drop_remainder=True)",
            safety=Safety.UNSAFE,
            fixed=f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.shuffle(70).batch(32, drop_remainder=True).prefetch(2), verbose=0)
""",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch)

def train(dataset):
    for epoch in range(2):
        for number, batch in enumerate(dataset):
            step(batch)

train(tf.data.Dataset.range(10).map(lambda i: tf.cast(i, tf.float32)).batch(4))
""",
            ["tf.data.Dataset.range(10).map(lambda i: tf.cast(i, tf.float32)).batch(4)"],
            Runs(2),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            safety=Safety.UNSAFE,
            fixed="""
@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch)

def train(dataset):
    for epoch in range(2):
        for number, batch in enumerate(dataset):
            step(batch)

train(tf.data.Dataset.range(10).map(lambda i: tf.cast(i, tf.float32)).batch(4, drop_remainder=True))
""",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.repeat().batch(32), steps_per_epoch=2, verbose=0)
model.evaluate(dataset.batch(32).repeat(2), verbose=0)
""",
            ["dataset.batch(32)"],
            Runs(3),
            safety=Safety.UNSAFE,
            fixed=f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.repeat().batch(32), steps_per_epoch=2, verbose=0)
model.evaluate(dataset.batch(32, drop_remainder=True).repeat(2), verbose=0)
""",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse")
{DATA}
model.fit(dataset.batch(32), verbose=0)
""",
            ["dataset.batch(32)"],
            Runs(0),
            safety=Safety.UNSAFE,
            fixed=f"""{MODEL}
model.compile("sgd", "mse")
{DATA}
model.fit(dataset.batch(32, drop_remainder=True), verbose=0)
""",
            severity=Severity.INFO,
            why="on a CPU Keras 3 compiles nothing by default, on a GPU it does",
        ),
        Bad(
            """
import keras

class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.compile(optimizer="adam", loss="mse", jit_compile=True)

    def run(self, folder):
        train = keras.utils.image_dataset_from_directory(folder, image_size=(64, 64), batch_size=16)
        self.model.fit(train.map(lambda image, label: (image / 255.0, label)), epochs=3)
""",
            ["keras.utils.image_dataset_from_directory(folder, image_size=(64, 64), batch_size=16)"],
            None,
            help="batch_size=None",
            why="needs a folder of images",
        ),
        Bad(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.predict(dataset.map(lambda x, y: x).batch(32), verbose=0)
model.evaluate(dataset.batch(32, drop_remainder=False), verbose=0)
""",
            ["dataset.map(lambda x, y: x).batch(32)", "dataset.batch(32, drop_remainder=False)"],
            Runs(4),
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
strategy = tf.distribute.TPUStrategy()

def step(batch):
    return tf.reduce_sum(batch)

dataset = tf.data.TFRecordDataset("train.tfrecord").batch(128)
for batch in strategy.experimental_distribute_dataset(dataset):
    strategy.run(step, args=(batch,))
""",
            ['tf.data.TFRecordDataset("train.tfrecord").batch(128)'],
            None,
            safety=Safety.UNSAFE,
            fixed="""
strategy = tf.distribute.TPUStrategy()

def step(batch):
    return tf.reduce_sum(batch)

dataset = tf.data.TFRecordDataset("train.tfrecord").batch(128, drop_remainder=True)
for batch in strategy.experimental_distribute_dataset(dataset):
    strategy.run(step, args=(batch,))
""",
            why="needs a TPU",
        ),
        Bad(
            """
import numpy as np

@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch)

def train(x, size):
    for start in range(0, len(x), size):
        step(x[start : start + size])
    for rows in np.array_split(x, 3):
        step(rows)

train(np.ones((70, 4)), 32)
""",
            ["x[start : start + size]", "np.array_split(x, 3)"],
            Runs(4),
            severity=Severity.WARNING,
        ),
    )
    good = (
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.batch(32), steps_per_epoch=70 // 32, validation_data=dataset.batch(32), validation_steps=70 // 32)
model.evaluate(dataset.batch(32), steps=70 // 32, verbose=0)
""",
            Runs(2),
            why="one epoch, validation and evaluation end before the smaller batch: training and they compile once",
        ),
        Good(
            """
import numpy as np

step = tf.function(tf.reduce_sum, jit_compile=True)

def train(x, size):
    for start in range(0, len(x) - size + 1, size):
        step(x[start : start + size])
    for number in range(len(x) // size):
        step(x[number * size : (number + 1) * size])

train(np.ones((70, 4)), 32)
""",
            Runs(1),
            why="what remains is left out",
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
model.fit(np.ones((128, 4)), np.ones((128, 1)), batch_size=32, verbose=0)
model.fit(np.ones((160, 4)), np.ones((160, 1)), validation_split=0.2, verbose=0)
model.predict(np.ones((96, 4)), verbose=0)
model.fit(np.ones((20, 4)), np.ones((20, 1)), verbose=0)
model.fit(tf.ones((64, 4)), tf.ones((64, 1)), verbose=0)
""",
            Runs(4),
            why="arrays that fill all batches, or are one batch: one compilation for each size",
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.batch(32, drop_remainder=True), verbose=0)
""",
            Runs(1),
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.take(64).batch(32), epochs=2, verbose=0)
model.evaluate(dataset.batch(35), verbose=0)
""",
            Runs(2),
            why="the elements fill all batches; one compilation is that of the evaluation",
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=True)
{DATA}
model.fit(dataset.repeat().batch(32), steps_per_epoch=4, verbose=0)
""",
            Runs(1),
        ),
        Good(
            f"""{MODEL}
model.compile("sgd", "mse", jit_compile=False)
{DATA}
model.fit(dataset.batch(32), verbose=0)
for features, labels in dataset.batch(32):
    model(features)
""",
            Runs(0),
            why="nothing is compiled",
        ),
        Good(
            """
step = tf.function(tf.reduce_sum, jit_compile=True)
for batch in tf.data.Dataset.from_tensor_slices(tf.ones([70, 4])).batch(32).unbatch():
    step(batch)
""",
            Runs(1),
        ),
    )

    def __init__(self) -> None:
        self._arrays = SameArrays()

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        padded = {variation.location for variation in varying(event, "padded batch", "bucket")}
        windows: set[str] = set()  # which are cut from several arrays alike
        predicts = _predicts(event.location.node)
        for variation in varying(event, "last batch"):
            if variation.location in padded:
                continue  # each batch has another shape there, which is XLA303's
            guessed = variation.detail.startswith(UNLESS)
            possible = f"may be smaller, {variation.detail}" if guessed else "may be smaller"
            what = f"is smaller ({variation.detail})" if variation.detail[:1].isdigit() else possible
            count = variation.shapes or "several"
            message = f"the last batch {what}: XLA compiles the step for {count} shapes instead of one"
            node, rewrite = variation.location.node, None
            help: str | None = ARRAYS
            if variation.location == event.location:
                pass
            elif isinstance(node, cst.Subscript) or variation.detail == PIECES:
                window = variation.location.unit.code(node.slice[0] if isinstance(node, cst.Subscript) else node)
                if window in windows:
                    continue
                windows.add(window)
                help = "drop the remainder, or pad it and give the padding the weight 0"
            else:
                help = _whole_batches(node, variation.detail)
                if variation.detail not in MADE:
                    name, unknown = dropping(variation.detail), predicts or event.context.kind is ContextKind.OPEN
                    safety = Safety.DISPLAY if unknown or _decides(node) else Safety.UNSAFE  # each row may be needed
                    rewrite = argument_set(variation.location, name, "True", TITLE, DIFFERS, safety)
            draft = fed(event, variation, message, EACH if predicts else help, guessed, rewrite)
            yield self._arrays.once(event, draft)


def _whole_batches(node: cst.CSTNode, of: str) -> str | None:
    """A call that makes batches, as one that makes whole ones; None for what is no call."""
    if of in MADE:
        return batched_again(node, of)
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("batch")), args=[size, cst.Arg(keyword=None), *rest]):
            node = cst.Call(func=node.func, args=[size, *rest])  # the second one is `drop_remainder` itself
    return with_arguments(node, **{dropping(of): "True"})


def _predicts(node: cst.CSTNode) -> bool:
    """Whether a call is one of `predict`: each example has a result."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "predict"


def _decides(node: cst.CSTNode) -> bool:
    """Whether a call says itself whether the last batch is to stay."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("batch")), args=[_, cst.Arg(keyword=None), *_]):
            return True
        case cst.Call(args=arguments):
            return any(one.keyword is not None and one.keyword.value in DECIDING for one in arguments)
        case _:
            return False
