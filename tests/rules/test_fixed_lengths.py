"""Lists that loops fill, by what is asked before they are fed: whether they are as long each time."""

from __future__ import annotations

from typing import Final

import pytest

from tests.rules.scripts import HEAD, JIT, Script, deserved, one

FED: Final = "step(np.array(batch))"
# What a loop does once it has put a row into its batch, and whether the batch is of another length each time.
ENDS: Final = {
    "at once": (f"{FED}", True),
    "when it is full": (f"if len(batch) == size:\n    {FED}\n    batch = []", False),
    "when it is full, the other way round": (f"if size == len(batch) and row is not None:\n    {FED}", False),
    "when it is full, by a flag": (f"if not len(batch) != size:\n    {FED}", False),
    "from there on": (f"if len(batch) >= size:\n    {FED}", True),
    "when it is full or more": (f"if len(batch) >= size:\n    {FED}\n    batch.clear()", False),
    "when it is full, else it goes on": (f"if len(batch) < size:\n    continue\n{FED}\nbatch = []", False),
    "unless it is too short": (f"if len(batch) < size:\n    continue\n{FED}", True),
    "every so many rows": (f"if (number + 1) % size == 0:\n    {FED}\n    batch, other = [], []", False),
    "every so many rows, of all": (f"if (number + 1) % size == 0:\n    {FED}", True),
    "until it is full": (f"if len(batch) > size:\n    batch = []\nelse:\n    {FED}", True),
    "where it is not another length": (f"if len(batch) != size:\n    pass\nelse:\n    {FED}\n    del batch[:]", False),
    "when one beside it is full": (f"if len(beside) == size:\n    {FED}\n    beside, batch = [], []", False),
    "when one beside it is full, which alone is emptied": (
        f"if len(beside) == size:\n    {FED}\n    beside = []",
        True,
    ),
    "when another one is full": (f"if len(other) == size:\n    {FED}", True),
    "when it is full or something else is": (f"if len(batch) == size or row is None:\n    {FED}", True),
    "when its rows are counted": (f"i += 1\nif i == size:\n    {FED}\n    batch, i = [], 0", False),
    "when its rows are counted, in other words": (
        f"i = i + 1\nif i >= size:\n    {FED}\n    batch = []\n    i = 0",
        False,
    ),
    "when its rows are counted, which goes on": (f"i += 1\nif i == size:\n    {FED}\n    batch = []", True),
    "when its rows are counted, which it keeps": (f"i += 1\nif i == size:\n    {FED}\n    i = 0", True),
    "when what is doubled is large": (f"i *= 2\nif i >= size:\n    {FED}\n    batch, i = [], 1", True),
    "when what is in its rows is counted": (f"i += len(row)\nif i >= size:\n    {FED}\n    batch, i = [], 0", True),
    "the whole of each iteration": (
        f"pair = []\npair.append(row)\npair.append(row)\n{FED.replace('batch', 'pair')}",
        False,
    ),
}
IN_FUNCTION: Final = """\
def run(rows, size, other):
    batch, beside, i = [], [], 0
    for number, row in enumerate(rows):
        beside.append(number)
        batch.append(row)
{}

run(np.load("x.npy"), 32, [])
"""
AT_TOP: Final = """\
rows, size, other, batch, beside, i = np.load("x.npy"), 32, [], [], [], 0
for number, row in enumerate(rows):
    beside.append(number)
    batch.append(row)
{}
"""


def indented(code: str, by: int) -> str:
    return "\n".join(" " * by + line for line in code.split("\n"))


SCRIPTS: Final = {
    f"{place}: {how}": one(
        f"{HEAD}{JIT}\n{around.format(indented(code, by))}",
        *((("XLA308", "step(np.array("),) if found else ()),
    )
    for place, around, by in (("in a function", IN_FUNCTION, 8), ("at the top", AT_TOP, 4))
    for how, (code, found) in ENDS.items()
}
SCRIPTS["at the top: behind the loop"] = one(
    f"{HEAD}{JIT}\nbatch = []\nfor number in range(9):\n    batch.append(np.ones(4))\nfor _ in range(3):\n    {FED}\n"
)

MADE: Final = """\
def make(sizes):
    rows = []
    for size in sizes:
        for i in range(size):
            rows.append([(i + 0.5) / size, 1.0])
    return tf.constant(rows)

"""
USED: Final = "step(tf.zeros([{}]))"
for size in ("len(rows)", "rows.shape[0]"):
    fed = USED.format(size)
    SCRIPTS[f"made once: {size}"] = one(
        f"{HEAD}{JIT}\n{MADE}rows = make(np.load('sizes.npy'))\nfor _ in range(3):\n    {fed}\n"
    )
    SCRIPTS[f"made in each iteration: {size}"] = one(
        f"{HEAD}{JIT}\n{MADE}for sizes in np.load('sizes.npy'):\n    rows = make(sizes)\n    {fed}\n", ("XLA308", fed)
    )

FILLED: Final = """\
def batch(rows, index, size):
    taken = []
    for i in range({}):
        taken.append(rows[i % len(rows)])
    return np.zeros((len(taken), 3))

def run(rows, size):
    for index in range(9):
        {}

run(np.load("x.npy"), 32)
"""
GIVEN: Final = "step(batch(rows, index, size))"
RANGES: Final = {
    "index * size, (index + 1) * size": False,
    "size * index, size * (index + 1)": False,
    "index, index + size": False,
    "index * size": True,
}
for numbers, varies in RANGES.items():
    SCRIPTS[f"from {numbers}"] = one(
        f"{HEAD}{JIT}\n{FILLED.format(numbers, GIVEN)}", *((("XLA308", GIVEN),) if varies else ())
    )


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_gets_what_it_deserves(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
