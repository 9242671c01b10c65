"""Python numbers in what a compiled function is passed: each is a part of the trace."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import run_program
from xlalint.linter.rule import Runs
from xlalint.linter.run import check
from xlalint.settings.config import Settings

HEAD: Final = """\
import tensorflow as tf

x = tf.ones([3])

@tf.function(jit_compile=True)
def step(given):
    return {taken}

"""
DICT: Final = HEAD.format(taken='given["x"] * given["number"]')
PAIR: Final = HEAD.format(taken="given[0] * given[1]")
# The code, what is marked, how the message begins, and how often XLA compiles.
PROGRAMS: Final = {
    "a dict": (DICT + 'for i in range(4):\n    step({"x": x, "number": i})\n', "i", "`i` is", 4),
    "a dict by names": (DICT + "for i in range(4):\n    step(dict(x=x, number=i + 1))\n", "i + 1", "`i + 1` is", 4),
    "a pair": (PAIR + "for i in range(4):\n    step((x, i))\n", "i", "`i` is", 4),
    "a list": (PAIR + "for i in range(4):\n    step([x, 0.5 * i])\n", "0.5 * i", "`0.5 * i` is", 4),
    "a dict by its name": (
        DICT + 'for i in range(4):\n    given = {"x": x, "number": i}\n    step(given)\n',
        "given",
        "`given` holds",
        4,
    ),
    "a tensor in a dict": (
        DICT + 'for i in range(4):\n    step({"x": x, "number": tf.constant(i * 1.0)})\n',
        "",
        "",
        1,
    ),
    "one number": (DICT + 'for i in range(4):\n    step({"x": x * i, "number": 2.0})\n', "", "", 1),
    "a list of tensors": (PAIR + "for i in range(4):\n    step([x, x])\n", "", "", 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_number_in_an_argument(tmp_path: Path, name: str) -> None:
    code, marked, begins, _ = PROGRAMS[name]
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings()).findings if one.code == "XLA306"]
    lines = code.splitlines()
    texts = [lines[one.span.line - 1][one.span.column - 1 : one.span.end_column - 1] for one in found]
    assert texts == ([marked] if marked else [])
    assert all(one.message.startswith(begins) for one in found)


@pytest.mark.compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_how_often_it_is_compiled(name: str) -> None:
    code, _, _, times = PROGRAMS[name]
    measured = run_program(code)
    assert measured.matches(Runs(times)), measured
