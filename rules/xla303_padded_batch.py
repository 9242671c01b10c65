"""Each batch is padded to its longest element, so XLA recompiles for every length.

## What it does
Reports `padded_batch` without fixed `padded_shapes`, `bucket_by_sequence_length` without `pad_to_bucket_boundary=True`,
and `to_tensor()` of a ragged tensor without a shape, if the batches reach code that XLA compiles.

## What XLA does
Measured with TensorFlow 2.21 and Keras 3.15 on a CPU, with eight sequences of 3 to 10 numbers in batches of two:

- The step of `fit` compiles four times, also in buckets of up to 8 and 16.
- With `padded_shapes=([16], [])` it compiles once.
- In buckets padded to their boundary it compiles twice, once for each bucket.

## Example
    model.fit(dataset.padded_batch(32))

## Use instead
    model.fit(dataset.padded_batch(32, padded_shapes=([128], [])))

Or use `bucket_by_sequence_length(.., pad_to_bucket_boundary=True)` with a few buckets.

## Not flagged
Shapes without `None` or -1, and parts of elements with such a shape beside others; slices of arrays and windows of one
length, parts that `map` brings to a size that is written (`tf.image.resize(image, (224, 224))`), and datasets that only
eager code uses.

## Fix safety
`unsafe`: buckets are padded to their boundaries, and an element that is not shorter than the last boundary raises. The
others are shown only, with `MAXIMUM` or `SHAPES` to fill in, because only the data shows how long the longest sequence
is.

## References
- https://www.tensorflow.org/api_docs/python/tf/data/Dataset#padded_batch
- https://www.tensorflow.org/api_docs/python/tf/data/Dataset#bucket_by_sequence_length
"""

from collections.abc import Iterator

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event, FeedCompiled
from xlalint.fixes.quoted import replaced
from xlalint.fixes.rewrite import Rewrite, Rewriter, replace
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Safety, Severity
from xlalint.syntax import nodes as cst

from ._feeds import PER_SHAPE, argument_set, fed, shown_with, varying, with_arguments

DATA = """
import keras
import numpy as np

def sequences():
    for length in range(3, 11):
        yield np.ones(length, "int32"), np.float32(length)

signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32))
dataset = tf.data.Dataset.from_generator(sequences, output_signature=signature)
model = keras.Sequential(
    [keras.Input((None,)), keras.layers.Embedding(8, 4), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)]
)
model.compile("sgd", "mse", jit_compile=True)
"""
PARTS = f"""{DATA}
@tf.function(jit_compile=True)
def total(x):
    return tf.reduce_sum(x)

"""
BUCKETS = "lambda tokens, label: tf.shape(tokens)[0], [9, 17], [2, 2, 2]"
IN_GRAPH = """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

@tf.function
def some(batches, count):
    total = tf.constant(0, tf.int64)
    for _ in tf.range(count):
        total += step(next(batches))
    return total

@tf.function
def every(batches):
    total = tf.constant(0, tf.int64)
    for tokens in batches:
        total += step(tokens)
    return total
"""

MAXIMUM = "Pad to the maximum length"
BOUNDARY = "Pad to the bucket boundary"
ENDS = "; the last batch may have fewer elements, too"
DIFFERS = "by the padding, and for elements not shorter than the last boundary, which raise"


