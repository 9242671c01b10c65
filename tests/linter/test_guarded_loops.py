"""Loops around models whose calls stand behind a guard: one that finds nothing to do leaves the others as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf
from recordings import Sound, cut, names

model = tf.keras.models.load_model("model.keras")

class Reader:
    def __init__(self):
        self.sound = Sound()
        self.left = 25
        self.due = False

    def look(self, name):
        self.left -= 1
        self.due = self.left % 5 == 0
        pieces = cut(name)
        wanted = self.left < 3
        GUARD
        print(model.predict(pieces))

reader = Reader()
for name in names("recordings"):
    reader.look(name)
"""
LAYERS: Final = """\
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)]

    @tf.function
    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    @tf.function
    def scored(self, data):
        total = 0.0
        for x in data:
            total += tf.reduce_sum(x)
        return total

def test(net, data):
    for x in data:
        print(CALLED)

data = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(32)
test(Net(), data)
"""
HELD: Final = """\
import tensorflow as tf
from words import near, words

class Net(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = tf.keras.layers.Embedding(3000, 8)
        self.score = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.score(self.table(x))

    def build(self, shape):
        for length in range(1, 30):
            self.table(tf.zeros([1, length]))

class Plain:
    def __init__(self):
        self.table = tf.keras.layers.Dense(8)

net, plain = Net(), Plain()
for word in words:
    for other in words:
        CALLED
"""


def found(folder: Path, program: str, code: str) -> list[Severity]:
    (folder / "program.py").write_text(program, encoding="utf-8")
    return [one.severity for one in check([folder], Settings(target="tpu")).findings if one.code == code]


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("pass", [Severity.WARNING]),
        ("if len(pieces) == 0:\n            return", [Severity.WARNING]),
        ("if len(pieces) == 0:\n            print(name)\n            return None", [Severity.WARNING]),
        ("if pieces is None:\n            return", [Severity.WARNING]),
        ("if not pieces:\n            return", [Severity.WARNING]),
        ("if not self.sound.loaded:\n            return", [Severity.INFO]),
        ("if not wanted:\n            return", []),  # computed of a counter
        ("if self.left > 3:\n            return", []),
        ("if len(pieces) > 1:\n            return", []),
        ("if self.left % 10:\n            return", []),
    ],
)
def test_what_finds_nothing_leaves_the_other_iterations(guard: str, expected: list[Severity], tmp_path: Path) -> None:
    assert found(tmp_path, PROGRAM.replace("GUARD", guard), "XLA517") == expected


@pytest.mark.parametrize(
    ("called", "expected"),
    [("net(x).numpy()", [Severity.WARNING]), ("net.scored(data).numpy()", [])],  # one batch, and all of them
)
def test_the_loops_of_a_layer_go_through_its_layers(called: str, expected: list[Severity], tmp_path: Path) -> None:
    assert found(tmp_path, LAYERS.replace("CALLED", called), "XLA516") == expected


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        ("near(net.table(tf.constant([other])).numpy())", [Severity.WARNING]),
        ("if word != other:\n            near(net.table(tf.constant([other])).numpy())", [Severity.WARNING]),
        (
            "if other == word:\n            print(word)\n        else:\n            net.table(tf.constant([other]))",
            [Severity.WARNING],
        ),
        ("if other == word:\n            net.table(tf.constant([other]))", []),  # one of all
        ("if other != 3:\n            net.table(tf.constant([other]))", []),  # nobody knows how many these are
        ("plain.table(tf.constant([other]))", []),  # who holds it may put a model together
    ],
)
def test_layers_that_a_model_holds_are_asked_word_by_word(
    called: str, expected: list[Severity], tmp_path: Path
) -> None:
    assert found(tmp_path, HELD.replace("CALLED", called), "XLA517") == expected
