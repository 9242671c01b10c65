"""What a program makes once has one size, whatever decides it; what it makes again differs from call to call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD, MODEL
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SIZES = frozenset(("XLA308", "XLA309"))
WINDOWS = """\
import pandas as pd

def windows(path, back=60):
    table = pd.read_csv(path).values
    x, y = [], []
    for i in range(back, len(table)):
        x.append(table[i - back : i, 0])
        y.append(table[i, 0])
    return np.array(x), np.array(y)

"""
FILLED = """\
import pandas as pd

table = pd.read_csv("prices.csv").values
x, y = [], []
for i in range(len(table) - 4):
    x.append(table[i : i + 4, 0])
    y.append(table[i + 4, 0])
"""
MAIN = """\
def main():
    x, y = windows("prices.csv")
    x = np.reshape(x, (x.shape[0], x.shape[1], 1))
    print(model.evaluate(x, y))

"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{FILLED}x, y = np.array(x), np.array(y)\nn = int(len(x) * 0.8)\nmodel.evaluate(x[n:], y[n:])\n", set()),
        (f"{FILLED}n = int(0.8 * len(x))\nrest = np.array(x[n:])\nmodel.predict(rest)\n", set()),
        (f"{FILLED}x = np.array(x)\nn = x.shape[0] // 5\nfirst, last = x[:-n], x[-n:]\nmodel.predict(last)\n", set()),
        (
            f"{WINDOWS}x, y = windows('a.csv')\nx = np.reshape(x, (x.shape[0], x.shape[1], 1))\nmodel.predict(x)\n"
            "test, wanted = windows('b.csv')\ntest = test.reshape((test.shape[0], test.shape[1], 1))\n"
            "model.evaluate(test, wanted)\n",
            set(),
        ),
        (f"{WINDOWS}{MAIN}main()\n", set()),
        (f"{WINDOWS}{MAIN}while True:\n    main()\n", {Severity.WARNING}),
        (
            f"{WINDOWS}for path in open('tables.txt'):\n    x, y = windows(path)\n"
            "    model.evaluate(np.reshape(x, (x.shape[0], x.shape[1], 1)), y)\n",
            {Severity.WARNING},
        ),
    ],
)
def test_what_is_made_once_has_one_size(text: str, found: set[Severity], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{MODEL}{text}", encoding="utf-8")
    report = check([tmp_path], Settings(codes=SIZES))
    assert {one.severity for one in report.findings} == found


STEP = """\
def train(data):
    for x, y in data:
        plot = np.zeros((len(x), x.shape[1], 1), "float32")
        with tf.GradientTape() as tape:
            {}
            loss = tf.reduce_mean({})
        print(plot, tape.gradient(loss, model.trainable_variables))

data = tf.data.TFRecordDataset("a").map(read)
train(data.padded_batch(8, ([None, 4], [None, 1])))
"""


@pytest.mark.parametrize(
    ("before", "loss", "found"),
    [
        ("plot[:, 0] = model(x).numpy()", "model(x) - y", False),
        ("plot[:, :, 0] += 1.0", "model(x) - y", False),
        ("pass", "(model(x) - y) * plot", True),
        ("plot[:, 0] = 1.0", "(model(x) - y) * plot", True),
    ],
)
def test_what_a_step_only_writes_to_is_not_fed_to_it(before: str, loss: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{MODEL}{STEP.format(before, loss)}", encoding="utf-8")
    report = check([tmp_path], Settings(codes=SIZES, target="tpu"))
    assert bool(report.findings) is found


BATCHES = """\
def batches(lines, size):
    i = 0
    while True:
        images = []
        {}
            images.append(np.random.rand(4))
            i = (i + 1) % len(lines)
        {}
        yield np.zeros((m, 4)), np.zeros((m, 1))

model.fit(batches(open("a").readlines(), 8), steps_per_epoch=4)
"""
DRAWN = "size = np.random.randint(3, 9)\n        for _ in range(size):"
SKIPPED = "for line in lines[i : i + size]:\n            if not line:\n                continue"
SEQUENCE = """\
def made(images):
    m = images.shape[0]
    return np.zeros((m, 4)), np.zeros((m, 1))

class Batches:
    def __init__(self, size):
        self.size = size

    {}
    def batch(self):
        images = []
        for i in range(self.size):
            images.append(np.random.rand(4))
        return made(np.array(images))

data = Batches(8)
while True:
    model.train_on_batch(*data.batch())
"""
SHRINKS = "def shrink(self):\n        self.size = self.size - 1\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BATCHES.format("for _ in range(size):", "m = np.array(images).shape[0]"), False),
        (BATCHES.format("for _ in range(0, size // 2):", "m = len(np.array(images))"), False),
        (BATCHES.format("for _ in range(8):", "m = np.array(images).shape[0]"), False),
        (BATCHES.format(DRAWN, "m = np.array(images).shape[0]"), True),
        (BATCHES.format(DRAWN, "m = len(np.array(images))"), True),
        (BATCHES.format(SKIPPED, "m = np.array(images).shape[0]"), True),
        (SEQUENCE.format(""), False),
        (SEQUENCE.format(SHRINKS), True),
    ],
)
def test_a_list_is_as_long_each_time_where_its_loop_is(text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{MODEL}{text}", encoding="utf-8")
    report = check([tmp_path], Settings(codes=frozenset(("XLA308",))))
    assert bool(report.findings) is found


PARTS = """\
@tf.function(jit_compile=True)
def step(parts):
    return tf.add_n([tf.reduce_sum(part) for part in parts])

@tf.function(jit_compile=True)
def one(part):
    return tf.reduce_sum(part)

def made(n):
    return [np.zeros((n, 13 * k, 3), "float32") for k in {}]

"""


@pytest.mark.parametrize("items", ["(1, 2, 4)", "range(1, 4)"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for _ in range(3):\n    step(made(8))\n", False),
        ("for n in (1, 2, 3):\n    step(made(n))\n", True),
        ("for part in made(8):\n    one(part)\n", True),
        ("for part in made(8):\n    step((part, part))\n", True),
        ("parts = made(8)\nfor i in range(3):\n    one(parts[i])\n", True),
        ("sums = [step([np.zeros((8, 13 * k, 3))]) for k in (1, 2, 4)]\n", True),
    ],
)
def test_a_list_of_several_sizes_is_one_structure(items: str, text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{PARTS.format(items)}{text}", encoding="utf-8")
    report = check([tmp_path], Settings(codes=SIZES))
    assert bool(report.findings) is found
