"""A compiled function uses strings or a lookup table.

## What it does
Reports `tf.strings`, `tf.as_string` and other calls on strings, and lookups in the tables of `tf.lookup`, in code that
XLA compiles, tensors of strings that other code passes to it, or for which a Keras model is made, and strings that it
returns.

## What XLA does
Measured with TensorFlow 2.21 on a CPU: compiling fails ("No registered 'AsString' OpKernel", "LookupTableFindV2"). A
string argument of the compiled function fails, too, even if nothing uses it ("_Arg .. T=DT_STRING"). XLA has no strings
on any device.

A string that is constant during tracing (a name, a message, a key of a dict that is returned) is harmless. So is what
TensorFlow computes from constants and shapes before it compiles, such as the length of a constant text.
`tf.strings.split` and other calls that return several tensors fail even for constants.

## Example
    ids = table.lookup(tokens)

## Use instead
    dataset = dataset.map(lambda tokens, label: (table.lookup(tokens), label))

The compiled function then gets numbers. A table of small integers can be a tensor: `tf.gather(values, keys)`.

## Not flagged
- Functions that `tf.data` maps, code that XLA does not compile, constant strings, and what is computed from them.
- Layers that set `self.supports_jit = False`, or that take text and lists as Keras's own string layers do, unless
  compiled code calls them, and the text that `fit` passes to such layers; under a TPU strategy it is reported.

## Fix safety
Shown only: the work has to move to another part of the program.

## References
- https://github.com/tensorflow/tensorflow/issues/101188
- https://github.com/tensorflow/tensorflow/issues/105646
"""

from collections.abc import Iterator

from xlalint.analysis.interpreter.events import ApiCall, Event, FeedText
from xlalint.analysis.interpreter.returned_text import ReturnText
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Breaks, Draft, Effect, Fails, Good, Rule, Runs

from ._kernels import is_folded, names_lacking, only_on_the_host

TABLES = ("StaticHashTable", "StaticVocabularyTable", "experimental.DenseHashTable", "experimental.MutableHashTable")
METHODS = {"insert": "LookupTableInsertV2", "lookup": "LookupTableFindV2", "size": "LookupTableSizeV2"}
# By hand what the table cannot tell, since the process dies of the measured call.
STRINGS = {
    "tf.strings.bytes_split": "StringSplit",
    "tf.strings.format": "StringFormat",
    "tf.strings.ngrams": "StringNGrams",
    "tf.strings.split": "StringSplitV2",
}
# What TensorFlow computes beforehand where nothing but constants and shapes is asked of it.
FOLDED = frozenset(
    (
        *("tf.as_string", "tf.strings.as_string", "tf.strings.format", "tf.strings.join", "tf.strings.length"),
        *("tf.strings.lower", "tf.strings.reduce_join", "tf.strings.regex_replace", "tf.strings.substr"),
        *("tf.strings.to_hash_bucket_fast", "tf.strings.to_number", "tf.substr"),
    )
)
OPS = STRINGS | {f"tf.lookup.{table}.{method}": op for table in TABLES for method, op in METHODS.items()}


class StringsAndTables(Rule):
    code = "XLA404"
    name = "strings-and-tables"
    lacks_kernel = True
    handles = (ApiCall, FeedText, ReturnText)
    apis = names_lacking("XLA404") | OPS.keys()
    bad = (
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.raw_ops.StringLength(input=tf.raw_ops.AsString(input=x))
""",
            ["tf.raw_ops.StringLength(input=tf.raw_ops.AsString(input=x))", "tf.raw_ops.AsString(input=x)"],
            Fails("AsString"),
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return tf.cast(tf.strings.length(tf.strings.as_string(x)), tf.float32)
""",
            ["tf.strings.length(tf.strings.as_string(x))", "tf.strings.as_string(x)"],
            Fails("AsString"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
TABLE = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), 0)

@tf.function(jit_compile=True)
def f(ids):
    return TABLE.lookup(ids)
""",
            ["TABLE.lookup(ids)"],
            Fails("LookupTableFindV2"),
            inputs=("i32[3]",),
            effect=Effect.FAILS,
            help="dataset.map",
        ),
        Bad(
            """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), 0)

    def call(self, ids):
        return self.table.lookup(ids)
