"""What stands behind the end of a program never runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD: Final = "import os, sys\nimport tensorflow as tf\n"
STEP: Final = """
@tf.function(jit_compile=True)
def step(x, n):
    {}
    return x.numpy()
"""
FIT: Final = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
{}
model.fit(tf.ones([70, 4]), tf.ones([70, 1]), epochs=2)
"""
CELLS: Final = (HEAD, "sys.exit()", FIT.format(""))


def found(folder: Path, program: str) -> list[str]:
    (folder / "program.py").write_text(HEAD + program, encoding="utf-8")
    report = check([folder], Settings())
    assert report.problems == ()
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sys.exit(1)", []),
        ("os._exit(1)", []),
        ("os.abort()", []),
        ("exit()", []),
        ("quit(2)", []),
        ("if n is None: sys.exit()", ["XLA106"]),
        ("print('exit')", ["XLA106"]),
        ("sys.exc_info()", ["XLA106"]),
    ],
)
def test_in_a_function(line: str, expected: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, STEP.format(line)) == expected


def test_a_function_of_the_same_name_ends_nothing(tmp_path: Path) -> None:
    own = "def exit():\n    return 1\n\nclass Door:\n    def exit(self):\n        return 2\n\ndoor = Door()\n"
    assert found(tmp_path, own + STEP.format("exit()\n    door.exit()")) == ["XLA106"]


@pytest.mark.parametrize(("line", "expected"), [("", ["XLA302"]), ("sys.exit()", [])])
def test_at_the_top_of_a_script(line: str, expected: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, FIT.format(line)) == expected


def test_a_cell_ends_no_notebook(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None} for cell in CELLS
    ]
    (tmp_path / "a.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8"
    )
    assert [finding.code for finding in check([tmp_path], Settings()).findings] == ["XLA302"]
