"""Functions that a library calls inside of what AutoGraph converts: which of them it converts as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compiler.claims import claim
from xlalint.linter.rule import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import functools
import keras
import tensorflow as tf

X = tf.ones([3, 2])
{decorator}
def given({parameters}):
    x = {x}
    if tf.reduce_sum(x) > 1.0:  # asked
        x = x * 2.0
    return {result}

class Holder:
    method = staticmethod(given)

def maker():
    def made(x):
        if tf.reduce_sum(x) > 1.0:
            x = x * 2.0
        return x
    return made

@tf.function(jit_compile=True)
def f(x):
    return {call}

f(X)
"""
ONE: Final = {"parameters": "x", "x": "x", "result": "x", "decorator": ""}
NONE: Final = ONE | {"parameters": "", "x": "X"}
TWO: Final = ONE | {"parameters": "x, y"}
LOOP: Final = ONE | {"parameters": "i, x", "result": "i + 1, x"}
SCAN: Final = TWO | {"result": "x, x"}
GRADIENT: Final = ONE | {"decorator": "@tf.custom_gradient", "result": "x, lambda d: d"}
PLAINLY: Final = {
    "tf.cond(x[0, 0] > 0.0, given, given)": NONE,
    "tf.case([(x[0, 0] > 0.0, given)], default=given)": NONE,
    "tf.switch_case(tf.cast(x[0, 0], tf.int32), [given, given])": NONE,
    "tf.while_loop(lambda i, x: i < 3, given, (0, x))": LOOP,
    "tf.scan(given, x)": TWO,
    "tf.foldl(given, x)": TWO,
    "tf.vectorized_map(given, x)": ONE,
    "tf.nest.map_structure(given, [x, x])": ONE,
    "tf.nest.map_structure(Holder.method, [x, x])": ONE,
    "tf.recompute_grad(given)(x)": ONE,
    "tf.grad_pass_through(given)(x)": ONE,
    "given(x)": GRADIENT,
    "keras.ops.cond(x[0, 0] > 0.0, given, given)": NONE,
    "keras.ops.switch(tf.cast(x[0, 0], 'int32'), [given, given], x)": ONE,
    "keras.ops.while_loop(lambda i, x: i < 3, given, (0, x))": LOOP,
    "keras.ops.fori_loop(0, 3, given, x)": TWO | {"result": "y", "x": "y"},
    "keras.ops.scan(given, x[0], x)": SCAN,
    "keras.ops.map(given, x)": ONE,
    "keras.ops.vectorized_map(given, x)": ONE,
    "list(map(given, [x]))": ONE,
}
CONVERTED: Final = {
    "tf.map_fn(given, x)": ONE,
    "tf.cond(x[0, 0] > 0.0, lambda: given(x), lambda: x)": ONE,
    "tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, given(x)), (0, x))": ONE,
    "tf.nest.map_structure(lambda x: given(x), [x, x])": ONE,
    "tf.nest.map_structure(tf.function(given), [x, x])": ONE,
    "tf.vectorized_map(tf.autograph.to_graph(given), x)": ONE,
    "tf.recompute_grad(maker())(x) + given(x)": ONE,
    "functools.partial(given)(x)": ONE,
    "tf.distribute.get_strategy().run(given, args=(x,))": ONE,
}
FAILS: Final = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"


def _program(call: str, parts: dict[str, str]) -> str:
    return PROGRAM.format(call=call, **parts)


def _grave(folder: Path, program: str) -> bool:
    (folder / "main.py").write_text(program, encoding="utf-8")
    report = check([folder], Settings())
    assert report.problems == ()
    line = program[: program.index("  # asked")].count("\n") + 1
    found = [finding for finding in report.findings if finding.code == "XLA101" and finding.span.line == line]
    assert found
    return max(finding.severity for finding in found) is Severity.ERROR


@pytest.mark.parametrize(("call", "parts"), PLAINLY.items(), ids=PLAINLY)
def test_what_a_library_calls_is_not_converted(tmp_path: Path, call: str, parts: dict[str, str]) -> None:
    assert _grave(tmp_path, _program(call, parts))


@pytest.mark.parametrize(("call", "parts"), CONVERTED.items(), ids=CONVERTED)
def test_what_converted_code_makes_or_calls_is_converted(tmp_path: Path, call: str, parts: dict[str, str]) -> None:
    assert not _grave(tmp_path, _program(call, parts))


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("call", "parts", "fails"),
    [
        pytest.param(call, parts, fails, id=call, marks=claim(_program(call, parts), fails))
        for fails, calls in ((True, PLAINLY), (False, CONVERTED))
        for call, parts in calls.items()
    ],
)
def test_the_compiler_agrees(tmp_path: Path, call: str, parts: dict[str, str], fails: bool) -> None:
    program = tmp_path / "main.py"
    program.write_text(_program(call, parts), encoding="utf-8")
    command = [sys.executable, str(program)]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert (run.returncode != 0) is fails, run.stderr
    assert (FAILS in run.stderr) is fails


@pytest.mark.parametrize(
    ("compiled", "before", "found"),
    [
        ("", "", []),
        ("@tf.function(jit_compile=True)", "", []),
        ("@tf.function(jit_compile=True)", "boxes = tf.slice(boxes, [0, first, 0], [1, 9, 4])", ["XLA206"]),
    ],
)
def test_what_a_loop_passes_a_method_is_its_variable(
    tmp_path: Path, compiled: str, before: str, found: list[str]
) -> None:
    program = f"""\
import tensorflow as tf

class Search:
    def __call__(self, boxes, first):
        {before}
        total, number = tf.zeros([]), tf.constant(0)
        return tf.while_loop(self.goes_on, self.body, [boxes, total, number])[1]

    def goes_on(self, boxes, total, number):
        return number < 10

    def body(self, boxes, total, number):
        part = tf.slice(boxes, [0, number, 0], [1, 2, 4])
        return boxes, total + tf.reduce_sum(part), number + 1

search = Search()

{compiled}
def run(boxes, first):
    return search(boxes, tf.cast(first, tf.int32))

@tf.function(jit_compile=True)
def other(x):
    return x + 1
"""
    (tmp_path / "main.py").write_text(program, encoding="utf-8")
    codes = [finding.code for finding in check([tmp_path], Settings()).findings]
    assert [code for code in codes if code == "XLA206"] == found
