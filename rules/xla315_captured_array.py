"""Traced code uses a large array of NumPy's, of which each program that is compiled has a copy as a constant.

## What it does
Reports an array of NumPy's that has more than ten million elements, as a data set in memory, where a function that is
traced passes it to `tf.gather`, `tf.constant` and other operations that take all of it.

## What XLA does
Measured with TensorFlow 2.21 on a CPU, of a function that gathers rows of a float32 array, at its first call:

| the array has | NumPy's array | tensor created outside, or a variable |
| --- | --- | --- |
| 16 MB | 0.7 s | |
| 64 MB | 4 s | |
| 256 MB | 11 s, 3.2 GB of memory | 0.2 s, 1.4 GB of memory |
| more than 2 GB | ValueError: "Cannot create a tensor proto whose content is larger than 2GB." | |

The same is paid again for each new shape of the arguments: 14 s, and 4.8 GB, for the second one of 256 MB. A plain
`tf.function` takes 8 s, since the graph has the constant, too. A tensor that was created before is an input of the
program.

## Example
    (images, labels), _ = keras.datasets.mnist.load_data()

    @tf.function(jit_compile=True)
    def batch(rows):
        return tf.gather(images, rows)

## Use instead
    images = tf.constant(images)  # once, outside of the function

Or pass it to the function, or use `tf.data`.

## Not flagged
- Arrays that are passed to the function, which are inputs, and arrays whose size is not known, or is small.
- Pieces of an array that Python cuts out while tracing, and its shape.
- Input pipelines, and code that runs line by line.

## Fix safety
Shown only: where the array is made decides where a tensor of it can be made.

## References
- https://www.tensorflow.org/guide/function
"""

from collections.abc import Iterator, Mapping
from typing import Final

from xlalint.analysis.domain.values import Array, Value
from xlalint.analysis.interpreter.events import ApiCall, Event
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Runs, Severity

LARGE: Final = 10_000_000  # elements: about half a second more in float32
MILLION: Final = 1_000_000
# What takes all of these arguments, as tensors.
TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "tf.cast": ("x",),
    "tf.constant": ("value",),
    "tf.convert_to_tensor": ("value",),
    "tf.gather": ("params",),
    "tf.gather_nd": ("params",),
    "tf.matmul": ("a", "b"),
    "tf.nn.embedding_lookup": ("params",),
    "tf.reduce_max": ("input_tensor",),
    "tf.reduce_mean": ("input_tensor",),
    "tf.reduce_sum": ("input_tensor",),
    "tf.reshape": ("tensor",),
    "tf.slice": ("input_",),
    "tf.transpose": ("a",),
}
TABLE: Final = """
import numpy as np

table = np.ones([20_000, 600], "float32")
"""


class CapturedArray(Rule):
    code = "XLA315"
    name = "captured-array"
    handles = (ApiCall,)
    apis = frozenset(TAKES)
    bad = (
        Bad(
            f"""{TABLE}
@tf.function(jit_compile=True)
def rows(positions):
    return tf.gather(table, positions)

rows(tf.constant([1]))
""",
            ["table"],
            Runs(1),
            effect=Effect.NAMED,
            severity=Severity.WARNING,
            help="tf.constant(table)",
        ),
        Bad(
            f"""{TABLE}
class Data:
    def __init__(self, table):
        self.table = table

    @tf.function(jit_compile=True)
    def rows(self, positions):
        return tf.gather(params=self.table, indices=positions) + tf.reduce_sum(self.table[:3])

data = Data(table)
data.rows(tf.constant([1]))
""",
            ["self.table"],
            Runs(1),
        ),
        Bad(
            f"""{TABLE}
@tf.function(jit_compile=True)
def projected(x):
    weights = tf.convert_to_tensor(table)
    return tf.matmul(x, weights)

projected(tf.ones([1, 20_000]))
""",
            ["table"],
            Runs(1),
        ),
        Bad(
            """
import keras

(images, labels), _ = keras.datasets.mnist.load_data()
images = images.astype("float32") / 255.0

@tf.function(jit_compile=True)
def batch(rows):
    return tf.gather(images, rows), tf.gather(labels, rows)
""",
            ["images"],
            None,
            why="needs data from the network; there are few labels",
        ),
    )
    good = (
        Good(
            f"""{TABLE}
tensor = tf.constant(table)

@tf.function(jit_compile=True)
def rows(positions):
    return tf.gather(tensor, positions)

rows(tf.constant([1]))
""",
            Runs(1),
            why="an input of the program",
        ),
        Good(
            f"""{TABLE}
@tf.function(jit_compile=True)
def rows(table, positions):
    return tf.gather(table, positions)

rows(table, tf.constant([1]))
""",
            Runs(1),
            why="passed to it",
        ),
        Good(
            f"""{TABLE}
@tf.function(jit_compile=True)
def first(x):
    return tf.reduce_sum(table[:8]) + x + table.shape[0]

first(tf.constant(1.0))
""",
            Runs(1),
            why="a piece is all that is needed",
        ),
        Good(
            """
import numpy as np

table = np.ones([200, 600], "float32")

@tf.function(jit_compile=True)
def rows(positions):
    return tf.gather(table, positions)

rows(tf.constant([1]))
""",
            Runs(1),
            why="small",
        ),
        Good(
            f"""{TABLE}
data = tf.data.Dataset.range(8).map(lambda row: tf.gather(table, row))

def eager(positions):
    return tf.gather(table, positions)

eager(tf.constant([1]))
""",
            Runs(0),
            why="no step holds it",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        if not isinstance(event, ApiCall) or not event.context.becomes_graph:
            return
        for name in TAKES[event.api]:
            elements = _elements(event.arguments.get(name))
            if elements > LARGE:
                given = event.argument_nodes[name]
                yield Draft(
                    f"`{brief(given)}` has {elements // MILLION} million elements: each program that is compiled holds"
                    " them as a constant",
                    Effect.NAMED,
                    f"make a tensor of it once, outside of the function: tf.constant({brief(given)})",
                    location=event.location.at(given),
                    at_most=Severity.WARNING,
                )


def _elements(value: Value | None) -> int:
    """How many elements an array has; 0 where that is not known."""
    match value:
        case Array(length=int() as length, row=int() as row):
            return length * row
        case _:
            return 0
