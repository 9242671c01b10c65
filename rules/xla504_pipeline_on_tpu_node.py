"""A TPU node cannot run this input pipeline: it needs Python, or files of the local machine.

## What it does
Reports, in a program whose strategy is (or may be) for a TPU node: `Dataset.from_generator`, `tf.py_function` and
`tf.numpy_function` in a pipeline, Hugging Face's `to_tf_dataset` and `prepare_tf_dataset`, a generator, `Sequence`,
`PyDataset` or `ImageDataGenerator` that `fit`, `evaluate` or `predict` takes, and files read from a local path, or by
`tfds.load` from where it stores data sets on this machine. A path is local if it is written without a scheme, if
`glob`, `os`, `pathlib` or `keras.utils.get_file` found it, or if a setting names such a one by default. A resolver
with a name or an address is for a TPU node. If the program gets the address at run time, it may be.

## What XLA does
XLA is not reached. A TPU node is a machine of its own, and `tf.data` runs there, next to the TPU, not where Python
runs.

- Measured on a CPU with a second process as the remote worker (TensorFlow 2.21): a pipeline over a relative path fails
  there ("NotFoundError: .. No such file or directory"). One over tensors in memory works, and so does one created in
  `with tf.device("/job:localhost"):`.
- Measured (Keras 3.15): Keras puts a generator, a `PyDataset` and what an `ImageDataGenerator` makes into
  `Dataset.from_generator`, and arrays into none.
- Not measured, for lack of a TPU: the worker of a TPU node has no Python. Users report "No registered 'PyFunc' OpKernel
  for 'CPU' devices", and for local files "File system scheme '[local]' not implemented".

## Example
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    ...
    data = tf.data.Dataset.from_generator(rows, output_signature=spec)

## Use instead
    data = tf.data.Dataset.from_tensor_slices(dict(encoded))     # what fits into memory
    data = tf.data.TFRecordDataset("gs://bucket/rows.tfrecord")  # what does not

Or use a TPU VM (`tpu="local"`), where the program and the TPU share one machine.

## Not flagged
A TPU VM, files that are read in `with tf.device("/job:localhost"):`, paths that the program gets from elsewhere, paths
of a bucket, arrays, and data sets that nothing uses in a program that trains on others. A resolver without arguments,
or with `tpu=""`, takes the TPU that the environment names, which may be either: the first such place is information. A
path that is local only by default (`--data_dir`, `"./data"`) is a warning on a TPU node, and information where the
address is not known.

## Fix safety
Shown only: the data has to be stored elsewhere.

## References
- https://www.tensorflow.org/guide/tpu
- https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator
- https://huggingface.co/docs/transformers/v4.49.0/en/perf_train_tpu_tf
- https://github.com/tensorflow/tensorflow/issues/39030
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from xlalint.analysis.domain.values import Value
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.interpreter.setup_events import Program, SetupCall
from xlalint.analysis.library.strategies import may_be_either, may_be_node
from xlalint.fixes.quoted import brief
from xlalint.linter.rule import Bad, Draft, Effect, Good, Rule, Severity

from ._pipelines import needs
from ._strategies import (
    UNNAMED,
    by_default,
    made_note,
    model_strategy,
    node_strategy,
    told_node,
    unnamed_strategy,
)

NODE: Final = """
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""


class PipelineOnTpuNode(Rule):
    code = "XLA504"
    name = "pipeline-on-tpu-node"
    handles = (Program,)
    bad = (
        Bad(
            """
import sys

def attach(where):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(where)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)

def readings():
    for i in range(64):
        yield [float(i)]

strategy = attach(sys.argv[1])
rows = tf.data.Dataset.from_generator(readings, output_signature=tf.TensorSpec([1]))
lines = tf.data.TextLineDataset("measurements/day1.txt")
""",
            [
                "tf.data.Dataset.from_generator(readings, output_signature=tf.TensorSpec([1]))",
                'tf.data.TextLineDataset("measurements/day1.txt")',
            ],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why="it needs a TPU node, if the address is one's",
        ),
        Bad(
            f"""{NODE}
import os
ROOT = "/srv/speech"
shards = tf.data.TFRecordDataset(os.path.join(ROOT, "part-0.tfrecord"))
""",
            ['tf.data.TFRecordDataset(os.path.join(ROOT, "part-0.tfrecord"))'],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
def rows():
    yield from ([1.0], [2.0])

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([1]))
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
model.fit(data)
""",
            ["tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([1]))"],
            None,
            effect=Effect.TPU,
            help="gs://",
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
import numpy as np

class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.full([16, 4], index), np.ones([16, 1])

def endless():
    while True:
        yield np.ones([16, 4]), np.ones([16, 1])

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
folder = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
model.fit(Batches())
model.fit(endless(), steps_per_epoch=3)
model.evaluate(folder.flow_from_directory("pictures", batch_size=8))
model.fit(np.ones([16, 4]), np.ones([16, 1]), validation_data=Batches())
""",
            [
                "model.fit(Batches())",
                "model.fit(endless(), steps_per_epoch=3)",
                'model.evaluate(folder.flow_from_directory("pictures", batch_size=8))',
                "model.fit(np.ones([16, 4]), np.ones([16, 1]), validation_data=Batches())",
            ],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
import glob
import os
from pathlib import Path

ROOT = Path("speech")
HERE = os.path.dirname(__file__)
shards = tf.data.TFRecordDataset([str(shard) for shard in sorted(ROOT.glob("*.tfrecord"))])
words = tf.data.TextLineDataset(str(ROOT / "words" / "all.txt"))
more = tf.data.TextLineDataset(os.path.join(HERE, "more.txt"))

def decode(path):
    return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), [64, 64])

