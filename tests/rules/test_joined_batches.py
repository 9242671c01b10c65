"""Arrays that are joined, repeated or drawn by hand: how many rows they have, and whether these fill all batches."""

from __future__ import annotations

import pytest

from tests.rules.scripts import HEAD, Script, deserved, one

STEP = """\
@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

def train(data, size, files):
    for _ in range(100):
        real = data[np.random.randint(0, len(data), size)]
        rows = {}
        for i in range(0, {}, {}):
            step(rows[i:i + {}])

train(np.load("x.npy"), read(), paths())
"""
ONES = "np.ones((320, 4))"
SCRIPTS = {
    f"{name}, by {size}": one(
        f"{HEAD}{STEP.format(rows, stop, size, size)}", *(() if even else (("XLA302", "step(rows[i"),))
    )
    for name, rows, stop, size, even in (
        ("two halves", "np.concatenate([real, real * 2.0], axis=0)", "len(rows)", "size", True),
        ("two halves by their shape", "np.vstack([real, real])", "rows.shape[0]", "size", True),
        ("two halves and a row", "np.vstack([real, real, real[:1]])", "len(rows)", "size", False),
        ("two halves side by side", "np.concatenate([data, data], axis=1)", "len(rows)", "size", False),
        ("halves of written sizes", f"np.vstack([{ONES}, {ONES}])", "rows.shape[0]", "64", True),
        ("halves of written sizes", f"np.vstack([{ONES}, {ONES}])", "rows.shape[0]", "96", False),
        ("one of each file", "np.concatenate([np.random.rand(64, 4) for file in files])", "len(rows)", "64", True),
        ("one of each file", "np.concatenate([np.random.rand(64, 4) for file in files])", "len(rows)", "48", False),
        ("labels", "np.hstack([np.zeros(size), np.ones(size)])", "len(rows)", "size", True),
        ("columns", "np.hstack([data, data])", "len(rows)", "size", False),
        ("appended rows", "np.append(real, real, axis=0)", "len(rows)", "size", True),
        ("appended labels", "np.append(np.zeros(size), np.ones(size))", "len(rows)", "size", True),
        ("appended numbers", "np.append(data, data)", "len(rows)", "size", False),
        ("repeated rows", "np.repeat(real, 3, axis=0)", "len(rows)", "size", True),
        ("repeated columns", "np.repeat(data, 3, axis=1)", "len(rows)", "size", False),
        ("repeated labels", "np.tile(np.ones(size), 3)", "len(rows)", "size", True),
        ("tiled rows", "np.tile(real, (2, 1))", "len(rows)", "size", True),
        ("tiled rows and columns", f"np.tile({ONES}, 2)", "len(rows)", "384", False),
        ("shuffled", "np.random.permutation(np.vstack([real, real]))", "len(rows)", "size", True),
        ("of the same shape", f"np.zeros_like({ONES})", "len(rows)", "64", True),
        ("of the same shape", f"np.sqrt({ONES})", "len(rows)", "96", False),
    )
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_joined_rows_are_counted(script: Script, tmp_path_factory: pytest.TempPathFactory) -> None:
    deserved(script, tmp_path_factory.mktemp("script"))
