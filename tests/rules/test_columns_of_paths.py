"""Paths of this machine that tables, arrays and splits hold, in a program for a TPU node; and those of a bucket."""

from __future__ import annotations

from typing import Final

import pytest

from tests.programs.tpu import NODE
from xlalint import lint_source
from xlalint.settings.config import Settings

START: Final = f"""{NODE}
import glob
import os
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

def decode(path):
    return tf.io.decode_png(tf.io.read_file(path))

FOLDER = "{{}}"
frame = pd.read_csv("names.csv")
"""
COLUMNS: Final = (
    "FOLDER + '/' + frame['id'] + '.png'",
    "(FOLDER + '/' + frame.id).values",
    "(FOLDER + '/' + frame.id.values).tolist()",
    "(FOLDER + '/' + frame.id).to_numpy()",
    "frame.id.apply(lambda name: FOLDER + '/' + name)",
    "frame.id.apply(lambda name: f'{FOLDER}/{name}.png').values",
    "frame['id'].apply(lambda name: os.path.join(FOLDER, name)).to_list()",
    "np.array([FOLDER + '/' + name for name in frame.id])",
    "train_test_split([f'{FOLDER}/{name}.png' for name in frame.id])[1]",
    "train_test_split(FOLDER + '/' + frame.id, frame.label, test_size=0.1)[0]",
)


def _codes(program: str) -> list[str]:
    return [finding.code for finding in lint_source(program, settings=Settings()).findings]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_paths(column: str) -> None:
    read = f"tf.data.Dataset.from_tensor_slices({column}).map(decode)\n"
    assert _codes(START.format("pictures/train") + read) == ["XLA504"]
    assert _codes(START.format("gs://bucket/train") + read) == []


@pytest.mark.parametrize(
    "column",
    [
        "frame['id']",
        "frame.id.apply(lambda name: name + '/last')",
        "train_test_split(FOLDER + '/' + frame.id, frame.label)[2]",
        "np.array([name + '/' + FOLDER for name in frame.id])",
    ],
)
def test_a_column_of_which_nobody_knows_where_it_begins(column: str) -> None:
    assert _codes(START.format("pictures/train") + f"tf.data.Dataset.from_tensor_slices({column}).map(decode)\n") == []
