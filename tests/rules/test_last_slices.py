"""Scripts that cut their batches themselves, by slices, loops and objects: the last one is smaller, or is not."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one

LOADER = """\
class Loader:
    def __init__(self, x, size):
        self.x, self.size, self.at = x, size, 0

    def next_batch(self):
        if {} > len(self.x):
            self.at = 0
        batch = self.x[self.at:self.at + self.size]
        self.at += self.size
        return batch

loader = Loader(np.load("a.npy"), 32)
for _ in range(1000):
    step(loader.next_batch())
"""
ITERATOR = """\
class Batches:
    def __init__(self, x, size):
        self.x, self.size, self.number = x, size, 0

    def __iter__(self):
        self.number = 0
        return self

    def __next__(self):
        if self.number * self.size >= len(self.x):
            raise StopIteration
        batch = self.x[self.number * self.size:(self.number + 1) * self.size]
        self.number += 1
        return batch

for batch in Batches(np.load("a.npy"), 32):
    step(batch)
"""
COUNTED = """\
x, i = np.load("a.npy"), 0
while {}:
    step(x[i:i + 32])
    i += 32
"""
CLAMPED = """\
class Batches:
    def __init__(self, x, size):
        self.x, self.size, self.number = x, size, len(x)

    def __getitem__(self, index):
        first = index * self.size
        last = min(first + self.size, self.number)
        return self.x[first:last]

batches = Batches(np.load("a.npy"), 32)
for i in range(9):
    step(batches[i])
"""
PIECES = """\
def pieces(x, size):
    start, end = 0, size
    while end < len(x):
        yield x[start:end]
        start = end
        {}
    {}

def feed(x, size):
    for piece in pieces(x, size):
        step(piece)

feed(np.load("a.npy"), int(np.load("size.npy")))
"""
SCRIPTS = {
    "loops that end before the smaller batch": one(
        f"""{HEAD}import itertools

{JIT}
WHOLE = int(70 / 32)

def data():
    return tf.data.Dataset.from_tensor_slices(tf.ones([70, 4])).batch(32)

for number, batch in zip(range(WHOLE), data()):
    step(batch)
for batch in itertools.islice(data(), WHOLE):
    step(batch)
for batch in list(data())[:WHOLE]:
    step(batch)
for number, batch in enumerate(data()):
    step(batch)
    if number + 1 == WHOLE:
        break
count = 0
for batch in data():
    if count >= WHOLE:
        break
    step(batch)
    count += 1
batches = iter(data())
for number in range(WHOLE):
    step(next(batches))
for row in next(batches):
    print(row)
""",
    ),
    "loops that meet the smaller batch": one(
        f"""{HEAD}import itertools

{JIT}
def first():
    return tf.data.Dataset.range(70).batch(32)

def second():
    return tf.data.Dataset.range(80).batch(32)

def third():
    return tf.data.Dataset.range(90).batch(32)

def fourth():
    return tf.data.Dataset.range(100).batch(32)

def fifth():
    return tf.data.Dataset.range(110).batch(32)

for number, batch in zip(range(10), first()):
    step(batch)
for number, batch in enumerate(second()):
    step(batch)
    if number >= 10:
        print(number)
    if tf.reduce_sum(batch) > 1000:
        break
batches = iter(third())
for number in range(6):
    try:
        batch = next(batches)
    except StopIteration:
        batches = iter(third())
        batch = next(batches)
    step(batch)
for batch in itertools.chain([], fourth()):
    step(batch)
for batch in fifth():
    if batch is None:
        break
    step(batch)
""",
        *(("XLA302", f"return tf.data.Dataset.range({count}).batch(32)") for count in (70, 80, 90, 100, 110)),
    ),
    "batches that an object cuts from arrays": one(
        f"""{HEAD}import math

{MODEL}
class Rows(keras.utils.PyDataset):
    def __init__(self, x, y, size):
        super().__init__()
        self.x, self.y, self.size = x, y, size

    def __len__(self):
        return math.ceil(len(self.x) / self.size)

    def __getitem__(self, number):
        rows = range(number * self.size, (number + 1) * self.size)
        return self.x[number * self.size:(number + 1) * self.size], self.y[number * self.size:(number + 1) * self.size]

class Chosen(keras.utils.Sequence):
    def __init__(self, paths, size):
        self.paths, self.size, self.order = paths, size, np.arange(len(paths))

    def __len__(self):
        return int(np.ceil(len(self.paths) / float(self.size)))

    def __getitem__(self, number):
        chosen = self.order[number * self.size:(number + 1) * self.size]
        return np.array([np.load(self.paths[row]) for row in chosen]), np.zeros(self.size)

