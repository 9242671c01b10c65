"""Training scripts that cut, fill up and read their batches by hand: which of them compile again, and which do not."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, MODEL, Script, deserved, one

QUEUE = """\
def batches(x, y, size):
    order = np.random.permutation(len(x))
    while {}:
        {}
        yield x[taken], y[taken]

for rows, labels in batches(np.load("x.npy"), np.load("y.npy"), 32):
    model.train_on_batch(rows, labels)
"""
SLICES = """\
x, size = np.load("x.npy"), 32
{}
for start in range(0, len(x), size):
    model.train_on_batch(x[start:start + size], np.zeros((size, 1)))
"""
WINDOW = """\
def generate(net, text, steps):
    window = [ord(letter) for letter in text]
    for _ in range(steps):
        scores = net.predict(np.reshape(window, (1, len(window))))
        window.append(np.argmax(scores))
        {}

generate(model, open("start.txt").read(), 300)
"""
MEMORY = """\
import json
import random

class Memory:
    def __init__(self):
        self.rows = []

    def keep(self, row):
        self.rows.append(row)

    def sample(self, size):
        {}return random.sample(self.rows, min(size, len(self.rows)))

settings = json.load(open("settings.json"))
memory = Memory()
for _ in range(1000):
    memory.keep((np.ones(4), 1.0))
    states, values = zip(*memory.sample(settings["size"]))
    model.train_on_batch(np.array(states), np.array(values))
"""
WORDS = """\
import json

words = json.load(open("words.json"))
for line in open("texts.txt"):
    {}
    print(model.predict(np.array([places])))
"""
SCRIPTS = {
    **{
        f"letters of which the model gets {name}": one(
            f"""{HEAD}import keras.ops as ops

{MODEL}
step = tf.function(model, jit_compile=True)

def generate(text, steps):
    letters = list(text)
    for _ in range(steps):
        letters.append(int(tf.argmax(step({passed})[0])))
    return letters

generate(range(4), 300)
""",
            *(() if fixed else (("XLA308", "letters.append("),)),
        )
        for name, passed, fixed in (
            ("all, in a row", "tf.expand_dims(letters, axis=0)", False),
            ("all, in a column", "tf.expand_dims(letters, -1)", False),
            ("all, as numbers", "tf.cast([letters], tf.float32)", False),
            ("all, cast before", "tf.cast(letters, tf.float32)[tf.newaxis]", False),
            ("all, by NumPy", "np.expand_dims(letters, 0)", False),
            ("all, by Keras", "ops.expand_dims(letters, 0)", False),
            ("the last four", "tf.expand_dims(letters[-4:], axis=0)", True),
            ("the last one", "tf.expand_dims(letters[-1], axis=0)", True),
            ("the last four of a row", "tf.expand_dims(letters, axis=0)[:, -4:]", True),
            ("the first four of a column", "tf.expand_dims(letters, axis=-1)[:4]", True),
        )
    },
    # -- batches from the front of what gets shorter; 70 rows in batches of 32 compile twice (measured) --
    **{
        f"a queue: {name}": one(f"{HEAD}{MODEL}{QUEUE.format(test, cut)}", *((("XLA302", line),) if line else ()))
        for name, (test, cut, line) in {
            "until nothing is left": ("len(order) > 0", "taken = order[:size]; order = order[size:]", "taken = order"),
            "as an array": ("order.size", "taken, order = order[:size], order[size:]", "taken, order = order"),
            "while a whole batch is left": ("len(order) >= size", "taken = order[:size]; order = order[size:]", ""),
            "one by one": ("len(order)", "taken = order[:1]; order = order[1:]", ""),
            "another piece": ("len(order)", "taken = order[:4]; order = order[size:]", ""),
        }.items()
    },
    "what is left of a queue": one(
        f"""{HEAD}{MODEL}