pictures = tf.data.Dataset.from_tensor_slices(glob.glob(f"{{HERE}}/*.png")).map(decode)
""",
            [
                'tf.data.TFRecordDataset([str(shard) for shard in sorted(ROOT.glob("*.tfrecord"))])',
                'tf.data.TextLineDataset(str(ROOT / "words" / "all.txt"))',
                'tf.data.TextLineDataset(os.path.join(HERE, "more.txt"))',
                'tf.data.Dataset.from_tensor_slices(glob.glob(f"{HERE}/*.png"))',
            ],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
def parse(row):
    return tf.numpy_function(lambda row: row * 2, [row], tf.int64)

data = tf.data.Dataset.range(8).map(parse)
""",
            ["tf.numpy_function(lambda row: row * 2, [row], tf.int64)"],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
from transformers import DataCollatorWithPadding

def pipeline(dataset, tokenizer):
    collator = DataCollatorWithPadding(tokenizer, return_tensors="np", padding="max_length", max_length=128)
    return dataset.to_tf_dataset(columns=["input_ids"], batch_size=8, collate_fn=collator)
""",
            ['dataset.to_tf_dataset(columns=["input_ids"], batch_size=8, collate_fn=collator)'],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
FOLDER = "data"
train = tf.data.TFRecordDataset(FOLDER + "/train.tfrecord")
test = tf.data.TFRecordDataset(["gs://bucket/test.tfrecord", "/tmp/test.tfrecord"])
names = tf.io.gfile.glob("images/*.jpg")
""",
            [
                'tf.data.TFRecordDataset(FOLDER + "/train.tfrecord")',
                'tf.data.TFRecordDataset(["gs://bucket/test.tfrecord", "/tmp/test.tfrecord"])',
                'tf.io.gfile.glob("images/*.jpg")',
            ],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            """
import os
import tensorflow as tf

def connect():
    address = "grpc://" + os.environ["TPU_ADDRESS"]
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("grpc://" + os.environ["COLAB_TPU_ADDR"])
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.experimental.TPUStrategy(resolver)

strategy = connect()
data = tf.data.TextLineDataset("rows.csv")
""",
            ['tf.data.TextLineDataset("rows.csv")'],
            None,
            effect=Effect.TPU,
            why="it needs a TPU node",
        ),
        Bad(
            f"""{NODE}
import tensorflow_datasets as tfds

train, test = tfds.load("cifar10", split=["train", "test"], as_supervised=True)
more = tfds.load("mnist", split="train", data_dir="./data")
""",
            [
                'tfds.load("cifar10", split=["train", "test"], as_supervised=True)',
                'tfds.load("mnist", split="train", data_dir="./data")',
            ],
            None,
            effect=Effect.TPU,
            help="try_gcs=True",
            why="it needs a TPU node",
        ),
        Bad(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
FOLDER = "flowers"
train = tf.data.TFRecordDataset(tf.io.gfile.glob(FOLDER + "/train/*.tfrec"))
test = tf.data.TFRecordDataset(tf.io.gfile.glob(FOLDER + "/test/*.tfrec"))
""",
            ['tf.io.gfile.glob(FOLDER + "/train/*.tfrec")'],
            None,
            effect=Effect.TPU,
            severity=Severity.INFO,
            why="it needs a TPU node, if the environment names one",
        ),
        Bad(
            f"""{NODE}
import sys

def rows(files):
    return tf.data.TFRecordDataset(files)

rows("gs://bucket/train.tfrecord")
rows(["mine/train.tfrecord"])
rows(sys.argv[1])
""",
            ["tf.data.TFRecordDataset(files)"],
            None,
            effect=Effect.TPU,
            severity=Severity.WARNING,
            why="it needs a TPU node; one of three callers names a local file",
        ),
    )
    good = (
        Good(
            f"""{NODE}
import sys

def rows(files):
    return tf.data.TFRecordDataset(files)

rows("gs://bucket/train.tfrecord")
rows(["gs://bucket/test.tfrecord"])
rows(sys.argv[1])
""",
            None,
            why="no caller names a local file",
        ),
        Good(
            f"""{NODE}
import tensorflow_datasets as tfds

public = tfds.load("cifar10", split="train", try_gcs=True)
own = tfds.load("own", split="train", data_dir="gs://bucket/data")
arrays = tfds.load("cifar10", split="train", batch_size=-1)
builder = tfds.builder("cifar10")
""",
            None,
            why="it is in a bucket, or in memory",
        ),
        Good(
            """
import os
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
data = tf.data.TFRecordDataset(os.path.join("/srv/speech", "part-0.tfrecord"))
""",
            None,
            why="a TPU VM reads its own files",
        ),
        Good(
            f"""{NODE}
def load():
    return tf.data.Dataset.from_tensor_slices(list(iter(tf.data.TFRecordDataset("train.tfrecord"))))

with tf.device("/job:localhost"):
    data = load()
""",
            None,
            why="the machine of the program reads it",
        ),
        Good(
            f"""{NODE}
data = tf.data.TFRecordDataset("gs://bucket/train.tfrecord")
other = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda row: row * 2)
names = tf.io.gfile.glob("gs://bucket/*.tfrecord")
""",
            None,
        ),
        Good(
            """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
