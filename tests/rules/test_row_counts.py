"""Numbers of rows that nobody knows, and that are as many as fill the batches all the same."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one

SLICED = """\
def data(x, size):
    {}
    return tf.data.Dataset.from_tensor_slices(np.zeros((rows, 4), "float32")).batch(size)

for batch in data(np.load("x.npy"), int(input())):
    step(batch)
"""
LOOP = """\
def train(x, size):
    {}
        step(x[start:start + size])

train(np.load("x.npy"), int(input()))
"""
FIT = """\
x, y, size = np.load("x.npy"), np.load("y.npy"), int(input())
{}
model.fit(x{}, y{}, batch_size=size)
"""
CLAMPED = """\
class Batches:
    def __init__(self, x, size):
        self.x, self.size, self.number = x, size, len(x)

    def __getitem__(self, index):
        low = index * self.size
        high = {}
        return self.x[low:high]

batches = Batches(np.load("a.npy"), 32)
for i in range(9):
    step(batches[i])
"""
SETTINGS = """\
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("size", 48, "rows of a batch")
flags.DEFINE_integer("rows", 100, "rows")

def data(settings):
    rows = np.random.rand({}, 64, 64).astype("float32")
    return tf.data.Dataset.from_tensor_slices(rows).batch(settings.size)

for batch in data(FLAGS):
    step(batch)
"""
PREPARED = "keras.applications.vgg16.preprocess_input"
SCRIPTS = {
    **{
        f"rows of a dataset: {name}": one(
            f"{HEAD}{JIT}\n{SLICED.format(made)}", *((("XLA302", "return tf.data"),) if found else ())
        )
        for name, (made, found) in {
            "whole batches": ("rows = len(x) // size * size", False),
            "in two steps": ("whole = len(x) // size\n    rows = size * whole", False),
            "without the rest": ("rows = len(x)\n    rows -= rows % size", False),
            "with the rest": ("rows = len(x) - 1", True),
            "a few batches": ("rows = 3 * size + size", False),
            "a batch more than there are": ("rows = -(-len(x) // size) * size", False),
            "halves": ("rows = len(x) // 2", True),
        }.items()
    },
    **{
        f"rows of a loop: {name}": one(
            f"{HEAD}{JIT}\n{LOOP.format(loop)}", *((("XLA302", "step(x["),) if found else ())
        )
        for name, (loop, found) in {
            "whole batches": ("whole = len(x) // size\n    for start in range(0, whole * size, size):", False),
            "without the rest": ("n = x.shape[0]\n    n = n - n % size\n    for start in range(0, n, size):", False),
            "all": ("n = x.shape[0]\n    for start in range(0, n, size):", True),
            "all, of an array of numbers": ("for start in np.arange(0, len(x), size):", True),
            "whole batches, of an array of numbers": (
                "n = len(x) // size * size\n    for start in np.arange(0, n, size):",
                False,
            ),
            "all, in another order": (
                "starts = np.arange(0, len(x), size)\n    np.random.shuffle(starts)\n    for start in starts:",
                True,
            ),
            "as many, rounded up": (
                "count = (len(x) + size - 1) // size\n    for start in [k * size for k in range(count)]:",
                True,
            ),
        }.items()
    },
    "numbers of batches that are rounded up, and down": one(
        f"""{HEAD}{JIT}
