"""Scripts that fit a model to tensors made of arrays, to what steps limit, to objects that fill lists, to what an image
generator makes and to tables: their last batch is smaller, or is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one
from xlalint.linter.rule import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

DIGITS = f"""{HEAD}{MODEL}
(x, y), (test_x, test_y) = keras.datasets.mnist.load_data()
"""
BATCHES = """\
class Batches(keras.utils.Sequence):
    def __init__(self, names, size):
        self.names, self.size = names, size

    def __len__(self):
        return {}

    def __getitem__(self, index):
        chosen = self.names[index * self.size : (index + 1) * self.size]
        images, labels = [], []
        for {} in {}:
            {}
        return np.array(images), np.array(labels)

model.fit(Batches(open("names").read().split(), 32), epochs=2)
"""
STACKED = "images.append(np.load(name)[:4])\n            labels.append(len(name))"
FOLDERS = """\
flow = ImageDataGenerator(rescale=1 / 255)
train = flow.flow_from_directory("train", target_size=(2, 2), batch_size=32)
test = flow.flow_from_directory("test", target_size=(2, 2), batch_size=32)
"""
VALIDATED = """\
count = len(open("names").read().split())
test = tf.data.TFRecordDataset("test").map(tf.io.parse_tensor).batch(32).repeat()
train = np.ones((64, 4))
model.fit(train, train, epochs=2, validation_data=test, validation_steps={})
"""
PICTURES = f"""{HEAD}from PIL import Image

{MODEL}
def batches(names, size):
    images, labels = [], []
    while True:
        for name in names:
            images.append(np.array(Image.open(name)))
            labels.append(len(name))
            if len(images) >= size:
                yield {{}}, np.array(labels)
                images, labels = [], []

model.fit(batches(open("names").read().split(), 32), steps_per_epoch=9)
"""
DATA = """\
import tensorflow as tf

def load(name):
    return tf.data.TFRecordDataset(name).map(tf.io.parse_tensor).batch(8)
"""
STEPS = """\
import tensorflow as tf

class Trainer:
    @tf.function(jit_compile=True)
    def step(self, batch):
        return tf.reduce_sum(batch)
"""
RUNNER = """\
class Runner:
    def run(self):
        for batch in data.load("x"):
            Trainer().step(batch)

"""
SCRIPTS = {
    # -- tensors that are made of arrays --
    "tensors of ten thousand rows": one(
        f"""{DIGITS}
model.fit(tf.expand_dims(x / 255, -1), y, validation_data=(tf.expand_dims(test_x / 255, axis=-1), test_y), epochs=2)
""",
        ("XLA302", "model.fit("),
    ),
    "tensors of sixty thousand rows, which fill all batches": one(
        f"""{DIGITS}
x = tf.cast(tf.convert_to_tensor(x), tf.float32) / 255.0
model.fit(x, tf.one_hot(tf.constant(y), 10), epochs=2)
"""
    ),
    "tensors of nobody knows how many": one(
        f"""{HEAD}{MODEL}
x, y = tf.convert_to_tensor(np.load("x.npy")), tf.convert_to_tensor(np.load("y.npy"))
model.fit(x, y - 1, epochs=2)
""",
        ("XLA302", "model.fit("),
    ),
    "tensors of lists of nobody knows how many": one(
        f"""{HEAD}{MODEL}
rows = []
for line in open("rows"):
    rows.append([float(word) for word in line.split(",")])
x = tf.constant(rows)
model.fit(x, x * 2.0, epochs=2)
""",
        ("XLA302", "model.fit("),
    ),
    "tensors that nobody makes of arrays": one(
        f"""{HEAD}{MODEL}
x = tf.random.normal([8, 4])
model.fit(x, tf.reduce_sum(x, 1), epochs=2)
few = tf.constant([[1.0, 2.0, 3.0, 4.0]] )
model.fit(few, few * 2.0)
"""
    ),
    "tensors whose rows are written where they are made": one(
        f"""{HEAD}{MODEL}