class PaddedBatch(Rule):
    code = "XLA303"
    name = "padded-batch"
    handles = (FeedCompiled,)
    bad = (
        Bad(
            f"{DATA}\nmodel.fit(dataset.padded_batch(2, drop_remainder=True), verbose=0)\n",
            ["dataset.padded_batch(2, drop_remainder=True)"],
            Runs(4),
            effect=Effect.RECOMPILES,
            severity=Severity.WARNING,
            help="padded_shapes=SHAPES",
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"{DATA}\nmodel.fit(dataset.padded_batch(3), verbose=0)\n",
            ["dataset.padded_batch(3)"],
            Runs(3),
            help="dataset.padded_batch(3, padded_shapes=SHAPES, drop_remainder=True)",
            safety=Safety.DISPLAY,
            why="the last batch is smaller, too",
        ),
        Bad(
            f"{DATA}\nmodel.fit(dataset.padded_batch(2, ([None], []), drop_remainder=True).prefetch(1), verbose=0)\n",
            ["dataset.padded_batch(2, ([None], []), drop_remainder=True)"],
            Runs(4),
            help="dataset.padded_batch(2, ([MAXIMUM], []), drop_remainder=True)",
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"""{DATA}
padded = dataset.padded_batch(
    2,
    ([None], []),  # tokens, labels
    drop_remainder=True,
)
model.fit(padded, verbose=0)
""",
            ["dataset.padded_batch(\n    2,\n    ([None], []),  # tokens, labels\n    drop_remainder=True,\n)"],
            Runs(4),
            help="dataset.padded_batch( 2, ([MAXIMUM], []), drop_remainder=True, )",
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"""{PARTS}
for tokens, _ in dataset.padded_batch(2, ([None], []), drop_remainder=True):
    total(tokens)
""",
            ["dataset.padded_batch(2, ([None], []), drop_remainder=True)"],
            Runs(4),
            safety=Safety.DISPLAY,
        ),
        Bad(
            f"{DATA}\nmodel.fit(dataset.bucket_by_sequence_length({BUCKETS}, drop_remainder=True), verbose=0)\n",
            [f"dataset.bucket_by_sequence_length({BUCKETS}, drop_remainder=True)"],
            Runs(4),
            severity=Severity.WARNING,
            help="pad_to_bucket_boundary=True",
            safety=Safety.UNSAFE,
            fixed=f"{DATA}\nmodel.fit(dataset.bucket_by_sequence_length({BUCKETS}, drop_remainder=True,"
            " pad_to_bucket_boundary=True), verbose=0)\n",
        ),
        Bad(
            f"""{DATA}
for tokens, label in dataset.padded_batch(2, drop_remainder=True):
    model.predict(tokens, verbose=0)
""",
            ["dataset.padded_batch(2, drop_remainder=True)"],
            Runs(4),
            help="padded_shapes=SHAPES",
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
import keras

words = [word % 8 for word in range(40)]

def beginnings():
    for end in range(3, 11):
        yield words[:end], words[end]

signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32))
dataset = tf.data.Dataset.from_generator(beginnings, output_signature=signature)
model = keras.Sequential([keras.layers.Embedding(8, 4), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(dataset.padded_batch(2, drop_remainder=True), verbose=0)
""",
            ["dataset.padded_batch(2, drop_remainder=True)"],
            Runs(4),
            safety=Safety.DISPLAY,
            why="slices of their own lengths",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1.0], [1.0, 2.0], [3.0, 4.0, 5.0], [1.0]]))
for tokens in rows.ragged_batch(2, drop_remainder=True).map(lambda r: r.to_tensor()):
    step(tokens)
""",
            ["r.to_tensor()"],
            Runs(2),
            help="r.to_tensor(shape=[None, MAXIMUM])",
            safety=Safety.DISPLAY,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

class Tokenizer(tf.Module):
    def tokenize(self, text):
        return tf.strings.unicode_decode(text, "UTF-8")[:, :8]

def prepare(text):
    tokens = tokenizer.tokenize(text)
    return tokens.to_tensor()

tokenizer = getattr(Tokenizer(), "__enter__", Tokenizer())
for tokens in tf.data.Dataset.from_tensor_slices(["a", "bb", "ccc", "d"]).batch(2, drop_remainder=True).map(prepare):
    step(tokens)
""",
            ["tokens.to_tensor()"],
            Runs(2),
            safety=Safety.DISPLAY,
            why="ragged, whatever makes it",
        ),
        Bad(
            f"""{IN_GRAPH}
rows = tf.data.Dataset.range(3, 11).map(lambda length: tf.range(length)).padded_batch(2, drop_remainder=True)
some(iter(rows), tf.constant(4))
every(rows)
""",
            ["tf.data.Dataset.range(3, 11).map(lambda length: tf.range(length)).padded_batch(2, drop_remainder=True)"],
            Runs(4),
            safety=Safety.DISPLAY,
            why="loops in a graph call the compiled step for each batch",
        ),
        Bad(
            f"""
import argparse
{DATA}
def prepared(sentences, size):
    return sentences.shuffle(8).padded_batch(size, drop_remainder=True)

parser = argparse.ArgumentParser()
parser.add_argument("--eagerly", action="store_true")
model.compile("sgd", "mse", run_eagerly=parser.parse_args([]).eagerly)
model.fit(prepared(dataset, 2), verbose=0)
""",
            ["sentences.shuffle(8).padded_batch(size, drop_remainder=True)"],
            None,
            severity=Severity.WARNING,
            safety=Safety.DISPLAY,
            target="tpu",
            why="eager where somebody asks for it, and it is about moving to a TPU",
        ),
        Bad(
            f"""{DATA}
model.compile("sgd", "mse", run_eagerly=True)
model.fit(dataset.padded_batch(2, drop_remainder=True), verbose=0)
""",
            ["dataset.padded_batch(2, drop_remainder=True)"],
            None,
            severity=Severity.INFO,
            safety=Safety.DISPLAY,
            target="tpu",
            why="a TPU runs no eager step",
        ),
        Bad(
            """
def train(model, records):
    rows = tf.data.TFRecordDataset(records).map(lambda row: (tf.io.decode_raw(row, tf.float32), 1.0))
    model.fit(rows.padded_batch(8, drop_remainder=True), epochs=2)
    model.fit(rows.padded_batch(8))
""",
            ["rows.padded_batch(8, drop_remainder=True)"],
            None,
            severity=Severity.WARNING,
            safety=Safety.DISPLAY,
            target="tpu",
            why="whatever the model is, Keras trains it; the second call may be any library's",
        ),
        Bad(
            """
def prepared(sentences, size):
    return sentences.padded_batch(size).prefetch(tf.data.AUTOTUNE)
""",
            ["sentences.padded_batch(size)"],
            None,
            severity=Severity.INFO,
            safety=Safety.DISPLAY,
            target="tpu",
            why="others train on what it returns",
        ),
        Bad(
            """
import keras

class Measured(keras.callbacks.Callback):
    def __init__(self, rows):
        super().__init__()
        self.data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows)).padded_batch(32)

    def on_epoch_end(self, epoch, logs=None):
        print(self.model.predict(self.data))
