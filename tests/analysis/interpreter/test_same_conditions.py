"""What the sides of a condition left is told apart where the same condition is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD: Final = """\
import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--fast", action="store_true")
parser.add_argument("--mode", default="a")
args = parser.parse_args()
flag = args.fast
data = tf.data.Dataset.from_tensor_slices(np.ones((70, 4), "float32"))


@tf.function(jit_compile=True)
def fast(x):
    return x * 2.0


def slow(x):
    return x * 2.0


if {test}:
    batches, step = data.batch(32, drop_remainder=True), fast
else:
    batches, step = data.batch(32), slow
"""
LOOP: Final = "for x in batches:\n        step(x)\n"


def found(folder: Path, test: str, program: str) -> list[str]:
    (folder / "program.py").write_text(HEAD.format(test=test) + program, encoding="utf-8")
    report = check([folder], Settings())
    assert report.problems == ()
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("test", "program", "expected"),
    [
        ("args.fast", f"if args.fast:\n    {LOOP}else:\n    {LOOP}", []),
        ("args.fast", f"if not args.fast:\n    {LOOP}else:\n    {LOOP}", []),
        ("not args.fast", f"if args.fast:\n    {LOOP}", []),
        ("not args.fast", f"if args.fast:\n    {LOOP.replace('step', 'fast')}", ["XLA302"]),  # the other way round
        ("args.fast", f"if not args.fast:\n    {LOOP.replace('step', 'fast')}", ["XLA302"]),
        ("args.fast", f"if not args.fast:\n    pass\nelse:\n    {LOOP.replace('step', 'fast')}", []),
        ("flag", f"if flag:\n    {LOOP}", []),
        ("args.mode == 'b'", f"if args.mode == 'b':\n    {LOOP}", []),
        ("args.fast", f"for epoch in range(3):\n  if args.fast:\n    {LOOP}  else:\n    {LOOP}", []),
        ("args.fast", f"batches = data.batch(16)\nif args.fast:\n    {LOOP}", ["XLA302"]),
        ("flag", f"flag = not flag\nif flag:\n    {LOOP}", ["XLA302"]),
        ("args.fast", f"args.fast = bool(input())\nif args.fast:\n    {LOOP}", ["XLA302"]),
        ("args.mode == 'b'", f"if args.mode == 'c':\n    {LOOP}", ["XLA302"]),
        ("args.fast", f"if flag and args.mode:\n    {LOOP}", ["XLA302"]),
        (
            "args.fast",
            f"for epoch in range(3):\n  if args.fast:\n    {LOOP}  batches = data.batch(16)\n",
            ["XLA302"] * 2,
        ),
    ],
)
def test_what_was_left_is_told_apart(test: str, program: str, expected: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, test, program) == expected
