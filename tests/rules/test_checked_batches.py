"""Batches by hand of which a program checks the size, and the ways on which they come to a step."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, MODEL, Script, deserved, one

STEP = """\
@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

x, size = np.load("x.npy"), 32
"""
LOOP = "for i in range(0, len(x), size):\n    "
TPU = """\
strategy = tf.distribute.TPUStrategy(connected())

def replica(x):
    return tf.reduce_sum(x)

@tf.function
def step(x):
    return strategy.run(replica, args=(x,))

def batches(x, size):
    for i in {}:
        yield {}

for rows in batches(np.load("x.npy"), 32):
    step(rows)
"""
UNKNOWN_ROWS = """\
strategy = tf.distribute.TPUStrategy(connected())

def replica(x):
    return tf.reduce_sum(x)

@tf.function
def graph(x):
    return {}

def step(x):
    return graph(x)

def train(rows):
    {}
    for i in range(0, len(rows), 32):
        step(rows[i:i + 32])

train(read())
"""
LOADER = """\
class Loader(keras.utils.PyDataset):
    def __init__(self, x, size):
        super().__init__()
        self.x, self.size = x, size

    def __len__(self):
        return {}

    def __getitem__(self, index):
        low = index * self.size
        return self.x[low:low + self.size]

for rows in Loader(x, size):
    step(rows)
"""
CUT = "rows = x[i:i + size]\n    "
SCRIPTS = {
    **{
        name: one(f"{HEAD}{STEP}{LOOP}{text}\n", *(() if whole else (("XLA302", line),)))
        for name, text, whole, line in (
            ("of which nothing is asked", f"{CUT}step(rows)", False, "rows = x"),
            ("left out where they are short", f"{CUT}if len(rows) < size:\n        continue\n    step(rows)", True, ""),
            ("left out by their shape", f"{CUT}if rows.shape[0] != size:\n        break\n    step(rows)", True, ""),
            ("taken where they are whole", f"{CUT}if size == len(rows):\n        step(rows)", True, ""),
            ("taken where they are short", f"{CUT}if len(rows) < size:\n        step(rows)", False, "rows = x"),
            ("asked for any rows", f"{CUT}if len(rows) <= size:\n        step(rows)", False, "rows = x"),
            (
                "filled up by NumPy",
                f"{CUT}n = len(rows)\n    if n < size:\n        rows = np.pad(rows, [(0, size - n), (0, 0)])\n"
                "    step(rows)",
                True,
                "",
            ),
            (
                "replaced where they are short",
                f"{CUT}n = len(rows)\n    if n < size:\n        rows = np.zeros((size, 4))\n    step(rows)",
                True,
                "",
            ),
            ("left by the counter", f"if i + size > len(x):\n        break\n    {CUT}step(rows)", True, ""),
            ("taken by the counter", f"if len(x) >= i + size:\n        {CUT}    step(rows)", True, ""),
            ("left after some", f"if i > 320:\n        break\n    {CUT}step(rows)", False, "rows = x"),
            ("moved back", f"if i + size > len(x):\n        i = len(x) - size\n    {CUT}step(rows)", True, ""),
            (
                "cut where the rows end",
                "end = i + size\n    if end > len(x):\n        end = len(x)\n    step(x[i:end])",
                False,
                "step(x[i:end])",
            ),
            (
                "of two arrays alike",
                f"{CUT}labels = x[i:i + size]\n    if len(labels) == size:\n        step(rows)",
                True,
                "",
            ),
            (
                "of another array",
                f"{CUT}others = x[i:i + 8]\n    if len(others) == 8:\n        step(rows)",
                False,
                "rows = x",
            ),
        )
    },
    **{
        f"on a TPU, {name}": one(f"{HEAD}{TPU.format(steps, rows)}", *((("XLA302", "yield"),) if found else ()))
        for name, steps, rows, found in (
            ("all", "range(0, len(x), size)", "x[i:i + size]", True),
            ("those that are whole", "range(len(x) // size)", "x[i * size:(i + 1) * size]", False),
            ("by their numbers", "range(0, len(x), size)", "x[np.arange(i, min(i + size, len(x)))]", True),
            ("whole ones by number", "range(len(x) // size)", "x[np.arange(i * size, (i + 1) * size)]", False),
        )
    },
    **{
        f"rows of which nothing is known, {name}": one(
            f"{HEAD}{UNKNOWN_ROWS.format(body, said)}", *((("XLA302", "step(rows[i"),) if found else ())
        )
        for name, body, said, found in (
            ("passed on by a function of a graph", "strategy.run(replica, args=(x,))", "", True),
            ("with which that computes", "strategy.run(replica, args=(x * 2,))", "", True),
            ("which that looks at", "print(x.shape)", "", False),
            ("that fill all batches", "strategy.run(replica, args=(x,))", "assert len(rows) % 32 == 0", False),
        )
    },
    **{
        f"an object with {name}": one(
            f"{HEAD}import keras\nimport math\n{STEP}{LOADER.format(length)}",
            *((("XLA302", "return self.x"),) if found else ()),
        )
        for name, length, found in (
            ("all batches", "math.ceil(len(self.x) / self.size)", True),
            ("the whole batches", "len(self.x) // self.size", False),
        )
    },
    **{
        f"a data set, {name}": one(
            f"{HEAD}import tensorflow_datasets as tfds\n{MODEL}"
            f"builder = tfds.builder({data!r})\nbuilder.download_and_prepare()\n"
            "data = builder.as_dataset(split='train', batch_size=64)\nmodel.fit(data)\n",
            *((("XLA302", "data = "),) if found else ()),
        )
        for name, data, found in (
            ("60000 rows in batches of 64", "mnist", True),
            ("of which nobody knows how many rows it has", "mine", True),
        )
    },
    "the halves of a folder": one(
        f"{HEAD}import keras\n{MODEL}train, test = keras.utils.image_dataset_from_directory(\n"
        "    'images', validation_split=0.2, subset='both', seed=1\n)\nmodel.fit(train, validation_data=test)\n",
        ("XLA302", "train, test = keras"),
    ),
    "the halves of a folder, batched later": one(
        f"{HEAD}import keras\n{MODEL}train, test = keras.utils.image_dataset_from_directory(\n"
        "    'images', validation_split=0.2, subset='both', seed=1, batch_size=None\n)\n"
        "model.fit(train.batch(8, drop_remainder=True), validation_data=test.batch(8, drop_remainder=True))\n"
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_checked_batch_is_whole(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