""",
            ["tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows)).padded_batch(32)"],
            None,
            severity=Severity.WARNING,
            safety=Safety.DISPLAY,
            target="tpu",
            why="a callback predicts with the model that Keras gives it",
        ),
    )
    good = (
        Good(
            f"""{PARTS}
for _, label in dataset.padded_batch(2, ([None], []), drop_remainder=True):
    total(label)
""",
            Runs(1),
        ),
        Good(
            f"""{PARTS}
named = dataset.map(lambda tokens, label: {{"tokens": tokens, "label": label}})
for batch in named.padded_batch(2, {{"tokens": [None], "label": []}}, drop_remainder=True):
    total(batch["label"])
""",
            Runs(1),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

rows = tf.data.Dataset.range(1, 9).map(lambda length: tf.ones([4 + length % 2]))
for tokens in rows.filter(lambda row: tf.shape(row)[0] == 4).padded_batch(2, drop_remainder=True):
    step(tokens)
""",
            Runs(1),
            why="a filter lets one length pass",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(images):
    return tf.reduce_sum(images)

def resized(length):
    return tf.image.resize(tf.ones([length, length, 3]), (8, 8)) / 255.0

for images in tf.data.Dataset.range(3, 11).map(resized).padded_batch(2, drop_remainder=True):
    step(images)
""",
            Runs(1),
            why="all elements are brought to one size",
        ),
        Good(
            f"""{IN_GRAPH}
rows = tf.data.Dataset.range(3, 11).map(lambda length: tf.range(length))
rows = rows.padded_batch(2, padded_shapes=[16], drop_remainder=True)
some(iter(rows), tf.constant(4))
every(rows)
""",
            Runs(1),
        ),
        Good(
            f"{DATA}\nmodel.fit(dataset.padded_batch(2, padded_shapes=([16], []), drop_remainder=True), verbose=0)\n",
            Runs(1),
        ),
        Good(
            f"""{DATA}