x, y = tf.random.normal((70, 4)), tf.ones([70, 1])
model.fit(x, y, epochs=2)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model.fit(data, epochs=2)
""",
        ("XLA302", "model.fit("),
        ("XLA302", "data = "),
    ),
    "tensors whose rows fill all batches": one(
        f"""{HEAD}{MODEL}
x, y = tf.random.normal((64, 4)), tf.fill([64, 1], 2.0)
model.fit(x, y, epochs=2)
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=2)
model.fit(tf.transpose(tf.ones([4, 70])), tf.ones([70]), batch_size=70, epochs=2)
"""
    ),
    "several inputs that a comprehension takes from arrays": one(
        f"""{HEAD}{MODEL}
inputs, targets = [np.load("a.npy"), np.load("b.npy")], np.load("y.npy")
rows = np.random.permutation(len(targets))[:-9]
model.fit([inputs[number][rows] for number in range(2)], targets[rows], batch_size=8, epochs=2)
""",
        ("XLA302", "model.fit("),
    ),
    "a new dimension in front, a part and a sum of a tensor": one(
        f"""{DIGITS}
whole = tf.convert_to_tensor(test_x)
model.fit(whole[:9984], whole[:9984], epochs=2)
model.fit(tf.expand_dims(test_x, 0), tf.expand_dims(test_y, 0), epochs=2)
model.fit(tf.concat([whole, whole[:9968]], 0), tf.reduce_sum(whole, 0)[:1], epochs=2)
"""
    ),
    "a tensor of whole batches": one(
        f"""{HEAD}{MODEL}
