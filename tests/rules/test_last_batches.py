"""Training and inference scripts whose last batch of a dataset is smaller, or is not: through helpers, attributes and
modules."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one

ARGPARSE = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default={default})
args = parser.parse_args()
"""
FLAGS = """\
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("batch", {default}, "examples of one step")
"""
PARSER = "import argparse\n\nparser = argparse.ArgumentParser()\n{}\nsize = parser.parse_args().size\n"
SCRIPTS = {
    **{
        f"70 rows in batches of a setting: {name}": one(
            f"{HEAD}{setting}{MODEL}data = tf.data.Dataset.from_tensor_slices((tf.ones([70, 4]), tf.ones([70, 1])))\n"
            "model.fit(data.batch(size))\n",
            *(() if even else (("XLA302", "model.fit"),)),
        )
        for name, setting, even in (
            ("one choice", PARSER.format("parser.add_argument('size', type=int, choices=[35])"), True),
            ("one choice, of one", PARSER.format("parser.add_argument('--size', default=1, choices=[1])"), True),
            ("one choice that is asked for", PARSER.format("parser.add_argument('size', choices=[32])"), False),
            ("one choice, or none", PARSER.format("parser.add_argument('--size', type=int, choices=[35])"), False),
            (
                "of several choices",
                PARSER.format("parser.add_argument('size', type=int, choices=[7, 32])"),
                False,
            ),
            (
                "set for the parser",
                PARSER.format("parser.add_argument('--size', type=int)\nparser.set_defaults(size=35)"),
                True,
            ),
            (
                "set for the parser, and not even",
                PARSER.format("parser.add_argument('--size', type=int)\nparser.set_defaults(size=32)"),
                False,
            ),
            (
                "of a group",
                PARSER.format("parser.add_argument_group('data').add_argument('--size', type=int, default=35)"),
                True,
            ),
            (
                "of a group, and not even",
                PARSER.format("parser.add_argument_group('data').add_argument('--size', type=int, default=32)"),
                False,
            ),
            (
                "of a command",
                PARSER.format(
                    "train = parser.add_subparsers().add_parser('train')\n"
                    "train.add_argument('--size', type=int, default=35)"
                ),
                True,
            ),
            (
                "of a parser before, for a command",
                PARSER.format(
                    "common = argparse.ArgumentParser(add_help=False)\n"
                    "common.add_argument('--size', type=int, default=35)\n"
                    "parser.add_subparsers().add_parser('train', parents=[common])"
                ),
                True,
            ),
            ("of the environment", "import os\n\nsize = int(os.environ.get('SIZE', 35))\n", True),
            ("of the environment, and not even", "import os\n\nsize = int(os.environ.get('SIZE', 32))\n", False),
        )
    },
    # -- sizes that whoever runs the program may choose --
    **{
        f"a batch size on the command line: {name}": one(
            f"""{HEAD}{JIT}
{parser}
(images, labels), _ = keras.datasets.cifar10.load_data()
for image, label in tf.data.Dataset.from_tensor_slices((images, labels)).batch({size}):
    step(image, label)
""",
            *(() if fits else ((("XLA302", "for image, label in tf.data.Dataset.from_tensor_slices((images"),))),
        )
        for name, (parser, size, fits) in {
            "its default fits": (ARGPARSE.format(default=200), "args.batch", True),
            "its default leaves some": (ARGPARSE.format(default=128), "args.batch", False),
            "its default fits as a number": (ARGPARSE.format(default=500), "int(args.batch)", True),
            "a flag that fits": (FLAGS.format(default=1000), "FLAGS.batch", True),
            "a flag that leaves some": (FLAGS.format(default=64), "FLAGS.batch", False),
        }.items()
    },
    "fit in batches whose size is on the command line": one(
        f"""{HEAD}{ARGPARSE.format(default=100)}
{MODEL}model.fit(np.zeros([1000, 4]), np.zeros([1000, 1]), batch_size=args.batch)
""",
    ),
    **{
        f"as many names as {'fill all batches' if fits else 'leave some'}: {names}": one(
            f"""{HEAD}{JIT}
from sklearn.model_selection import train_test_split

NUMBERS = range(1, {801 if fits else 791})
grown = []
for number in NUMBERS:
    grown.append(f"{{number}}.png")
for names in tf.data.Dataset.from_tensor_slices({names}).batch(16):
    step(tf.strings.length(names))
""",
            *(() if fits else (("XLA302", "for names in"),)),
        )
        for names in (
            "[f'{number}.png' for number in NUMBERS]",
            "list(NUMBERS)",
            "['a.png'] * len(NUMBERS)",
            "2 * ['a.png' for _ in NUMBERS]",
            "grown",
            "sorted(grown)",
            "train_test_split(grown, test_size=0.2)[0]",
            "train_test_split(grown, NUMBERS, test_size=160)[2]",
        )
        for fits in (True, False)
    },
    "names of which a condition leaves some": one(
        f"""{HEAD}{JIT}
for names in tf.data.Dataset.from_tensor_slices([f"{{n}}.png" for n in range(800) if n % 7]).batch(16):
    step(tf.strings.length(names))
""",
        ("XLA302", "for names in"),
    ),
    # -- the last batch --
    "a pipeline in another module": Script(
        {
            "data.py": """\
import tensorflow as tf

def load(pattern, size):
    files = tf.data.Dataset.list_files(pattern)
    rows = files.interleave(tf.data.TFRecordDataset)
    return rows.map(tf.io.parse_tensor).batch(size)
""",
            "train.py": f"{HEAD}from data import load\n\n{MODEL}model.fit(load('*.tfrecord', 32))\n",
        },
        (("XLA302", "return rows.map(tf.io.parse_tensor).batch(size)"),),
    ),
    "a pipeline in another module that drops the rest": Script(
        {
            "data.py": "import tensorflow as tf\n\n\ndef load(pattern, size):\n"
            "    return tf.data.TFRecordDataset(pattern).batch(size, drop_remainder=True)\n",
            "train.py": f"{HEAD}from data import load\n\n{MODEL}model.fit(load('*.tfrecord', 32))\n",
        },
    ),
    # Each of these compiles once (measured); what begins again at the end of the data compiles twice.
    "a model and its data as attributes": one(
        HEAD
        + """
class Trainer:
    def __init__(self, files):
        self.data = tf.data.TFRecordDataset(files).batch(64).prefetch(1)
        self.model = self.build()

    def build(self):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse", jit_compile=True)
        return model

    def run(self):
        return self.model.fit(self.data, epochs=3)


Trainer(["a.tfrecord"]).run()
""",
        ("XLA302", "self.data = tf.data.TFRecordDataset(files).batch(64)"),
    ),
    "a subclass of a model": one(
        HEAD
        + """
class Net(keras.Model):
    def call(self, x):
        return x * 2.0


def main():
    net = Net()
    net.compile(optimizer="sgd", loss="mse", jit_compile=True)
    net.fit(tf.data.TextLineDataset("a.txt").batch(16))
    net.predict(tf.data.TextLineDataset("b.txt").batch(16, True))


main()
""",
        ("XLA302", 'net.fit(tf.data.TextLineDataset("a.txt").batch(16))'),
    ),
    "validation data": one(
        f"{HEAD}{MODEL}train = tf.data.TFRecordDataset('a').repeat().batch(8)\n"
        "valid = tf.data.TFRecordDataset('b').batch(8)\nmodel.fit(train, validation_data=valid, steps_per_epoch=9)\n",
        ("XLA302", "valid = "),
    ),
    "zipped": one(
        f"{HEAD}{MODEL}images = tf.data.TFRecordDataset('a').batch(8)\nlabels = tf.data.TFRecordDataset('b').batch(8)\n"
        "model.fit(tf.data.Dataset.zip((images, labels)))\n",
        ("XLA302", "images = "),
        ("XLA302", "labels = "),
    ),
    **{
        f"zipped, of attributes that are assigned again, {what}": one(
            f"""{HEAD}{MODEL}
class Data:
    def __init__(self, names):
        self.a, self.b = (tf.data.TFRecordDataset(name).map(tf.io.parse_tensor) for name in names)
        self.a = self.a.shuffle(9).batch(8{drop})
        self.b = self.b.shuffle(9).batch(8{drop})

data = Data(["a", "b"])
model.fit(tf.data.Dataset.zip((data.a, data.b)))
""",
            *found,
        )
        for what, drop, found in (
            ("with the rest", "", (("XLA302", "self.a = self.a"), ("XLA302", "self.b = self.b"))),
            ("without it", ", drop_remainder=True", ()),
        )
    },
    "batched after it repeats, in a branch": one(
        f"{HEAD}{MODEL}def load(training):\n    data = tf.data.TFRecordDataset('a')\n    if training:\n"
        "        data = data.shuffle(9).repeat()\n    return data.batch(8, drop_remainder=training)\n\n"
        "model.fit(load(True), steps_per_epoch=3)\n",
    ),
    "as many as fill the batches": one(
        f"{HEAD}{MODEL}(x, y), (u, v) = keras.datasets.mnist.load_data()\n"
        "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(32))\n"
        "model.evaluate(tf.data.Dataset.from_tensor_slices((u, v)).batch(100))\n",
    ),
    "as many as do not": one(
        f"{HEAD}{MODEL}(x, y), (u, v) = keras.datasets.mnist.load_data()\n"
        "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(128))\n",
        ("XLA302", "model.fit("),
    ),
    "eager code around it": one(
        f"{HEAD}{JIT}\n\ndef show(x):\n    print(x)\n\nfor x in tf.data.TFRecordDataset('a').batch(8):\n    show(x)\n"
    ),
    "arrays": one(
        f"{HEAD}{MODEL}model.fit(np.ones((70, 4)), np.ones((70, 1)), batch_size=32)\n",
        ("XLA302", "model.fit(np.ones((70, 4))"),
    ),
    "arrays that fill all batches": one(
        f"{HEAD}{MODEL}model.fit(np.ones((80, 4)), np.ones((80, 1)), batch_size=32, validation_split=0.2)\n"
    ),
    "one batch to look at": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').batch(8).take(1):\n    step(x)\n"
    ),
    "many batches of a dataset that begins again": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').batch(8).repeat().take(100_000):\n    step(x)\n",
        ("XLA302", "for x in tf.data"),
    ),
    "a few batches of a dataset that begins again": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').batch(8).repeat().take(5):\n    step(x)\n"
    ),
    "all batches, as many as there are": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').batch(8).take(-1):\n    step(x)\n",
        ("XLA302", "for x in tf.data"),
    ),
    "as many elements as one batch has": one(
        f"{HEAD}{JIT}\n\ndef train(n):\n    for x in tf.data.TFRecordDataset('a').shuffle(9).take(n).batch(n):\n"
        "        step(x)\n\ntrain(int(input()))\n"
    ),
    "as many elements as some batches have": one(
        f"{HEAD}{JIT}\n\ndef train(n):\n    some = tf.data.TFRecordDataset('a').take(4 * n)\n"
        "    for x in some.batch(n):\n        step(x)\n\ntrain(int(input()))\n"
    ),
    "as many elements as half a batch has more": one(
        f"{HEAD}{JIT}\n\ndef train(n, k):\n    for x in tf.data.TFRecordDataset('a').take(n).batch(k):\n"
        "        step(x)\n\ntrain(int(input()), int(input()))\n",
        ("XLA302", "for x in tf.data"),
    ),
    "a script two imports away from TensorFlow": Script(
        {
            "training.py": f"{HEAD}{JIT}\n\nclass Trainer:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def train(self):\n        for x in self.rows.batch(8):\n            step(x)\n",
            "choosing.py": "from training import Trainer\nimport loading\n\n"
            "def chosen(settings):\n    return Trainer(loading.rows(settings))\n",
            "loading.py": f"{HEAD}def rows(settings):\n    return tf.data.TFRecordDataset(settings)\n",
            "main.py": "from absl import app\nimport choosing\n\ndef main(arguments):\n"
            "    choosing.chosen(arguments[1]).train()\n\nif __name__ == '__main__':\n    app.run(main)\n",
        },
        (("XLA302", "for x in self.rows"),),
    ),
    "an iterator": one(
        f"{HEAD}{JIT}\n\ndef train(data, steps):\n    batches = iter(data)\n    for _ in range(steps):\n"
        "        step(next(batches))\n\ndata = tf.data.TFRecordDataset('a').batch(8)\ntrain(data, len(data))\n"
        "train(tf.data.TFRecordDataset('b').batch(8), 100)\n",
        ("XLA302", "data = "),
    ),
    "a function that is applied to a dataset": one(
        f"""{HEAD}{JIT}
def batcher(pad):
    if pad:
        return lambda rows: rows.padded_batch(8, padded_shapes=[128], drop_remainder=True)
    return lambda rows: rows.batch(8)

def train(args):
    for x in tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).apply(batcher(args.pad)):
        step(x)

train(None)
""",
        ("XLA302", "return lambda rows: rows.batch(8)"),
    ),
    "a wrapper that several functions are passed to": Script(
        {
            "compiling.py": """\
import tensorflow as tf

def compiler(jit):
    if jit:
        return tf.function(reduce_retracing=True, jit_compile=True)
    return tf.function(reduce_retracing=True)
""",
            "train.py": f"""{HEAD}from compiling import compiler

compiled = compiler(True)
squares, roots = compiled(tf.square), compiled(tf.sqrt)
for function in (squares, roots):
    print(function(tf.ones([3])))
""",
        },
        (("XLA305", "return tf.function(reduce_retracing=True, jit_compile=True)"),),
    ),
    "sizes that are taken of a batch are as many as its own": one(
        f"""{HEAD}{JIT}
for x in tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8):
    size = x.shape[0]
    step(x, np.random.normal(size=(size, 3)))
    step(x, tf.random.normal((size, 3)))
""",
        ("XLA302", "for x in tf.data.TFRecordDataset"),
    ),
    "what tf.data.experimental makes is applied to a dataset": one(
        f"""{HEAD}{JIT}
rows = tf.data.TFRecordDataset('a').map(tf.io.parse_tensor)
buckets = tf.data.experimental.bucket_by_sequence_length(len, [16, 32], [8, 8, 8], drop_remainder=True)
for x in rows.apply(buckets):
    step(x)
for x in rows.apply(tf.data.experimental.map_and_batch(lambda x: x, 8)):
    step(x)
for x in rows.batch(8).apply(tf.data.experimental.unbatch()).batch(8, drop_remainder=True):
    step(x)
""",
        ("XLA303", "buckets = tf.data.experimental"),
        ("XLA302", "for x in rows.apply(tf.data.experimental.map_and_batch("),
    ),
    "arrays of which nothing is known but that targets belong to them": one(
        f"{HEAD}from data import load\n\nx, y = load()\n{MODEL}model.fit(x, y, batch_size=64)\n",
        ("XLA302", "model.fit(x, y"),
    ),
    "tensors that are as many as their targets": one(
        f"{HEAD}from data import load\n\nx = tf.strings.to_number(load())\n{MODEL}"
        "model.fit(x, np.zeros((len(x), 3)), batch_size=64)\nmodel.fit(x, np.zeros((128, 3)), batch_size=64)\n"
        "model.fit(x, np.zeros((100, 3)), batch_size=64)\n",
        ("XLA302", "model.fit(x, np.zeros((len(x)"),
        ("XLA302", "model.fit(x, np.zeros((100"),
    ),
    "inputs of which nothing is known": one(
        f"{HEAD}from data import load\n\n{MODEL}model.fit(load(), validation_data=load())\n"
    ),
    "a list of the steps of a pipeline": Script(
        {
            "steps.py": """\
import tensorflow as tf

def chain(steps):
    def run(rows):
        for change in steps:
            rows = change(rows)
        return rows
    return run

def each(function):
    def change(rows):
        if isinstance(rows, tf.data.Dataset):
            return rows.map(function)
        return function(rows)
    return change

def batch(size, drop_remainder=False):
    return lambda rows: rows.batch(size, drop_remainder)
""",
            "train.py": f"""{HEAD}import steps
{JIT}
parse = steps.chain([steps.each(tf.io.parse_tensor), steps.each(lambda x: x[:9])])
for x in steps.chain([parse, steps.each(lambda x: (x, x)), steps.batch(8)])(tf.data.TFRecordDataset('a')):
    step(*x)
for x in steps.chain([parse, steps.each(lambda x: x + 1.0), steps.batch(8, True)])(tf.data.TFRecordDataset('a')):
    step(x)
""",
        },
        (("XLA302", "return lambda rows: rows.batch(size, drop_remainder)"),),
    ),
    "keras 2 compiles nothing by itself": one(
        "import tensorflow as tf\nimport tf_keras\n\nmodel = tf_keras.Sequential([tf_keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(tf.data.TFRecordDataset('a').batch(8))\n"
    ),
    "a strategy that Keras leaves uncompiled": one(
        f"{HEAD}strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n"
        "model.fit(tf.data.TFRecordDataset('a').batch(8))\n"
    ),
    "a strategy for TPUs": one(
        "import tensorflow as tf\nfrom tensorflow import keras\nfrom rows import read\n\n"
        "resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='local')\n"
        "tf.config.experimental_connect_to_cluster(resolver)\ntf.tpu.experimental.initialize_tpu_system(resolver)\n"
        "strategy = tf.distribute.TPUStrategy(resolver)\nwith strategy.scope():\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n"
        "model.fit(tf.data.TFRecordDataset('gs://bucket/a').map(read).batch(8))\n",
        ("XLA302", "model.fit("),
    ),
    "a step in the graph of a plain function": one(
        f"""{HEAD}{JIT}
strategy = tf.distribute.get_strategy()

def load(context):
    return tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8)

@tf.function
def run(batches):
    return step(next(batches))

@tf.function
def loop(batches):
    for _ in tf.range(9):
        step(next(batches))

loop(iter(load(None)))
batches = iter(strategy.distribute_datasets_from_function(load))
for _ in range(9):
    run(batches)
""",
        ("XLA302", "return tf.data.TFRecordDataset("),
    ),
    "a loop over batches in the graph of a plain function": one(
        f"""{HEAD}{JIT}
@tf.function
def loop(batches):
    for batch in batches:
        step(batch)

loop(tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8))
""",
        ("XLA302", "loop(tf.data.TFRecordDataset('a')"),
    ),
    "a model that another one holds": one(
        f"""{HEAD}
part = keras.Sequential([keras.layers.Dense(3)], name="part")
inputs = keras.Input((4,))
whole = keras.Model(inputs, part(inputs))
part = whole.get_layer("part")
part.compile("sgd", "mse", jit_compile=True)
part.fit(tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8))
""",
        ("XLA302", "part.fit("),
    ),
    "a layer that nothing compiles": one(
        f"""{HEAD}
inputs = keras.Input((4,))
whole = keras.Model(inputs, keras.layers.Dense(3, name="part")(inputs))
part = whole.get_layer("part")
part(tf.ones([2, 4]))
"""
    ),
    "a test": Script(
        {"test_train.py": f"import pytest\n{HEAD}{MODEL}model.fit(tf.data.TFRecordDataset('a').batch(8))\n"}
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 30
    assert sum(not script.found for script in SCRIPTS.values()) >= 15
