"""Arrays that a model predicts again and again: of another number of rows each time, or with a smaller last batch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, deserved, one

ARRAYS: Final = 'x, y = np.load("x.npy"), np.load("y.npy")\n'
MASKED: Final = "XLA308"
LAST: Final = "XLA302"
# What a loop over five numbers does, and what is found on its last line.
ROWS: Final = {
    "those of a class": ("model.predict(x[y == number])", MASKED),
    "those above a number": ("mask = y > number\nmodel.predict(x[mask])", MASKED),
    "where": ("rows = np.where(y == number)[0]\nmodel.predict(x[rows])", MASKED),
    "those of a class, evaluated": ("model.evaluate(x[y == number], y[y == number])", MASKED),
    "in batches, of a class": ("model.predict(x[y == number], batch_size=64)", MASKED),
    "made to be as many": ("model.predict(np.resize(x[y == number], (64, 4)))", None),
    "the first of a class": ("model.predict(x[y == number][:1])", None),
    "in batches": ("model.predict(x, batch_size=64)", LAST),
    "in batches, by position": ("model.predict(x, 64)", LAST),
    "nobody says": ("model.predict(x)", None),
    "one by one": ("model.predict(x, batch_size=1)", None),
    "all at once": ("model.predict(x, batch_size=len(x))", None),
    "a row": ("model.predict(x[number : number + 1], batch_size=64)", None),
    "a row, as a batch": ("model.predict(np.expand_dims(x[number], 0), batch_size=64)", None),
    "a row, with a new axis": ("model.predict(x[number][None], batch_size=64)", None),
    "a row, with NumPy's new axis": ("model.predict(x[number][np.newaxis, :], batch_size=64)", None),
    "a row, in a list": ("model.predict(np.array([x[number]]), batch_size=64)", None),
    "a row, made one of a batch": ("model.predict(x[number].reshape(1, 4), batch_size=64)", None),
    "a row, made one of a batch by NumPy": ("model.predict(np.reshape(x[number], (1, -1)), batch_size=64)", None),
    "as many as fill batches": ("rows = len(x) // 64 * 64\nmodel.predict(x[:rows], batch_size=64)", None),
}
SETS: Final = "a, b, c = np.ones((10, 4)), np.ones((20, 4)), np.ones((30, 4))\n"
# How a loop goes through arrays, what it does, and whether it feeds arrays of different lengths.
LOOPS: Final = {
    "a tuple": ("for rows in (a, b, c):", "model.predict(rows)", True),
    "a list": ("for rows in [a, b, c]:", "model.predict(rows)", True),
    "a function": ("for rows in (a, b, c):", "step(rows)", True),
    "names and arrays": ('for name, rows in [("a", a), ("b", b), ("c", c)]:', "model.predict(rows)", True),
    "a dict": ('for name, rows in {"a": a, "b": b, "c": c}.items():', "model.predict(rows)", True),
    "with numbers": ("for number, rows in enumerate((a, b, c)):", "model.predict(rows)", True),
    "of one length": ("for rows in (a, a + 1, a * 2):", "model.predict(rows)", False),
    "cut alike": ("for rows in (a, b, c):", "model.predict(rows[:10])", False),
    "of whole batches": ("for rows in (np.ones((32, 4)), np.ones((64, 4))):", "model.predict(rows)", False),
    "kept": ("kept = [rows * 2 for rows in (a, b, c)]\nfor _ in range(3):", "model.predict(kept[0])", False),
    "kept by a loop": (
        "kept = []\nfor rows in (a, b, c):\n    kept.append(rows * 2)\nfor _ in range(3):",
        "model.predict(kept[0])",
        False,
    ),
}


def looped(head: str, body: str) -> str:
    return head + "".join(f"\n    {line}" for line in body.split("\n")) + "\n"


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_a_loop_chooses(name: str, tmp_path: Path) -> None:
    body, code = ROWS[name]
    found = () if code is None else ((code, body.split("\n")[-1]),)
    deserved(one(f"{HEAD}{MODEL}{ARRAYS}{looped('for number in range(5):', body)}", *found), tmp_path)


@pytest.mark.parametrize("name", LOOPS)
def test_arrays_that_a_loop_goes_through(name: str, tmp_path: Path) -> None:
    head, body, differ = LOOPS[name]
    found = ((MASKED, body.split("\n")[-1]),) if differ else ()
    deserved(one(f"{HEAD}{MODEL}{JIT}{SETS}{looped(head, body)}", *found), tmp_path)


def test_arrays_that_are_made_of_others(tmp_path: Path) -> None:
    made = "a, b, c = [rows / 2 for rows in (a, b, c)]\n"
    lines = ("def scaled(arrays):", "    found = []", "    for rows in arrays:", "        found.append(rows / 2)")
    scaled = "\n".join((*lines, "    return found\n"))
    fed = looped("for _ in range(3):", "\n".join(f"model.predict({name})" for name in "abcdef"))
    deserved(one(f"{HEAD}{MODEL}{SETS}{made}{scaled}d, e, f = scaled([a, b, c])\n{fed}"), tmp_path)
