"""Lines that a backslash continues, in functions that AutoGraph converts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.target import Given, Target

pytestmark = pytest.mark.compiler

CODE = """\
import tensorflow as tf

def f(x):
    text = \'\'\'a \\
b\'\'\'
    y = x + \\
        x - \\
        1.0
    z = (y +
         x *
         2.0)
    if tf.reduce_sum(z) > 0.0:
        z = z + len(text)
    return tf.unique_with_counts(z).y
"""


def test_the_lines_behind_them_keep_their_numbers(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(CODE)
    target = Target(str(file), "f", given=(Given("x", "f32[4]"),), wanted=(14,), roots=(str(file),))
    seen = worker.ask(target, Plan(gradients=False), Limits()).observations
    assert {spot.line for one in seen for spot in one.spots} == {14}, seen


def test_the_code_is_the_same() -> None:
    from xlalint.probe.worker.backends.joined_lines import joined

    for code in (CODE, "a = '''b \\\nc\nd'''\ne = a\n"):
        made = joined(code)
        assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(code))
        assert len(made.split("\n")) == len(code.split("\n"))
    assert joined("a = 1 + \\\n    2\nb = a\n").split("\n") == ["a = 1 +     2", "", "b = a", ""]