buckets = dataset.bucket_by_sequence_length({BUCKETS}, pad_to_bucket_boundary=True, drop_remainder=True)
model.fit(buckets, verbose=0)
""",
            Runs(2),
            why="one compilation for each bucket",
        ),
        Good(
            """
import numpy as np

@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

for tokens in tf.data.Dataset.from_tensor_slices(np.ones((8, 5), "float32")).padded_batch(4):
    step(tokens)
""",
            Runs(1),
            why="all elements have one shape",
        ),
        Good(
            """
@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([4, 6], tf.int64)])
def step(tokens):
    return tf.reduce_sum(tokens)

rows = tf.data.Dataset.range(6, 7).repeat(8).map(lambda length: tf.range(length))
for tokens in rows.padded_batch(4):
    step(tokens)
""",
            Runs(1),
            why="the signature takes one shape, and the program works",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def step(tokens):
    return tf.reduce_sum(tokens)

rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1.0], [1.0, 2.0], [3.0, 4.0, 5.0], [1.0]]))
for tokens in rows.ragged_batch(2, drop_remainder=True).map(lambda r: r.to_tensor(shape=[None, 4])):
    step(tokens)
""",
            Runs(1),
        ),
        Good(
            """
import keras
import numpy as np

words = [word % 8 for word in range(40)]

def windows(size=10):
    for start in range(len(words) - size):
        window = words[start : start + size]
        yield np.array(window[:-1]), window[-1]

signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32))
dataset = tf.data.Dataset.from_generator(windows, output_signature=signature)
model = keras.Sequential([keras.layers.Embedding(8, 4), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(dataset.padded_batch(4, drop_remainder=True), verbose=0)
""",
            Runs(1),
            why="windows of one length",
        ),
        Good(
            f"""{DATA}
for tokens, label in dataset.padded_batch(2):
    model(tokens)
""",
            Runs(0),
            why="eager",
        ),
        Good(
            f"""{DATA}
model.compile("sgd", "mse", run_eagerly=True)
model.fit(dataset.padded_batch(2), verbose=0)
""",
            Runs(0),
            why="eager, and no target is named",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        assert isinstance(event, FeedCompiled)
        ends = {variation.location for variation in varying(event, "last batch")}
        for variation in varying(event, "padded batch", "bucket", "ragged"):
            location, count, help = variation.location, "", None
            whole = {"drop_remainder": "True"} if location in ends and event.trains else {}
            match variation.kind:
                case "bucket":
                    help = with_arguments(location.node, pad_to_bucket_boundary="True", **whole)
                    count = (
                        f"; with padding to the boundaries, for {variation.shapes} buckets" if variation.shapes else ""
                    )
                    rewrite = argument_set(location, "pad_to_bucket_boundary", "True", BOUNDARY, DIFFERS)
                case "ragged":
                    rewrite = shown_with(location, MAXIMUM, shape="[None, MAXIMUM]")
                case _:
                    rewrite = _closed(location) or shown_with(location, MAXIMUM, padded_shapes="SHAPES", **whole)
            message = f"each batch is as long as its longest element: {PER_SHAPE}{count}{ENDS if whole else ''}"
            yield fed(event, variation, message, help, rewrite=rewrite)


def _closed(location: Location) -> Rewriter | None:
    """The shapes that are written down, with a size where they leave one open; None where there are no such."""
    if not isinstance(location.node, cst.Call):
        return None
    named = [
        one.value for one in location.node.args if one.keyword is not None and one.keyword.value == "padded_shapes"
    ]
    shapes = named or [one.value for one in location.node.args[1:2] if one.keyword is None]
    sizes = [*_open_sizes(shapes[0])] if shapes else []
    if not sizes:
        return None
    text = replaced(location.node, dict.fromkeys(sizes, "MAXIMUM"))
    return lambda names: Rewrite(MAXIMUM, (replace(location, text),), Safety.DISPLAY)


def _open_sizes(shapes: cst.CSTNode) -> Iterator[cst.CSTNode]:
    match shapes:
        case cst.Name("None") | cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer("1")):
            yield shapes
        case _:
            for child in shapes.children:
                yield from _open_sizes(child)
