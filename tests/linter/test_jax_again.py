"""What has JAX compile again, outside of Keras's steps: what is said of it, and how often it compiles."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.compiler.claims import claim
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import load

START: Final = """\
import os

os.environ["KERAS_BACKEND"] = "jax"
from functools import partial

import jax
import keras
import numpy as np

data = np.ones((8, 3), "float32")
x = jax.device_put(data)


class Scaled:
    def __init__(self, by):
        self.by = by

    def run(self, x):
        return x * self.by


def doubled(x):
    return x * 2.0


def shifted(x, by):
    return x + by


def total(x):
    return (x * x).sum()


def added(state, row):
    return state + row, state


@jax.jit
def scaled(x, by):
    return x * by


@partial(jax.jit, static_argnums=1)
def first(x, count):
    return x[:count] * 2.0


"""
COUNT: Final = """
import json, sys, time
import jax
from jax._src import monitoring
compiled = [0]
def heard(event, seconds, **more):
    compiled[0] += event == "/jax/core/compile/backend_compile_duration"
monitoring.register_event_duration_secs_listener(heard)
found = {}
start, programs = json.load(sys.stdin)
for name, program in programs.items():
    jax.clear_caches()
    names = {}
    exec(start, names)
    compiled[0] = 0
    exec(program, names)
    found[name] = compiled[0]
print(json.dumps(found))
"""


class Again(NamedTuple):
    code: str
    said: tuple[tuple[str, str], ...]  # rules, each with the line that it names
    compilations: int


PROGRAMS: Final = {
    "static numbers": Again("for i in range(4):\n    first(x, i + 1)\n", (("XLA306", "    first(x, i + 1)"),), 4),
    "by name": Again("for i in range(4):\n    first(x, count=i + 1)\n", (("XLA306", "    first(x, count=i + 1)"),), 4),
    "traced numbers": Again("for i in range(4):\n    scaled(x, i)\n", (), 1),
    "a number that is counted": Again("i = 0\nwhile i < 4:\n    i += 1\n    scaled(x, by=0.5 * i)\n", (), 1),
    "the same static number": Again("for i in range(4):\n    first(x, 2)\n", (), 1),
    "a last batch": Again(
        "for start in range(0, 8, 3):\n    scaled(data[start : start + 3], 1.0)\n",
        (("XLA302", "    scaled(data[start : start + 3], 1.0)"),),
        2,
    ),
    "pieces": Again(
        "for count in (2, 3, 4):\n    scaled(data[:count], 1.0)\n", (("XLA309", "    scaled(data[:count], 1.0)"),), 3
    ),
    "a list that grows": Again(
        "def grown():\n    rows = []\n    for i in range(4):\n        rows.append(data[i])\n"
        "        scaled(np.stack(rows), 2.0)\n\ngrown()\n",
        (("XLA308", "        scaled(np.stack(rows), 2.0)"),),
        4,
    ),
    "a lambda in a loop": Again(
        "for i in range(4):\n    jax.jit(lambda x: x * 2.0)(x)\n", (("XLA307", "    jax.jit(lambda x: x * 2.0)(x)"),), 4
    ),
    "a function of the module in a loop": Again("for i in range(4):\n    jax.jit(doubled)(x)\n", (), 1),
    "a definition in a loop": Again(
        "for i in range(4):\n    @jax.jit\n    def halved(x):\n        return x / 2.0\n    halved(x)\n",
        (("XLA307", "    @jax.jit"),),
        4,
    ),
    "a partial in a loop": Again(
        "for i in range(4):\n    jax.jit(partial(shifted, by=2.0))(x)\n",
        (("XLA307", "    jax.jit(partial(shifted, by=2.0))(x)"),),
        4,
    ),
    "a gradient in a loop": Again(
        "for i in range(4):\n    jax.jit(jax.grad(total))(x)\n", (("XLA307", "    jax.jit(jax.grad(total))(x)"),), 4
    ),
    "a gradient before a loop": Again("step = jax.jit(jax.grad(total))\nfor i in range(4):\n    step(x)\n", (), 1),
    "a method in a loop": Again(
        "scale = Scaled(2.0)\nfor i in range(4):\n    jax.jit(scale.run)(x)\n",
        (("XLA307", "    jax.jit(scale.run)(x)"),),
        4,
    ),
    "a definition of each call": Again(
        "def predict(x):\n    @jax.jit\n    def halved(x):\n        return x / 2.0\n    return halved(x)\n\n"
        "for i in range(4):\n    predict(x)\n",
        (("XLA307", "    def halved(x):"),),
        4,
    ),
    "a lambda of each call": Again(
        "def predict(x):\n    return jax.jit(lambda x: x * 2.0)(x)\n\nfor i in range(4):\n    predict(x)\n",
        (("XLA307", "    return jax.jit(lambda x: x * 2.0)(x)"),),
        4,
    ),
    "a function of the module in each call": Again(
        "def predict(x):\n    return jax.jit(doubled)(x)\n\nfor i in range(4):\n    predict(x)\n", (), 1
    ),
    "a table of functions": Again(
        "made = {}\nfor name in ('a', 'b'):\n    made[name] = jax.jit(lambda x: x * 2.0)\n"
        "for step in made.values():\n    step(x)\n    step(x)\n",
        (),
        2,
    ),
    "a scan of a lambda in a loop": Again(
        "for i in range(4):\n    jax.lax.scan(lambda c, row: (c + 1.0, row), 0.0, x)\n",
        (("XLA307", "    jax.lax.scan(lambda c, row: (c + 1.0, row), 0.0, x)"),),
        4,
    ),
    "a scan of a function in a loop": Again(
        "zero = np.zeros(3, 'float32')\nfor i in range(4):\n    jax.lax.scan(added, zero, x)\n", (), 1
    ),
    "Keras's loop of a lambda in a loop": Again(
        "for i in range(4):\n    keras.ops.fori_loop(0, 3, lambda at, c: c + 1.0, x)\n",
        (("XLA307", "    keras.ops.fori_loop(0, 3, lambda at, c: c + 1.0, x)"),),
        4,
    ),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_jax_compiles_again_is_told_and_nothing_else_is(program: Again, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(START + program.code)
    report = check([tmp_path], load([tmp_path], cached=False, isolated=True))
    lines = (START + program.code).splitlines()
    assert {(one.code, lines[one.span.line - 1]) for one in report.findings} == set(program.said)
    assert all("on JAX" in one.message and one.severity is Severity.WARNING for one in report.findings)


@pytest.mark.compiler
@claim(COUNT, START, [(one.code, one.compilations) for one in PROGRAMS.values()], sampled=False)
def test_the_programs_compile_as_often_as_said() -> None:
    asked = json.dumps((START, {name: program.code for name, program in PROGRAMS.items()}))
    command = [sys.executable, "-c", COUNT]
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, env={"JAX_PLATFORMS": "cpu"})
    assert json.loads(ran.stdout.splitlines()[-1]) == {name: one.compilations for name, one in PROGRAMS.items()}