rows = np.load("x.npy")
x = tf.convert_to_tensor(rows[:len(rows) // 32 * 32])
model.fit(x, x, batch_size=32, epochs=2)
"""
    ),
    "whole batches of what a mask keeps": one(
        f"""{HEAD}{MODEL}
rows = np.load("x.npy")
kept = rows.std(axis=1) > 0.05
x = rows[kept][:len(rows[kept]) // 32 * 32]
model.fit(x, x, batch_size=32, epochs=2)
"""
    ),
    "arrays by their names": one(
        f"""{HEAD}{MODEL}
named = {{}}
named["ids"] = np.load("ids.npy")
named["mask"] = np.load("mask.npy")
model.fit(named, (np.load("y.npy"), np.load("z.npy")), epochs=2)
model.fit({{"ids": named["ids"][:64]}}, {{"y": np.load("y.npy")[:64]}}, epochs=2)
""",
        ("XLA302", "model.fit(named"),
    ),
    # -- data sets that come in batches --
    "a data set of which nobody knows how large it is, in batches": one(
        f"""{HEAD}import tensorflow_datasets as tfds

{JIT}
def load(name, size=16):
    train = tfds.load(name, split="train", batch_size=size)
    test, info = tfds.load(name, split="test", batch_size=size, with_info=True)
    return train.map(lambda example: example["image"] / 255), test

train, test = load("roses")
for _ in range(9):
    for batch in train:
        step(batch)
    for batch in test:
        step(batch["image"])
""",
        ("XLA302", "train = "),
        ("XLA302", "test, info = "),
    ),
    "a data set that fills its batches, or is in one": one(
        f"""{HEAD}import tensorflow_datasets as tfds

{JIT}
train, test = tfds.load("mnist", split=["train", "test"], batch_size=16, as_supervised=True)
for batch in train.concatenate(test):
    step(batch)
step(tfds.load("roses", split="test", batch_size=-1)["image"])
"""
    ),
    # -- numbers between two ends --
    "a range of fifteen hundred numbers": one(
        f"{HEAD}{MODEL}\nx = np.arange(0.0, 150.0, 0.1)\nmodel.fit(x, x * 2, epochs=2)\n",
        ("XLA302", "model.fit("),
    ),
    "a range of 1600 numbers, with and without a step": one(
        f"""{HEAD}{MODEL}
x, other = np.arange(100, 1700), np.arange(3200, 0, -2)
model.fit(x, x * 2, epochs=2)
model.fit(other, other, epochs=2)
"""
    ),
    "numbers in a line": one(
        f"""{HEAD}{MODEL}
x, more = np.linspace(0, 1, 1500), np.linspace(-1, 1)
model.fit(x, x * 2, epochs=2)
model.fit(more, more, epochs=2)
""",
        ("XLA302", "model.fit(x"),
        ("XLA302", "model.fit(more"),
    ),
    "1600 numbers in a line": one(f"{HEAD}{MODEL}\nx = np.linspace(0, 1, num=1600)\nmodel.fit(x, x * 2, epochs=2)\n"),
    # -- steps that the last batch is among, or is not --
    **{
        f"validation in {steps} steps": one(f"{HEAD}{MODEL}{VALIDATED.format(steps)}", *found)
        for steps, found in (
            ("int(np.ceil(count / 32))", [("XLA302", "test = ")]),
            ("count // 32 + 1", [("XLA302", "test = ")]),
            ("-(-count // 32)", [("XLA302", "test = ")]),
            ("len(test)", [("XLA302", "test = ")]),
            ("count // 32", []),
            ("int(count / 32)", []),
            ("9", []),
        )
    },
    "validation in as many steps as a folder has": one(
        f"""{HEAD}from tensorflow.keras.preprocessing.image import ImageDataGenerator

{MODEL}{FOLDERS}
model.fit(np.ones((64, 4)), np.ones(64), validation_data=test, validation_steps=len(test), epochs=2)
""",
        ("XLA302", "test = "),
    ),
    "a library of pictures by its own name, and steps of validation for a generator": one(
        f"""{HEAD}from keras_preprocessing.image import ImageDataGenerator

{MODEL}{FOLDERS}
model.fit_generator(train, epochs=2, validation_data=test, validation_steps=9)
""",
        ("XLA302", "train = "),
    ),
    "all steps of validation for a generator": one(
        f"""{HEAD}from keras_preprocessing.image import ImageDataGenerator

{MODEL}{FOLDERS}
model.fit_generator(train, epochs=2, validation_data=test)
""",
        ("XLA302", "train = "),
        ("XLA302", "test = "),
    ),
    # -- lists that are filled with what is made of each element of a batch --
    **{
        f"a sequence that fills lists: {how}": one(
            f"{HEAD}{MODEL}{BATCHES.format(count, target, through, put)}", *found
        )
        for how, count, target, through, put, found in (
            ("", "-(-len(self.names) // self.size)", "name", "chosen", STACKED, [("XLA302", "chosen = ")]),
            (
                "numbered",
                "int(np.ceil(len(self.names) / self.size))",
                "at, name",
                "enumerate(chosen)",
                STACKED,
                [("XLA302", "chosen = ")],
            ),
            (
                "side by side",
                "len(self.names) // self.size + 1",
                "name, other",
                "zip(chosen, chosen)",
                STACKED,
                [("XLA302", "chosen = ")],
            ),
            ("whole batches", "len(self.names) // self.size", "name", "chosen", STACKED, []),
            ("of a number", "-(-len(self.names) // self.size)", "name", "range(32)", STACKED.replace("len", "int"), []),
        )
    },
    "a step with a list that is filled": one(
        f"""{HEAD}{JIT}
names = open("names").read().split()
for start in range(0, len(names), 32):
    rows = []
    for name in names[start : start + 32]:
        rows.append(np.load(name))
    step(np.stack(rows))
""",
        ("XLA302", "for name in names[start"),
    ),
    "a step with a list that is filled to the end": one(
        f"""{HEAD}{JIT}
names = open("names").read().split()
for start in range(0, len(names), 32):
    rows = []
    for at in range(32):
        rows.append(np.load(names[(start + at) % len(names)]))
    step(np.stack(rows))
"""
    ),
    # -- programs that do not name TensorFlow --
    **{
        f"a program that does not name TensorFlow: {how}": Script(
            {"data.py": DATA, "steps.py": STEPS, "main.py": f"import data\nfrom steps import Trainer\n\n{text}"}, found
        )
        for how, text, found in (
            (
                "",
                "trainer = Trainer()\nfor batch in data.load('x'):\n    trainer.step(batch)\n",
                (("XLA302", "return "),),
            ),
            (
                "a function that it calls",
                "def main():\n    for batch in data.load('x'):\n        Trainer().step(batch)\n\nmain()\n",
                (("XLA302", "return "),),
            ),
            (
                "a function that nobody calls",
                "def main():\n    for batch in data.load('x'):\n        Trainer().step(batch)\n",
                (),
            ),
            ("an object's method", f"{RUNNER}runner = Runner()\nrunner.run()\n", (("XLA302", "return "),)),
            ("the method of what it makes", f"{RUNNER}Runner().run()\n", (("XLA302", "return "),)),
            ("an object that nobody runs", f"{RUNNER}runner = Runner()\n", ()),
        )
    },
    # -- what an image generator of Keras makes: 70 rows in batches of 32 compile twice, 64 once (measured) --
    **{
        f"an image generator: {name}": one(
            f"""{HEAD}from tensorflow.keras.preprocessing.image import ImageDataGenerator

{MODEL}
generator = ImageDataGenerator(rescale=1 / 255, validation_split=0.2)
images = generator.{call}
model.{use}
""",
            *((("XLA302", "images = generator"),) if found else ()),
        )
        for name, (call, use, found) in {
            "a folder": ("flow_from_directory('a', batch_size=8)", "fit(images)", True),
            "a table, by position": (
                "flow_from_dataframe(t, 'a', 'x', 'y', None, (9, 9), 'rgb', None, 'binary', 8)",
                "fit(images)",
                True,
            ),
            "a size by default": ("flow_from_directory('a')", "fit(images, epochs=3)", True),
            "to validate": ("flow_from_directory('a')", "fit(np.ones((64, 4)), validation_data=images)", True),
            "some of an array": ("flow(np.ones((70, 9, 9, 3)), np.ones(70))", "fit(images)", True),
            "all of an array": ("flow(np.ones((64, 9, 9, 3)), np.ones(64))", "fit(images)", False),
            "single images": ("flow_from_directory('a', batch_size=1)", "fit(images)", False),
            "whole batches to validate": (
                "flow_from_directory('a')",
                "fit(np.ones((64, 4)), validation_data=images, validation_steps=2)",
                False,
            ),
            "of which one is drawn": ("flow_from_directory('a')", "predict(next(images)[0][:1])", False),
        }.items()
    },
    **{
        f"one of several data sets: {name}": one(
            f"""{HEAD}{JIT}
import sys

rows = tf.data.TFRecordDataset('a').map(tf.io.parse_tensor)
strategy = tf.distribute.MirroredStrategy()

def made(rows):
    batches = None
    if "-s" in sys.argv:
        batches = rows.shuffle(64).batch(8{first})
    elif "-a" in sys.argv:
        batches = rows.batch(8, drop_remainder=True)
    return batches

batches = made(rows)
for batch in {fed}:
    step(batch)
""",
            *((("XLA302", "batches = rows.shuffle(64).batch(8"),) if found else ()),
        )
        for name, (fed, first, found) in {
            "as it is": ("batches", "", True),
            "by a function": ("strategy.distribute_datasets_from_function(lambda _: batches)", "", True),
            "by a function, all whole": (
                "strategy.distribute_datasets_from_function(lambda _: batches)",
                ", drop_remainder=True",
                False,
            ),
            "applied": ("rows.apply(made)", "", True),
            "applied, all whole": ("rows.apply(made)", ", drop_remainder=True", False),
        }.items()
    },
    # -- tables, and steps that are counted --
    "tables that are read once and twice": one(
        f"""{HEAD}{MODEL}
once = tf.data.experimental.make_csv_dataset("a.csv", 32, label_name="y", num_epochs=1)
model.fit(once)
twice = tf.data.experimental.make_csv_dataset("a.csv", batch_size=32, label_name="y", num_epochs=2, shuffle=False)
model.fit(twice)
""",
        ("XLA302", "once = "),
        ("XLA302", "twice = "),
    ),
    "tables that are read forever, or in whole batches": one(
        f"""{HEAD}{MODEL}
model.fit(tf.data.experimental.make_csv_dataset("a.csv", 32, label_name="y"), steps_per_epoch=9)
model.fit(tf.data.experimental.make_csv_dataset("b.csv", 32, label_name="y", num_epochs=None), steps_per_epoch=9)
rows = tf.data.experimental.make_csv_dataset("c.csv", 32, label_name="y", num_epochs=2)
model.fit(rows.unbatch().batch(32, drop_remainder=True))
model.fit(rows.take(9))
"""
    ),
    # Measured: three steps over 70 elements in batches of 32 compile two shapes, two steps compile one.
    **{
        f"as many steps as {name}": one(
            f"""{HEAD}import math

{MODEL}
SIZE = 64
rows = tf.data.TFRecordDataset("a").map(tf.io.parse_tensor)
number = sum(int(name.split("-")[1]) for name in tf.io.gfile.glob("a-*"))
for epoch in range(9):
    model.fit(
        rows.repeat().batch(SIZE),
        steps_per_epoch=9,
        validation_data=rows.batch(SIZE),
        validation_steps={steps},
    )
    model.evaluate(rows.map(tf.sign).batch(SIZE), steps={steps})
    model.predict(rows.map(tf.abs).batch(SIZE), steps={steps})
""",
            *(
                ()
                if whole
                else (
                    ("XLA302", "validation_data=rows.batch(SIZE)"),
                    ("XLA302", "model.evaluate(rows.map(tf.sign).batch(SIZE)"),
                    ("XLA302", "model.predict(rows.map(tf.abs)"),
                )
            ),
        )
        for name, steps, whole in (
            ("there are whole batches", "number // SIZE", True),
            ("somebody chooses", "10", True),
            ("whole batches, rounded down by hand", "int(number / SIZE)", True),
            ("there are batches", "math.ceil(number / SIZE)", False),
            ("there are batches, by two signs", "-(number // -SIZE)", False),
            ("there are batches, by NumPy", "int(np.ceil(number / SIZE))", False),
            ("whole batches and another", "number // SIZE + 1", False),
        )
    },
    "arrays of which nobody knows how long they are, that a model predicts": one(
        f"""{HEAD}{MODEL}
rows = np.load("a.npy")
for fold in range(5):
    model.predict(rows)  # a single example as often as not
    model.predict(rows[fold : fold + 1], batch_size=256)
    model.predict(np.expand_dims(rows[fold], 0), batch_size=256)
"""
    ),
    "tensors that are made of arrays": one(
        f"""{HEAD}{JIT}
data, labels = np.random.random((600, 81)), np.random.random((600, 4))
first = data[:500]
first = first.reshape((first.shape[0], first.shape[1], 1))
for x in tf.data.Dataset.from_tensor_slices(first).batch(100):
    step(x)
first = tf.cast(first, tf.float32)
for x, y in tf.data.Dataset.from_tensor_slices((first, tf.constant(labels[:500]))).batch(100):
    step(x, y)
for x, y in tf.data.Dataset.from_tensor_slices((tf.sqrt(first), labels[:500])).batch(100):
    step(x, y)
for x in tf.data.Dataset.from_tensor_slices(tf.identity(tf.constant(data.reshape(len(data), -1)))).batch(100):
    step(x)
for x, y in tf.data.Dataset.from_tensor_slices((tf.constant(data[10:]), labels[10:])).batch(100):
    step(x, y)
for x in tf.data.Dataset.from_tensor_slices(tf.constant(data)[:550]).batch(100):
    step(x)
for x in tf.data.Dataset.from_tensor_slices(tf.transpose(tf.constant(data))).batch(100):
    step(x)
for x in tf.data.Dataset.from_tensor_slices(data.reshape((data.shape[1], -1))).batch(100):
    step(x)
""",
        ("XLA302", "for x, y in tf.data.Dataset.from_tensor_slices((tf.constant(data[10:])"),
        ("XLA302", "for x in tf.data.Dataset.from_tensor_slices(tf.constant(data)[:550])"),
        ("XLA302", "for x in tf.data.Dataset.from_tensor_slices(tf.transpose(tf.constant(data)))"),
        ("XLA302", "for x in tf.data.Dataset.from_tensor_slices(data.reshape((data.shape[1], -1)))"),
    ),
    **{
        f"a list that a loop fills with so many rows: {name}": one(
            f"""{HEAD}{JIT}
rows = []
for i in range(128):
    rows.append(np.load(str(i)))
    {inside}
{then}
for start in range(0, len(rows), 32):
    step(np.stack(rows[start : start + 32]))
""",
            *(() if whole else (("XLA302", "step(np.stack(rows[start : start + 32]))"),)),
        )
        for name, inside, then, whole in (
            ("all of them", "pass", "", True),
            ("the first ones, of whole batches", "pass", "rows = rows[:64]", True),
            ("the first ones", "pass", "rows = rows[:100]", False),
            ("as many as somebody asks for", "pass", "rows = rows[: int(input())]", False),
            ("one more", "pass", 'rows.append(np.load("last"))', False),
            ("one less", "pass", "del rows[0]", False),
            ("until something happens", "if rows[-1].any():\n        break", "", False),
            ("those that are left", "pass", "rows = [row for row in rows if row.any()]", False),
        )
    },
    # -- one batch of all --
    "batches as long as the data": one(
        f"""{HEAD}{MODEL}
x, y, z = np.load("x.npy"), np.load("y.npy"), np.load("z.npy")
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9).batch(len(x)), epochs=2)
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(y.shape[0]), epochs=2)
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(len(z)), epochs=2)
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda x, y: y > 0).repeat(2).batch(len(x)), epochs=2)
""",
        ("XLA302", "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(len(z))"),
        ("XLA302", "model.fit(tf.data.Dataset.from_tensor_slices((x, y)).filter("),
    ),
    # -- sizes that a loop decides --
    "another size of batches in each iteration": one(
        f"""{HEAD}{MODEL}{JIT}
