"""Batches that a program pads by hand, each to its longest row: XLA compiles the step for every length."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf

rows = [list(map(int, line.split())) for line in open("rows.txt")]

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

{before}
def padded(batch):
    {longest}
    {padded}

for start in range(0, len(rows) // 32 * 32, 32):
    step(padded(rows[start:start + 32]))
"""
LONGEST: Final = {
    "generator": "longest = max(len(row) for row in batch)",
    "list": "longest = max([len(row) for row in batch])",
    "map": "longest = max(map(len, batch))",
    "lambda": "longest = max(list(map(lambda row: len(row), batch)))",
    "numpy": "longest = np.max([len(row) for row in batch])",
    "key": "longest = len(max(batch, key=len))",
    "names": "lengths = np.array([len(row) for row in batch])\n    longest = np.amax(lengths)",
    "more": "lengths = [len(row) for row in batch]\n    longest = max(lengths) + 2",
    "by hand": "longest = 0\n    for row in batch:\n        longest = max(longest, len(row))",
}
TABLE: Final = """table = np.zeros((32, longest))
    for place, row in enumerate(batch):
        table[place, :len(row)] = row
    return table"""
PADDED: Final = {
    "lists": "return np.array([row + [0] * (longest - len(row)) for row in batch])",
    "pad": "return np.stack([np.pad(row, (0, longest - len(row))) for row in batch])",
    "pairs": 'return np.array([np.pad(row, [(0, longest - len(row))], "constant") for row in batch])',
    "one by one": """made = []
    for row in batch:
        made.append(row + [0] * (longest - len(row)))
    return np.array(made)""",
    "in place": """made = []
    for row in batch:
        row = list(row)
        row += [0] * (longest - len(row))
        made.append(row)
    return np.array(made)""",
    "extended": """made = []
    for row in batch:
        row = list(row)
        row.extend([0] * (longest - len(row)))
        made.append(row)
    return np.array(made)""",
    "tensors": "return tf.stack([tf.pad(row, [[0, longest - len(row)]]) for row in batch])",
    "keras": "return tf.keras.preprocessing.sequence.pad_sequences(batch, maxlen=longest)",
}


# The step stands where the rows are padded, whatever these are.
AT_ONCE: Final = """\
import json
import numpy as np
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def train(rows):
    for start in range(0, len(rows) // 32 * 32, 32):
        batch = rows[start:start + 32]
        longest = {longest}
        made = []
        for row in batch:
            made.append(row + [0] * (longest - len(row)))
        step(np.array(made))

train(json.load(open("rows.json")))
"""


@pytest.mark.parametrize(("longest", "found"), [("max(len(row) for row in batch)", ["XLA308"]), ("64", [])])
def test_rows_are_padded_where_the_step_is(tmp_path: Path, longest: str, found: list[str]) -> None:
    assert _codes(tmp_path, AT_ONCE.format(longest=longest)) == found


@pytest.mark.parametrize("longest", LONGEST.values(), ids=LONGEST)
def test_however_the_longest_row_is_found(tmp_path: Path, longest: str) -> None:
    assert _codes(tmp_path, PROGRAM.format(before="", longest=longest, padded=TABLE)) == ["XLA308"]


@pytest.mark.parametrize("padded", PADDED.values(), ids=PADDED)
def test_however_the_rows_are_padded(tmp_path: Path, padded: str) -> None:
    for longest in ("generator", "key", "names"):
        assert _codes(tmp_path, PROGRAM.format(before="", longest=LONGEST[longest], padded=padded)) == ["XLA308"]


@pytest.mark.parametrize("padded", [TABLE, *PADDED.values()], ids=["table", *PADDED])
@pytest.mark.parametrize(
    ("before", "longest"),
    [
        ("LONGEST = max(len(row) for row in rows)", "longest = LONGEST"),
        ("lengths = [len(row) for row in rows]\nLONGEST = np.max(lengths)", "longest = LONGEST"),
        ("", "longest = max(len(row) for row in rows)"),
        ("", "longest = len(max(rows, key=len))"),
        ("", "longest = 64"),
    ],
)
def test_one_length_for_all_is_silent(tmp_path: Path, before: str, longest: str, padded: str) -> None:
    assert _codes(tmp_path, PROGRAM.format(before=before, longest=longest, padded=padded)) == []


BATCHES: Final = """\
import math
import numpy as np
import tensorflow as tf

class Batches(tf.keras.utils.Sequence):
    def __init__(self, rows, size):
        self.rows, self.size = rows, size

    def __len__(self):
        return len(self.rows) // self.size

    def __getitem__(self, index):
        batch = self.rows[index * self.size:(index + 1) * self.size]
        longest = {longest}
        table = np.zeros((self.size, longest))
        for place, row in enumerate(batch):
            table[place, :len(row)] = row[:longest]
        return table, np.zeros(self.size)

rows = [list(map(int, line.split())) for line in open("rows.txt")]
model = tf.keras.Sequential([tf.keras.layers.Embedding(9, 3), tf.keras.layers.Dense(2)])
model.compile("adam", "mse", jit_compile=True)
{used}
"""
USED: Final = (
    "model.fit(Batches(rows, 32))",
    "for x, y in Batches(rows, 32):\n    model.train_on_batch(x, y)",
)


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize(
    ("longest", "codes"),
    [
        ("max(len(row) for row in batch)", ["XLA308"]),
        ("np.random.randint(8, 16)", ["XLA308"]),
        ("max(len(row) for row in self.rows)", []),
        ("64", []),
    ],
)
def test_what_keras_asks_an_object_for(tmp_path: Path, used: str, longest: str, codes: list[str]) -> None:
    assert _codes(tmp_path, BATCHES.format(longest=longest, used=used)) == codes


def _codes(folder: Path, program: str) -> list[str]:
    (folder / "train.py").write_text(program, encoding="utf-8")
    found = check([folder], Settings()).findings
    return [finding.code for finding in found if finding.severity >= Severity.WARNING]