model.fit(Rows(np.load("x.npy"), np.load("y.npy"), 32))
model.fit(Chosen(open("paths.txt").readlines(), 32))
""",
        ("XLA302", "return self.x["),
        ("XLA302", "chosen = self.order["),
    ),
    "batches that an object cuts from arrays, the whole ones": one(
        f"""{HEAD}{MODEL}
class Rows(keras.utils.PyDataset):
    def __init__(self, x, size):
        super().__init__()
        self.x, self.size = x, size

    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, number):
        rows = np.arange(len(self.x))[number * self.size:(number + 1) * self.size]
        return self.x[rows], np.array([self.x[row] for row in rows])

model.fit(Rows(np.load("x.npy"), 32))
"""
    ),
    "slices by the number of the batch": one(
        f"""{HEAD}{JIT}
def train(x, y, size, epochs):
    whole = len(x) // size
    batches = int(np.ceil(len(x) / size))
    order = np.random.permutation(len(x))
    for _ in range(epochs):
        for number in range(batches):
            step(x[number * size:(number + 1) * size], y[number * size:(number + 1) * size])
        for number in range(whole):
            step(x[number * size:(number + 1) * size])
        for start in range(0, len(order), size):
            rows = order[start:start + size]
            step(x[rows], y[rows])

train(np.load("x.npy"), np.load("y.npy"), 32, 10)
""",
        ("XLA302", "step(x[number * size:(number + 1) * size], y["),
        ("XLA302", "rows = order[start:start + size]"),
    ),
    "a loader that begins again at the end": one(
        f"{HEAD}{JIT}\n\n{LOADER.format('self.at')}", ("XLA302", "batch = self.x[")
    ),
    "a loader that asks whether there is a whole batch": one(f"{HEAD}{JIT}\n\n{LOADER.format('self.at + self.size')}"),
    "an iterator of batches": one(f"{HEAD}{JIT}\n\n{ITERATOR}", ("XLA302", "batch = self.x[")),
    "parts of what was transposed": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8):\n"
        "    x = tf.transpose(x, [1, 0, 2])\n    step(x[:2])\n",
        ("XLA302", "for x in tf.data"),
    ),
    "parts of the batch that was transposed": one(
        f"{HEAD}{JIT}\n\nfor x in tf.data.TFRecordDataset('a').map(tf.io.parse_tensor).batch(8):\n"
        "    x = np.transpose(x, [1, 0, 2])\n    step(x[:, :4])\n"
    ),
    "slices until the data end": one(f"{HEAD}{JIT}\n\n{COUNTED.format('i < len(x)')}", ("XLA302", "step(x[i:i + 32])")),
    "whole slices until the data end": one(f"{HEAD}{JIT}\n\n{COUNTED.format('i + 32 <= len(x)')}"),
    "slices until a number that is written": one(f"{HEAD}{JIT}\n\n{COUNTED.format('i < 320')}"),
    "slices that are cut where the data end": one(f"{HEAD}{JIT}\n\n{CLAMPED}", ("XLA302", "return self.x[first:last]")),
    "pieces that follow on each other, and the rest": one(
        f"{HEAD}{JIT}\n\n{PIECES.format('end += size', 'yield x[start:]')}", ("XLA302", "yield x[start:]")
    ),
    "pieces that follow on each other": one(f"{HEAD}{JIT}\n\n{PIECES.format('end = end + size', 'return')}"),
    "pieces of which each is longer": one(
        f"{HEAD}{JIT}\n\n{PIECES.format('size += 1; end = start + size', 'return')}", ("XLA309", "step(piece)")
    ),
    "rows that the constructor reads from a file": one(
        f"{HEAD}import math\n{MODEL}"
        "class Rows(keras.utils.Sequence):\n    def __init__(self, path):\n        self.rows = []\n"
        "        for line in open(path):\n            self.rows.append(float(line))\n\n"
        "    def __len__(self):\n        return math.ceil(len(self.rows) / 32)\n\n"
        "    def __getitem__(self, index):\n        rows = self.rows[index * 32 : (index + 1) * 32]\n"
        "        x = np.zeros((len(rows), 4))\n        return x, np.array(rows)\n\n"
        "model.fit(Rows('rows.txt'))\n",
        ("XLA302", "rows = self.rows["),
    ),
    "whole batches of rows that the constructor reads": one(
        f"{HEAD}{MODEL}"
        "class Rows(keras.utils.Sequence):\n    def __init__(self, path):\n        self.rows = []\n"
        "        for line in open(path):\n            self.rows.append(float(line))\n\n"
        "    def __len__(self):\n        return len(self.rows) // 32\n\n"
        "    def __getitem__(self, index):\n        rows = self.rows[index * 32 : (index + 1) * 32]\n"
        "        return np.zeros((len(rows), 4)), np.array(rows)\n\n"
        "model.fit(Rows('rows.txt'))\n",
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