def batches(x, y, size):
    while True:
        order = np.arange(len(x))
        np.random.shuffle(order)
        for _ in range(len(x) // size):
            taken = order[0:size]
            order = order[size:]
            yield x[taken], y[taken]
        if order.size:
            yield x[order], y[order]

model.fit(batches(np.load("x.npy"), np.load("y.npy"), 32), steps_per_epoch=9)
""",
        ("XLA302", "order = order[size:]"),
    ),
    "a queue of files": one(
        f"""{HEAD}{MODEL}
paths = open("paths.txt").read().split()
while paths:
    batch = paths[:16]
    del paths[:16]
    model.train_on_batch(np.stack([np.load(path) for path in batch]), np.zeros((len(batch), 1)))
""",
        ("XLA302", "batch = paths[:16]"),
    ),
    "a queue of as many rows as fill the batches": one(
        f"""{HEAD}{MODEL}
rows = np.zeros((64, 4), "float32")
while len(rows):
    model.train_on_batch(rows[:16], np.zeros((16, 1)))
    rows = rows[16:]
"""
    ),
    "a queue that is filled again": one(
        f"""{HEAD}{MODEL}
rows = np.zeros((0, 4), "float32")
for line in open("rows.txt"):
    rows = np.concatenate([rows, np.ones((32, 4), "float32")])
    model.train_on_batch(rows[:16], np.zeros((16, 1)))
    rows = rows[16:]
"""
    ),
    **{
        f"a slice: {name}": one(
            f"{HEAD}{MODEL}"
            "paths = open('paths.txt').readlines()\nfor start in range(0, len(paths), 32):\n"
            f"    batch = paths[start:start + 32]\n    if len(batch) < 32:\n        batch = {filled}\n"
            "    model.train_on_batch(np.array([np.load(path) for path in batch]), np.zeros((32, 1)))\n",
            *((("XLA302", "batch = paths[start"),) if found else ()),
        )
        for name, (filled, found) in {
            "filled up behind": ("batch + paths[: 32 - len(batch)]", False),
            "filled up before": ("paths[: 32 - len(batch)] + batch", False),
            "replaced by another, of any length": ("paths[-5:] + paths[:3]", False),
        }.items()
    },
    "lines of a file": one(
        f"""{HEAD}{MODEL}
paths = open("paths.txt").readlines()
for start in range(0, len(paths), 32):
    model.train_on_batch(np.array([np.load(path) for path in paths[start:start + 32]]), np.zeros((32, 1)))
""",
        ("XLA302", "model.train_on_batch("),
    ),
    "a pipeline whose lines go on behind a backslash": one(
        f"{HEAD}{MODEL}rows = tf.data.Dataset.from_generator(read, output_signature=tf.TensorSpec([None]))\n"
        "data = rows \\\n    .shuffle(9) \\\n    .padded_batch(4, drop_remainder=True)\nmodel.fit(data)\n",
        ("XLA303", "data = rows"),
    ),
    # -- what the program makes sure of --
    **{
        f"slices, {name}": one(f"{HEAD}{MODEL}{SLICES.format(said)}", *((("XLA302", line),) if line else ()))
        for name, (said, line) in {
            "of which nothing is said": ("", "model.train_on_batch("),
            "that come out even": ("assert len(x) % size == 0", ""),
            "or else it stops": ("if len(x) % size != 0:\n    raise ValueError('choose another size')", ""),
            "that do not come out even": ("assert len(x) % size != 0", "model.train_on_batch("),
            "of another size": ("assert len(x) % 7 == 0", "model.train_on_batch("),
        }.items()
    },
    "arrays that are one batch": one(
        f"{HEAD}{MODEL}def train(x, y):\n    model.fit(x, y, batch_size=len(x))\n"
        "    model.evaluate(x, y, batch_size=4)\n\ntrain(np.load('x.npy'), np.load('y.npy'))\n",
        ("XLA302", "model.evaluate("),
    ),
    "arrays that come out even": one(
        f"{HEAD}{MODEL}x, size = np.load('x.npy'), 32\nassert not len(x) % size\n"
        "model.fit(x, np.load('y.npy'), batch_size=size)\n"
    ),
    "a batch that is filled up": one(
        f"""{HEAD}import random

{MODEL}
def batch(rows, start, size):
    chosen = rows[start:min(start + size, len(rows))]
    if start + size > len(rows):
        for _ in range(start + size - len(rows)):
            chosen.append(random.choice(rows))
    return chosen

rows = [*np.load("x.npy")]
for start in range(0, len(rows), 32):
    model.train_on_batch(np.array(batch(rows, start, 32)), np.zeros((32, 1)))
"""
    ),
    # -- lists and tables that loops fill --
    **{
        f"a window: {name}": one(f"{HEAD}{MODEL}{WINDOW.format(cut)}", *((("XLA308", line),) if line else ()))
        for name, (cut, line) in {
            "without its front": ("window = window[1:]", ""),
            "to its end": ("window = window[1:len(window)]", ""),
            "its last ones": ("window = window[-40:]", ""),
            "that only grows": ("print(window[1:])", "scores = net.predict("),
        }.items()
    },
    "columns that a loop fills": one(
        f"""{HEAD}import json

{MODEL}
def table(rows):
    columns = {{"x": [], "y": []}}
    for row in rows:
        for name in columns:
            columns[name].append(row[name])
    for name in columns:
        columns[name] = np.array(columns[name])
    return columns["x"], columns["y"]

x, y = table(json.load(open("rows.json")))
model.fit(x, y, batch_size=6)
""",
        ("XLA302", "model.fit(x, y, batch_size=6)"),
    ),
    "a table of another library": one(
        f"""{HEAD}from tensorflow.keras.utils import HDF5Matrix

class Trainer:
    def __init__(self):
        self.x = self.y = None

    def load(self):
        self.x, self.y = HDF5Matrix("a.h5", "x"), HDF5Matrix("a.h5", "y")

    def train(self):
        {MODEL.strip().replace(chr(10), chr(10) + " " * 8)}
        model.fit(self.x, self.y, batch_size=32)

trainer = Trainer()
trainer.load()
trainer.train()
""",
        ("XLA302", "model.fit(self.x, self.y, batch_size=32)"),
    ),
    "a memory, by a setting from a file": one(
        f"{HEAD}{MODEL}{MEMORY.format('')}", ("XLA308", "model.train_on_batch(np.array(states)")
    ),
    "arrays that a function puts together": one(
        f"{HEAD}{MODEL}def load(paths):\n    rows = np.load(paths[0])\n    for path in paths[1:]:\n"
        "        rows = np.vstack([rows, np.load(path)])\n    return rows\n\n"
        "for _ in range(3):\n    rows = load(open('paths.txt').readlines())\n    model.train_on_batch(rows, rows)\n"
    ),
    # -- words --
    **{
        f"words: {name}": one(
            f"{HEAD}{MODEL}{WORDS.format(made)}", *((("XLA308", "print(model.predict("),) if found else ())
        )
        for name, (made, found) in {
            "in a list": ("places = [words[word] for word in line.split()]", True),
            "one by one": (
                "places = []\n    for word in line.split(' '):\n        places.append(words.get(word, 0))",
                True,
            ),
            "that are numbers of a row": ("places = [float(number) for number in line.split()]", False),
            "in columns": ("places = [words[word] for word in line.split(',')]", False),
            "numbers one by one": (
                "places = []\n    for number in line.split():\n        places.append(float(number))",
                False,
            ),
            "that are padded": (
                "places = [words[word] for word in line.split()]\n"
                "    places = keras.utils.pad_sequences([places], maxlen=40)[0]",
                False,
            ),
        }.items()
    },
    **{
        f"words: {name}": one(
            f"{HEAD}{MODEL}{WORDS.format('places = [words[word] for word in line.split()]' + made)}",
            *((("XLA308", "print(model.predict("),) if found else ()),
        )
        for name, (made, found) in {
            "with padding behind": ("\n    places = places + [0] * (40 - len(places))", False),
            "with padding before": ("\n    places = [0] * (40 - len(places)) + places", False),
            "with padding in place": ("\n    places += [0] * (40 - len(places))", False),
            "extended by padding": ("\n    places.extend([0] * (40 - len(places)))", False),
            "filled up in a loop": ("\n    for _ in range(40 - len(places)):\n        places.append(0)", False),
            "filled up until it is full": ("\n    while len(places) < 40:\n        places.append(0)", False),
            "padded too far, and cut": ("\n    places = (places + [0] * 40)[:40]", False),
            "written into a row": ("\n    row = np.zeros(40)\n    row[:len(places)] = places\n    places = row", False),
            "with marks around": ("\n    places = [1] + places + [2]", True),
            "and twice as many": ("\n    places = places + [0] * len(places)", True),
        }.items()
    },
    "texts of their own length": one(
        f"""{HEAD}{MODEL}
tokenizer = keras.preprocessing.text.Tokenizer()
while True:
    places = tokenizer.texts_to_sequences([input("> ")])
    print(model.predict(np.array(places)))
    print(model.predict(keras.utils.pad_sequences(places, maxlen=40)))
""",
        ("XLA308", "print(model.predict(np.array(places)))"),
    ),
    # -- pictures --
    **{
        f"pictures that are cropped: {name}": one(
            f"{HEAD}import sys\nfrom PIL import Image\n\n{MODEL}def read(path):\n"
            "    picture = Image.open(path).convert('L')\n    width, height = picture.size\n"
            f"    return np.array(picture.crop(({box})))\n\n"
            "for path in sys.argv[1:]:\n    print(model.predict(read(path)[np.newaxis]))\n",
            *((("XLA308", "print(model.predict("),) if found else ()),
        )
        for name, (box, found) in {
            "as they are": ("0, 0, width // 3 * 3, height", True),
            "to one": ("0, 0, 64, 64", False),
            "to one in the middle": ("(width - 64) // 2, 0, (width + 64) // 2, 64", False),
            "to a box that a detector finds": ("*detected(picture),", False),
        }.items()
    },
    **{
        f"pictures of another library: {name}": one(
            f"{HEAD}from PIL import Image\nimport sys\n\n{MODEL}for path in sys.argv[1:]:\n"
            f"    image = Image.open(path){then}\n    print(model.predict(np.array(image)[np.newaxis] / 255.0))\n",
            *((("XLA308", "print(model.predict("),) if found else ()),
        )
        for name, (then, found) in {
            "of one size": (".resize((64, 64))", False),
            "of half their size": ("\n    image = image.resize((image.width // 2, image.height // 2))", True),
            "by their size": ("\n    w, h = image.size\n    image = image.resize((w // 2, h // 2))", True),
            "on a larger one": ("\n    whole = Image.new('RGB', image.size)\n    image = whole", True),
            "on one of one size": (
                "\n    image.thumbnail((64, 64))\n    whole = Image.new('RGB', (64, 64))"
                "\n    whole.paste(image, (0, 0))\n    image = whole",
                False,
            ),
            "fitted": ("\n    image = ImageOps.fit(image, (64, 64))", False),
        }.items()
    },
    **{
        f"pictures: {name}": one(
            f"{HEAD}import cv2\nimport sys\n\n{MODEL}for path in sys.argv[1:]:\n    image = cv2.imread(path){then}\n"
            "    print(model.predict(image[np.newaxis] / 255.0))\n",
            *((("XLA308", "print(model.predict("),) if found else ()),
        )
        for name, (then, found) in {
            "of their own size": ("", True),
            "of one size": ("\n    image = cv2.resize(image, (64, 64))", False),
            "of half their size": ("\n    image = cv2.resize(image, None, fx=0.5, fy=0.5)", True),
            "scaled": (
                "\n    height, width = image.shape[:2]\n    scale = 512 / max(height, width)"
                "\n    image = cv2.resize(image, (int(width * scale), int(height * scale)))",
                True,
            ),
            "cut to whole parts": (
                "\n    image = cv2.resize(image, (image.shape[1] // 32 * 32, image.shape[0] // 32 * 32))",
                True,
            ),
            "of the size that the model takes": (
                "\n    image = cv2.resize(image, (model.input_shape[2], model.input_shape[1]))",
                False,
            ),
            "put into one size": (
                "\n    image = cv2.resize(image, (image.shape[1] // 2, image.shape[0] // 2))"
                "\n    whole = np.zeros((64, 64, 3))\n    whole[:image.shape[0], :image.shape[1]] = image"
                "\n    image = whole",
                False,
            ),
        }.items()
    },
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