""",
            ["self.table.lookup(ids)"],
            Fails("LookupTableFindV2"),
            inputs=("i32[3]",),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
spec = {"x": tf.io.FixedLenFeature([4], tf.float32), "name": tf.io.FixedLenFeature([], tf.string)}

def parsed(row):
    example = tf.io.parse_single_example(row, spec)
    return example["x"], example["name"]

rows = tf.data.TFRecordDataset("rows.tfrecord").map(parsed).batch(8, drop_remainder=True)
model.predict(rows)
model.predict(rows.map(lambda x, name: x))
""",
            ["rows"],
            None,
            help="dataset.map",
            why="there is no such file",
        ),
        Bad(
            """
from tensorflow import strings

def label(x):
    return strings.format("value {}", x)

@tf.function(jit_compile=True)
def f(x):
    label(x)
    return x
""",
            ['strings.format("value {}", x)'],
            Fails("StringFormat"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def step(x, name):
    return tf.reduce_sum(x)

def keyed(i):
    return tf.cast(i, tf.float32), tf.strings.as_string(i)

for x, name in tf.data.Dataset.range(4).map(keyed):
    step(x, name)
""",
            ["name"],
            Breaks("DT_STRING"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
import keras

class Long(keras.layers.Layer):
    def call(self, words):
        return tf.cast(tf.not_equal(words, ""), tf.float32)

words = keras.Input((1,), dtype="string")
model = keras.Model(words, keras.layers.Dense(1)(Long()(words)))
model.compile("sgd", "mse", jit_compile=True)
rows = tf.data.Dataset.from_tensors((tf.constant([["a"], [""]]), tf.ones([2, 1])))
model.fit(rows, verbose=0)
""",
            ["rows"],
            Breaks("_Arg"),
            effect=Effect.FAILS,
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    names = ["total", "mean"]
    return [tf.reduce_sum(x), tf.reduce_mean(x)], names
""",
            ["[tf.reduce_sum(x), tf.reduce_mean(x)], names"],
            Fails("_Retval"),
            help="name them where the function is called",
        ),
        Bad(
            """
@tf.function(jit_compile=True)
def f(x):
    return {"total": tf.reduce_sum(x), "kind": "sum"}
""",
            ['{"total": tf.reduce_sum(x), "kind": "sum"}'],
            Fails("_Retval"),
        ),
        Bad(
            """
paths = ["a.png", "b.png"]

def loaded(path, label):
    return tf.ones([4]), label, path

@tf.function(jit_compile=True)
def step(images, labels, paths):
    return tf.reduce_sum(images)

for images, labels, paths in tf.data.Dataset.from_tensor_slices((paths, [0, 1])).map(loaded).batch(2):
    step(images, labels, paths)
""",
            ["paths"],
            Breaks("_Arg"),
            help="leave them out",
        ),
    )
    good = (
        Good(
            """
@tf.function(jit_compile=True)
def step(images, labels):
    return tf.reduce_sum(images)

def loaded(path, label):
    return tf.cast(tf.strings.length(path), tf.float32) * tf.ones([4]), label

for images, labels in tf.data.Dataset.from_tensor_slices((["a.png", "b.png"], [0, 1])).map(loaded).batch(2):
    step(images, labels)
for batch in tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0], "name": ["a", "b"]}).batch(2):
    step(batch["x"], batch["x"])
""",
            Runs(2),
            why="the pipeline makes numbers of the texts, or the step is passed nothing else",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    def named(total):
        return "total", total
    name, total = named(tf.reduce_sum(x))
    return {name: total}
""",
            why="what is returned has strings for keys alone",
        ),
        Good(
            """
@tf.function
def f(x):
    return tf.reduce_sum(x), "total"
""",
            None,
            why="a plain `tf.function` returns them as tensors",
        ),
        Good(
            """
TABLE = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), 0)
dataset = tf.data.Dataset.from_tensors(tf.constant([1, 2])).map(lambda ids: TABLE.lookup(ids))
""",
            None,
            why="`tf.data` runs its functions on the host",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(ids):
    return tf.gather(tf.constant([0, 3, 4, 5]), tf.clip_by_value(ids, 0, 3))
""",
            inputs=("i32[3]",),
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    name = "scale-" + str(x.shape[0])
    return tf.identity(x, name=name)
""",
        ),
        Good(
            """
@tf.function(jit_compile=True)
def f(x):
    return x + tf.cast(tf.strings.length(tf.strings.as_string(tf.shape(x)[0])), tf.float32)
""",
            why="TensorFlow computes it before it compiles",
        ),
        Good(
            """
@tf.function
def f(x):
    return tf.strings.as_string(x)
""",
            None,
            why="a plain `tf.function` has strings",
        ),
        Good(
            """
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())

def shown(x):
    def printed(x):
        tf.print(tf.strings.as_string(x))
        return tf.identity(x)

    return tf.compat.v1.tpu.outside_compilation(printed, x)

@tf.function
def step(x):
    return strategy.run(lambda x: shown(x) * 2.0, args=(x,))
""",
            None,
            why="the host of the TPU runs it",
        ),
        Good("print(tf.strings.as_string(tf.ones([2])))\n", None, why="eager code of a script"),
        Good(
            """
import keras

words = keras.Input((1,), dtype="string")
index = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")
model = keras.Model(words, keras.layers.Dense(1)(index(words)))
model.compile("sgd", "mse", jit_compile=True)
model.fit(tf.data.Dataset.from_tensors((tf.constant([["a"], ["b"]]), tf.ones([2, 1]))), verbose=0)
""",
            None,
            why="Keras does not compile a model with such a layer",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case ApiCall(api=name, arguments=arguments) if name in FOLDED and all(map(is_folded, arguments.values())):
                return
            case FeedText():
                message = f"`{brief(event.location.node)}` holds strings, which a compiled function cannot take"
                yield Draft(message, Effect.FAILS, LEFT_OUT)
            case ReturnText():
                message = f"`{brief(event.location.node)}` holds strings, which a compiled function cannot return"
                yield Draft(message, Effect.FAILS, RETURNED)
            case ApiCall():
                yield from only_on_the_host(event, OPS, self.code, self.tensorflow, HELP)


HELP = "do it in dataset.map, which runs on the host, and pass numbers to the compiled function"
RETURNED = "return the tensors alone, as a dict under these names, or name them where the function is called"
LEFT_OUT = "leave them out: `dataset.map(lambda image, label, name: (image, label))`, or pass numbers"