data = tf.data.Dataset.from_generator(lambda: iter([1.0]), output_signature=tf.TensorSpec([]))
lines = tf.data.TextLineDataset("rows.csv")
""",
            None,
            why="a TPU VM runs the program itself",
        ),
        Good(
            f"""{NODE}
def shown(row):
    return tf.numpy_function(lambda row: row * 2, [row], tf.int64)

print(shown(tf.constant(1)))
""",
            None,
            why="not in a pipeline",
        ),
        Good(
            f"""{NODE}
import numpy as np

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit([np.ones([16, 4])], [np.ones([16, 1])])
model.fit((np.ones([16, 4])), np.ones([16, 1]), validation_data=(np.ones([16, 4]), np.ones([16, 1])))

def pairs():
    while True:
        yield np.ones([16, 4]), np.ones([16, 1])

for x, y in pairs():
    model.train_on_batch(x, y)
""",
            None,
            why="Keras is passed arrays",
        ),
        Good(
            f"""{NODE}
import glob
import os
import sys
from pathlib import Path

import numpy as np

BUCKET = os.environ["BUCKET"]
words = tf.data.Dataset.from_tensor_slices(["cat", "dog"])
shards = tf.data.TFRecordDataset([os.path.join(BUCKET, name) for name in os.listdir("names")])
sizes = np.array([Path(path).stat().st_size for path in glob.glob("pictures/*.png")], np.float32)
rows = tf.data.Dataset.from_tensor_slices(sizes)

def decode(path):
    return tf.io.decode_png(tf.io.read_file(path))

pictures = tf.data.Dataset.from_tensor_slices([f"{{BUCKET}}/{{number}}.png" for number in range(8)]).map(decode)
""",
            None,
            why="words and numbers, and paths that begin elsewhere",
        ),
        Good(
            f"""{NODE}
import sys

data = tf.data.TFRecordDataset(sys.argv[1])
more = tf.data.TFRecordDataset(f"{{sys.argv[1]}}/more.tfrecord")
""",
            None,
            why="a path that is not written here",
        ),
    )

    def check(self, event: Event) -> Iterator[Draft]:
        match event:
            case Program(steps=steps) if (node := node_strategy(steps)) is not None:
                yield from _refused(steps, node)
            case Program(steps=steps) if (node := unnamed_strategy(steps)) is not None:
                yield from islice(_refused(steps, node, Severity.INFO), 1)


def _refused(steps: Sequence[SetupCall], node: Value, at_most: Severity = Severity.ERROR) -> Iterator[Draft]:
    for need in needs(steps):
        step = need.step
        if need.fed and not _runs_on_node(step):
            continue
        usual, most = by_default(need.setting, node, at_most)
        yield Draft(
            f"`{brief(step.node)}` {need.reason}{usual}, but {told_node(node)} runs the pipeline on its own machine",
            Effect.TPU,
            need.help,
            location=step.location,
            notes=made_note(node, "the strategy of a TPU node" if at_most is Severity.ERROR else UNNAMED),
            at_most=most,
        )


def _runs_on_node(step: SetupCall) -> bool:
    """Whether the model of a call runs on a TPU node, or may."""
    strategy = model_strategy(step)
    return strategy is not None and (may_be_node(strategy) or may_be_either(strategy))
