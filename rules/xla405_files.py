"""A compiled function reads, decodes or writes files.

## What it does
Reports calls that read, write, parse or decode files and records, that create datasets, and loops over datasets and
`next(iterator)`, in code that XLA compiles.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: compiling fails ("No registered 'ReadFile' OpKernel", "DecodeJpeg",
"RangeDataset", "ScanDataset", "IteratorGetNext"). A compiled program cannot access a file system on any device.

## Example
    image = tf.io.decode_jpeg(tf.io.read_file(path))

## Use instead
    dataset = dataset.map(lambda path: tf.io.decode_jpeg(tf.io.read_file(path)))

## Not flagged
Functions that `tf.data` maps, and code that XLA does not compile.

## Fix safety
Shown only: the work has to move to another part of the program.

## References
- https://www.tensorflow.org/guide/data
- https://github.com/tensorflow/tensorflow/issues/43665
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import ApiCall, Event, TakeElements
from xlalint.facts.kernels import lacking
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Fails, Good, Rule, Runs

from ._kernels import names_lacking, only_on_the_host

OPS = {
    "tf.io.read_file": "ReadFile",
    "tf.io.write_file": "WriteFile",
    "tf.io.matching_files": "MatchingFiles",
    "tf.data.Dataset.range": "RangeDataset",
    "tf.data.Dataset.from_tensors": "TensorDataset",
    "tf.data.Dataset.from_tensor_slices": "TensorSliceDataset",
    "tf.data.Iterator.get_next": "IteratorGetNext",
}


class Files(Rule):
    code = "XLA405"
    name = "files"
    lacks_kernel = True
    handles = (ApiCall, TakeElements)
    apis = names_lacking("XLA405") | OPS.keys()
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.raw_ops.DecodeRaw(bytes='abcd', out_type=tf.uint8)
""",
            ["tf.raw_ops.DecodeRaw(bytes='abcd', out_type=tf.uint8)"],
            Fails("DecodeRaw"),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    tf.io.write_file("example.txt", "text")
    return x
""",
            ['tf.io.write_file("example.txt", "text")'],
            Fails("WriteFile"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
def total(limit):
    result = tf.constant(0, tf.int64)
    for item in tf.data.Dataset.range(limit):
        result += item
    return result

@tf.function(jit_compile=True)
def f(x):
    return total(3)
""",
            ["tf.data.Dataset.range(limit)"],
            Fails("RangeDataset"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def call(self, x):
        return x + tf.io.parse_tensor(tf.io.read_file(self.path), tf.float32)
""",
            ["tf.io.parse_tensor(tf.io.read_file(self.path), tf.float32)", "tf.io.read_file(self.path)"],
            None,
            effect=Effect.FAILS,
            why="needs a file",
        ),
        Bad(
            """
from tensorflow import io

@tf.function(jit_compile=True)
def f(images):
    coded = io.encode_jpeg(tf.cast(images, tf.uint8))
    return tf.cast(io.decode_jpeg(coded, channels=3), tf.float32)
""",
            ["io.encode_jpeg(tf.cast(images, tf.uint8))", "io.decode_jpeg(coded, channels=3)"],
            Fails("EncodeJpeg"),
            inputs=("f32[4, 4, 3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
ROWS = tf.data.Dataset.range(3)

@tf.function(jit_compile=True)
def f(x):
    total = tf.constant(0, tf.int64)
    for row in ROWS:
        total += row
    return x * tf.cast(total, tf.float32)
""",
            ["ROWS"],
            Fails("ScanDataset"),
        ),
        Bad(
            """
BATCHES = iter(tf.data.Dataset.range(90).batch(3))

def take(batches):
    return tf.cast(next(batches), tf.float32)

@tf.function(jit_compile=True)
def f(x):
    return x + tf.reduce_sum(take(BATCHES))
""",
            ["next(batches)"],
            Fails("IteratorGetNext"),
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def step(batch):
    return tf.reduce_sum(batch)

@tf.function
def epoch(dataset):
    for batch in dataset:
        step(batch)
    return step(next(iter(dataset)))

epoch(tf.data.Dataset.range(9).batch(3))
""",
            Runs(1),
            why="a plain `tf.function` loops, and the compiled one gets the batches",
        ),
        Good(
            """
def load(path):
    return tf.io.decode_jpeg(tf.io.read_file(path))

dataset = tf.data.Dataset.list_files("*.jpg").map(load)
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
CODED = tf.io.encode_jpeg(tf.zeros([4, 4, 3], tf.uint8))

@tf.function(jit_compile=True)
def f(x):
    return x + 1.0
""",
        ),
        Good(
            """
@tf.function
def f(path):
    return tf.io.read_file(path)
""",
            None,
            why="a plain `tf.function` reads files",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(images):
    return tf.image.flip_left_right(images)
""",
            inputs=("f32[4, 4, 3]",),
        ),
        Good("text = tf.io.read_file('notes.txt')\n", None, why="eager code of a script"),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall():
                yield from only_on_the_host(event, OPS, self.code, self.tensorflow, HELP)
            case TakeElements(operation=operation):
                why = lacking((operation,), self.tensorflow)
                yield Draft(f"`{brief(event.location.node)}` is data of a pipeline: {why}", Effect.FAILS, TAKEN)


TAKEN = "loop over the dataset outside of the compiled function, and pass it each batch"
HELP = "do it in dataset.map, which runs on the host, and pass tensors to the compiled function"
