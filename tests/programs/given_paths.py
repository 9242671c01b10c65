"""Programs that are given their paths and their TPU: by flags, variables of the environment, records and parameters."""

from __future__ import annotations

from typing import Final

from .tpu import NODE, Program

BUILT: Final = """
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build([None, 4])
"""
MODEL: Final = f"""{NODE}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build([None, 4])
"""

WITH_MISTAKES: Final[dict[str, Program]] = {
    "options of the command line": f"""\
import argparse
import os
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--tpu", default="")
parser.add_argument("--data", "-d", default="./data")
parser.add_argument("--kept", type=str, default="checkpoints")
args = parser.parse_args()
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=args.tpu)
{BUILT}
rows = tf.data.TFRecordDataset(os.path.join(args.data, "train.tfrecord"))  # finds XLA504
tf.train.Checkpoint(model=model).save(os.path.join(args.kept, "m"))  # finds XLA511
""",
    "flags": f"""\
import absl
import tensorflow as tf

flags = absl.flags
flags.DEFINE_string("tpu", None, "its name or address")
flags.DEFINE_string("out", "output/", "where checkpoints go")
flags.DEFINE_string("rows", "data/rows.tfrecord", "what to read")
FLAGS = flags.FLAGS
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=FLAGS.tpu)
{BUILT}
names = tf.io.gfile.glob(FLAGS.rows)  # finds XLA504
model.load_weights(FLAGS.out + "first")  # finds XLA511
model.save_weights(f"{{FLAGS.out}}/best")  # finds XLA511
""",
    "flags of TensorFlow 1": f"""{MODEL}
import tensorflow_datasets as tfds

flags = tf.compat.v1.flags
flags.DEFINE_string("folder", "/tmp/tfds", "where data sets are")
rows = tfds.load("mnist", split="train", data_dir=flags.FLAGS.folder)  # finds XLA504
""",
    "a resolver that is told nothing, and the default of a parameter": {
        "rows.py": """\
import os
import tensorflow as tf

def load(folder="data"):
    return tf.data.TFRecordDataset(tf.io.gfile.glob(os.path.join(folder, "*.tfrecord")))  # finds XLA504
""",
        "main.py": f"""\
import tensorflow as tf
from rows import load

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
{BUILT}
rows = load()
""",
    },
    "a variable of the environment": f"""{MODEL}
import os

FOLDER = os.environ.get("DATA", "data/rows")
rows = tf.data.TFRecordDataset(FOLDER + "/a.tfrecord")  # finds XLA504
""",
    "a path of pathlib": f"""{MODEL}
import argparse
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--root", type=Path, default="data")
args = parser.parse_args()
rows = tf.data.TFRecordDataset(str(args.root / "a.tfrecord"))  # finds XLA504
""",
    "texts that are filled in, whoever calls": f"""{MODEL}
import fire

def main(folder="./data"):
    one = tf.data.TFRecordDataset("{{}}/a.tfrecord".format(folder))  # finds XLA504
    two = tf.data.TFRecordDataset("%s/a.tfrecord" % folder)  # finds XLA504
    three = tf.data.TFRecordDataset("%s/%s.tfrecord" % (folder, "a"))  # finds XLA504
    four = tf.data.TFRecordDataset("data/{{name}}.tfrecord".format(name=folder))  # finds XLA504

fire.Fire(main)
""",
    "the settings of a record": f"""{MODEL}
from dataclasses import dataclass
from transformers import HfArgumentParser

@dataclass
class Settings:
    out: str = "out"

(settings,) = HfArgumentParser(Settings).parse_args_into_dataclasses()
model.save(settings.out)  # finds XLA511
""",
    "settings that an object keeps, as a dict": {
        "loading.py": """\
import os
import tensorflow as tf

class Loader:
    def __init__(self, settings):
        self.root = settings["data"]

    def load(self):
        return tf.data.TFRecordDataset([os.path.join(self.root, name) for name in ("a", "b")])  # finds XLA504
""",
        "main.py": """\
import argparse
import tensorflow as tf
from loading import Loader

def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--tpu", required=True)
    return vars(parser.parse_args())

def main(args):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=args["tpu"])
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    return Loader(args).load()

main(parsed())
""",
    },
    "data sets that are used, here and where they are made": f"""{MODEL}
def rows():
    yield [1.0] * 4, [1.0] * 2

def made():
    chosen = tf.data.Dataset.from_generator(rows, output_signature=None).batch(8)  # finds XLA504
    return chosen

more = tf.data.Dataset.from_generator(rows, output_signature=None)  # finds XLA504
model.compile("sgd", "mse")
model.fit(made(), validation_data=more)
""",
}

CLEAN: Final[dict[str, Program]] = {
    "a TPU of this machine, unless somebody names one": f"""\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--tpu", default="local")
parser.add_argument("--data", default="./data")
args = parser.parse_args()
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=args.tpu)
{BUILT}
rows = tf.data.TFRecordDataset(args.data + "/train.tfrecord")
""",
    "a bucket, unless somebody names a folder, or nothing": f"""{MODEL}
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="gs://bucket/data")
parser.add_argument("--out", required=True)
args = parser.parse_args()
one = tf.data.TFRecordDataset(os.path.join(args.data, "train.tfrecord"))
two = tf.data.TFRecordDataset(f"{{args.data}}/train.tfrecord")
three = tf.data.TFRecordDataset("%s/%s.tfrecord" % (args.data, "train"))
four = tf.data.TFRecordDataset("{{}}/train.tfrecord".format(args.out))
tf.train.Checkpoint(model=model).save(os.path.join(args.out, "m"))
""",
    "a bucket on one of two ways": f"""{MODEL}
import argparse
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="data")
args = parser.parse_args()
folder = args.data
if len(sys.argv) > 3:
    folder = "gs://bucket/" + sys.argv[3]
rows = tf.data.TFRecordDataset(folder)
if len(sys.argv) > 4:
    other = args.data
else:
    other = sys.argv[2]
more = tf.data.TFRecordDataset(other)
""",
    "files that Keras writes": f"""{MODEL}
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="out")
parser.add_argument("--name", default="w.h5")
args = parser.parse_args()
model.save_weights(os.path.join(args.out, "w.h5"))
model.save_weights(args.name)
model.load_weights(args.out + "/" + args.name)
""",
    "data sets that nothing uses": f"""{MODEL}
def rows():
    yield [1.0] * 4, [1.0] * 2

def made():
    left = tf.data.Dataset.from_generator(rows, output_signature=None)

more = tf.data.Dataset.from_generator(rows, output_signature=None).batch(8)  # more of them
model.compile("sgd", "mse")
if __name__ == "__main__":
    model.fit(tf.ones([8, 4]), tf.ones([8, 2]))
""",
}
