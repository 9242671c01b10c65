"""Arrays of as many rows as a file has lines, or a folder has files; the next one has others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

# What each iteration passes to `step`, which is compiled, of a path.
VARYING: Final = {
    "lines": "rows = []\n    for line in open(path):\n        rows.append([float(word) for word in line.split()])",
    "lines of a file that is open": "with open(path) as file:\n        rows = [[float(len(line))] for line in file]",
    "lines in a list": "with open(path) as file:\n        lines = file.readlines()\n    rows = [[1.0] for _ in lines]",
    "rows": "with open(path) as file:\n        rows = list(csv.reader(file, delimiter=' '))",
    "files of a folder": "rows = [[float(len(name))] for name in os.listdir(os.path.dirname(path))]",
    "files by a pattern": "rows = []\n    for name in glob.glob(path[:-5] + '*'):\n        rows.append([1.0])",
    "steps up to a length": (
        "lines, rows = open(path).readlines(), []\n    for at in range(0, len(lines), 2):\n        rows.append([1.0])"
    ),
    "windows": "lines = open(path).readlines()\n    rows = [[1.0] for at in range(1, len(lines), 1)]",
    "a function": "rows = read(path)",
}
SAME: Final = {
    "the same file": "rows = [[float(len(line))] for line in open(first)]",
    "the same folder": "rows = [[float(len(name))] for name in os.listdir(home)]",
    "the first of them": "rows = [[1.0] for line in open(path).readlines()[:2]]",
    "one line": "rows = [[float(len(open(path).readline()) > 0)]]",
    "steps of a number": "rows = [[1.0] for at in range(0, len(home), 2)]",
    "written": "rows = [[1.0], [2.0]]\n    with open(path + '.txt', 'w') as file:\n        file.write(str(rows))",
}
PROGRAM: Final = """\
import csv, glob, os, sys
import numpy as np
import tensorflow as tf

def read(path):
    with open(path) as file:
        return [[float(len(line))] for line in file]

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(x)

home = sys.argv[1]
paths = [os.path.join(home, name, "a.txt") for name in ("one", "two")]
first = paths[0]
for path in paths:
    BODY
    step(np.array(rows, "float32"))
"""


def _program(name: str) -> str:
    return PROGRAM.replace("BODY", (VARYING | SAME)[name])


@pytest.mark.parametrize("name", [*VARYING, *SAME])
def test_rows_that_files_give(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_program(name), encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings()).findings if one.code.startswith("XLA3")]
    assert found == (["XLA308"] if name in VARYING else [])


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*VARYING, *SAME])
def test_the_step_has_as_many_shapes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, lines in (("one", 2), ("two", 5)):
        (tmp_path / folder).mkdir()
        for at in range(lines):
            (tmp_path / folder / f"{'abcdefg'[at]}.txt").write_text("1.0 2.0\n" * lines, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["program.py", str(tmp_path)])
    namespace: dict[str, object] = {}
    exec(_program(name), namespace)
    traces = namespace["step"].experimental_get_tracing_count()  # type: ignore[attr-defined]
    assert (traces > 1) == (name in VARYING)