def train(x, size):
    for number in range((len(x) + size - 1) // size):
        step(x[number * size:(number + 1) * size])
    for number in range(-(-len(x) // size)):
        step(x[number * size:(number + 1) * size], 1)
    for number in range(int(len(x) / size)):
        step(x[number * size:(number + 1) * size], 2)

train(np.load("x.npy"), int(input()))
""",
        ("XLA302", "step(x[number * size:(number + 1) * size])"),
        ("XLA302", "step(x[number * size:(number + 1) * size], 1)"),
    ),
    **{
        f"rows that are fitted: {name}": one(
            f"{HEAD}{MODEL}{FIT.format(before, cut, cut)}", *((("XLA302", "model.fit("),) if found else ())
        )
        for name, (before, cut, found) in {
            "all": ("", "", True),
            "whole batches": ("", "[:len(x) // size * size]", False),
            "whole batches, by a name": ("whole = len(x) - len(x) % size", "[:whole]", False),
            "without the rest": ("", "[:-(len(x) % size)]", False),
            "one batch": ("", "[:size]", False),
            "one batch that is drawn": ("drawn = np.random.choice(len(x), size)", "[drawn]", False),
            "some that are drawn": ("drawn = np.random.choice(len(x), 100)", "[drawn]", True),
            "the other half": ("", "[len(x) // 2:]", True),
        }.items()
    },
    **{
        f"what is asked for in pieces: {what}": one(
            f"{HEAD}{MODEL}def run(x):\n    for start in range(0, len(x), 64):\n        model.{call}\n\nrun({rows})\n",
            *((("XLA302", f"model.{call}"),) if found else ()),
        )
        for what, call, rows, found in (
            ("predictions", "predict(x[start:start + 64])", "np.load('x.npy')", True),
            ("prepared images", "predict(x[start:start + 64])", f"{PREPARED}(np.load('x.npy'))", True),
            ("evaluations", "evaluate(x[start:start + 64], x[start:start + 64])", "np.load('x.npy')", True),
            ("pieces that fill", "predict(x[start:start + 64])", "np.zeros((640, 4))", False),
            ("pieces with a new axis", "predict(x[start:start + 64])", "np.zeros((640, 4))[..., None]", False),
            ("pieces of another axis", "predict(x[start:start + 64])", "np.zeros((650, 640))[..., None]", True),
            ("prepared images that fill", "predict(x[start:start + 64])", f"{PREPARED}(np.zeros((640, 4)))", False),
        )
    },
    "predictions of a model that nobody compiles": one(
        f"{HEAD}model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
        "x = np.load('x.npy')\nfor start in range(0, len(x), 64):\n    model.predict(x[start:start + 64])\n",
        ("XLA302", "model.predict("),
    ),
    **{
        f"an array that is made of {what}": one(
            f"{HEAD}{MODEL}for state in np.load('x.npy'):\n    x = {rows}\n    model.fit(x, x, epochs=2)\n",
            *((("XLA302", "model.fit("),) if found else ()),
        )
        for what, rows, found in (
            ("one row", "np.array([state])", False),
            ("a few rows", "np.stack([state, state * 2.0, state * 3.0])", False),
            ("what is put side by side", "np.stack([state, state * 2.0], axis=1)", True),
            ("a list that somebody filled", "np.array(list(state))", True),
        )
    },
    **{
        f"parts of an array of a known length: {cut}": one(
            f"{HEAD}{MODEL}x = np.zeros((400, 4))\nmodel.fit(x{cut}, x{cut}, batch_size=50)\n",
            *((("XLA302", "model.fit("),) if found else ()),
        )
        for cut, found in {
            "": False,
            "[:-50]": False,
            "[-90:]": True,
            "[-100:]": False,
            "[300:1000]": False,
            "[70:]": True,
            "[:10]": False,
        }.items()
    },
    **{
        f"a generator {name}": one(
            f"""{HEAD}{JIT}
def rows():
    {begin}
        for path in open("paths.txt"):
            {inside}
            yield np.load(path)
        {end}

for batch in tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([4])).batch(32):
    step(batch)
""",
            *((("XLA302", "for batch in tf.data"),) if found else ()),
        )
        for name, (begin, inside, end, found) in {
            "that comes to no end": ("while True:", "if not path: break", "print(1)", False),
            "that stops": ("while True:", "print(path)", "break", True),
            "that returns": ("while True:", "if not path: return", "print(1)", True),
            "of a few passes": ("for _ in range(3):", "print(path)", "print(1)", True),
        }.items()
    },
    **{
        f"slices that are cut where the data end: {end}": one(
            f"{HEAD}{JIT}\n{CLAMPED.format(end)}", ("XLA302", "return self.x[low:high]")
        )
        for end in (
            "np.min((low + self.size, self.number))",
            "np.minimum(low + self.size, self.number)",
            "np.min([self.number, low + self.size])",
            "min(low + self.size, self.number)",
        )
    },
    **{
        f"the first batches of a dataset, {default} by default": one(
            f"""{HEAD}import argparse

{JIT}
parser = argparse.ArgumentParser()
parser.add_argument("--batches", type=int, default={default})
args = parser.parse_args()
for batch in tf.data.TFRecordDataset("a").batch(8).take(args.batches):
    step(batch)
""",
            *((("XLA302", "for batch in tf.data"),) if found else ()),
        )
        for default, found in {"-1": True, "100": False}.items()
    },
    **{
        f"the split {split}, in batches of {size}": one(
            f"""{HEAD}import tensorflow_datasets as tfds

{JIT}
for example in tfds.load("mnist", split={split}).batch({size}):
    step(example["image"])
""",
            *((("XLA302", "for example in tfds"),) if found else ()),
        )
        for split, size, found in (
            ("tfds.Split.TRAIN", 16, False),
            ("tfds.Split.TRAIN", 128, True),
            ("tfds.Split.TRAIN + tfds.Split.TEST", 128, True),
        )
    },
    **{
        f"steps of {size} through rows of a known length": one(
            f"""{HEAD}{MODEL}
(x, y), _ = keras.datasets.mnist.load_data()
x, y, size, start = x.reshape(-1, 784) / 255, keras.utils.to_categorical(y, 10), {size}, 0
for number in range(50_000):
    model.train_on_batch(x[start:start + size], y[start:start + size])
    start += size
    if start >= x.shape[0]:
        start = 0
""",
            *((("XLA302", "model.train_on_batch("),) if found else ()),
        )
        for size, found in {"50": False, "70": True}.items()
    },
    "as many rows as a setting says that a batch has": one(f"{HEAD}{JIT}\n{SETTINGS.format('settings.size')}"),
    "as many rows as several batches": one(f"{HEAD}{JIT}\n{SETTINGS.format('4 * settings.size')}"),
    "as many rows as another setting says": one(
        f"{HEAD}{JIT}\n{SETTINGS.format('settings.rows')}", ("XLA302", "return tf.data")
    ),
    "as many rows as a batch has, of a setting that nobody knows": one(
        f"""{HEAD}{JIT}
def data(settings):
    rows = np.zeros((settings["size"], 4))
    others = np.zeros((settings.rows, 4))
    whole = tf.data.Dataset.from_tensor_slices(others).batch(settings.rows)
    return whole, tf.data.Dataset.from_tensor_slices(others).batch(settings.size)

for rows in data(open("settings")):
    for batch in rows:
        step(batch)
""",
        ("XLA302", "return whole, tf.data"),
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