x, y = np.ones([4096, 4], "float32"), np.ones([4096, 1], "float32")
for size in [16, 32, 64, 128]:
    model.fit(x, y, batch_size=size)
for epoch in range(8):
    for batch in tf.data.Dataset.from_tensor_slices(x).batch(16 + 16 * epoch, drop_remainder=True):
        step(batch)
""",
        ("XLA308", "model.fit("),
        ("XLA308", "step(batch)"),
    ),
    "another size for another model each time": one(
        f"""{HEAD}
x, y = np.ones([4096, 4], "float32"), np.ones([4096, 1], "float32")

def build():
    {MODEL.replace(chr(10), chr(10) + "    ")}
    return model

def search(size):
    model = build()
    model.fit(x, y, batch_size=size)

for size in [16, 32, 64, 128]:
    search(size)
    model = build()
    model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(size, drop_remainder=True))
""",
        ("XLA314", "model = build()"),
        ("XLA314", "model = build()"),
    ),
    # -- pictures --
    "pictures that one array holds are of one size": one(PICTURES.format("np.array(images)")),
    "pictures one by one": one(
        PICTURES.format("images[0][None]").replace("size):", "size=1):", 1), ("XLA308", "model.fit(")
    ),
}

GENERATED = f"{HEAD}from tensorflow.keras.preprocessing.image import ImageDataGenerator\n\n{MODEL}{FOLDERS}\n"


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("model.fit(train, epochs=2)", Severity.WARNING),
        ("model.fit(train, epochs=2, steps_per_epoch=1000 // 32)", Severity.INFO),
        ("model.fit(train, epochs=2, steps_per_epoch=train.samples // 32)", Severity.WARNING),
        ("model.fit_generator(train, 100, epochs=2)", Severity.INFO),
        ("model.fit_generator(train, len(train), epochs=2)", Severity.WARNING),
    ],
)
def test_steps_that_are_written_may_be_whole_batches(call: str, severity: Severity, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(GENERATED + call, encoding="utf-8")
    assert [found.severity for found in check([tmp_path], Settings()).findings] == [severity]


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
