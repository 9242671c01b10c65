"""Counters of loops that `min` and `max` keep within bounds: how many numbers are left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

STEP: Final = """\
import sys
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x, i):
    return x * i

x, unknown = tf.ones([2]), int(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("loop", "number", "told"),
    [
        ("for i in range(100)", "min(i, 0)", ""),
        ("for i in range(100)", "min(0, i)", ""),
        ("for i in range(unknown)", "min(i, 0)", ""),
        ("for i in range(1, 100)", "min(i, 1)", ""),
        ("for i, _ in enumerate([x] * 9)", "min(i, 0)", ""),
        ("for i in range(100)", "max(i, 99)", ""),
        ("for i in range(100)", "max(1000, i)", ""),
        ("for i in range(100)", "min(i, 1)", "compiles 2 times"),
        ("for i in range(100)", "min(i, 50)", "compiles 51 times"),
        ("for i in range(10)", "min(i, 50)", "compiles 10 times"),
        ("for i in range(100)", "max(i, 90)", "compiles 10 times"),
        ("for i in range(unknown)", "min(i, 9)", "compiles 10 times"),
        ("for i in range(unknown)", "max(i, 9)", "compiles once for each value"),
        ("for i in range(-5, 100)", "min(i, 0)", "compiles 105 times"),  # it starts at no literal number
        ("for i in range(0, -9, -1)", "min(i, 0)", "compiles 9 times"),
        ("for i in range(100)", "min(2 * i, 5)", "compiles 100 times"),  # another number than the counter
    ],
)
def test_numbers_that_are_left(tmp_path: Path, loop: str, number: str, told: str) -> None:
    (tmp_path / "train.py").write_text(f"{STEP}{loop}:\n    step(x, {number})\n", encoding="utf-8")
    found = [finding for finding in check([tmp_path], Settings()).findings if finding.code == "XLA306"]
    assert [finding.message.endswith(told) for finding in found] == [True] * bool(told)
