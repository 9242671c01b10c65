"""Notebooks that do not name TensorFlow and run modules that do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.codes import BUT_FOR_STRATEGY
from xlalint.linter.run import check
from xlalint.settings.config import Settings

NETS: Final = """\
import tensorflow as tf


def train(x, y):
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, epochs=2)
"""
CELLS: Final = ("import numpy as np\n%matplotlib inline", "import {}", "{}.train(np.ones([70, 4]), np.ones([70, 1]))")


def flagged(folder: Path, module: str) -> list[str]:
    """The rules of warnings, and what they speak of, with a notebook that imports a module."""
    (folder / "nets.py").write_text(NETS, encoding="utf-8")
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "source": cell.format(module), "metadata": {}, "outputs": [], "execution_count": None}
        for cell in CELLS
    ]
    path = folder / "notebooks/run.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    report = check([folder], Settings(target="tpu", codes=BUT_FOR_STRATEGY))
    assert report.problems == ()
    return [f"{finding.code} {'70 elements' in finding.message}" for finding in report.findings]


@pytest.mark.parametrize(("module", "elements"), [("nets", True), ("others", False)])
def test_what_a_notebook_passes_is_known(tmp_path: Path, module: str, *, elements: bool) -> None:
    assert flagged(tmp_path, module) == [f"XLA302 {elements}"]
