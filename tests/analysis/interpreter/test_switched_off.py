"""What a constant of the source turns off, another run of the program does: it is checked, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM = """
import tensorflow as tf

TRAIN = {value}
MODE = "predict"

@tf.function(jit_compile=True)
def step(x, rate):
    return x * rate

rate = tf.constant(0.1)

def main():
    size = 8
    if {test}:
        for epoch in range(10):
            step(tf.ones([8]), 0.1 / (epoch + 1))
    else:
        print("nothing")

main()
"""


def _codes(value: str, test: str) -> set[str]:
    return {one.code for one in lint_source(PROGRAM.format(value=value, test=test)).findings}


@pytest.mark.parametrize("test", ["TRAIN", "MODE == 'train'", "TRAIN and MODE == 'predict'", "not TRAIN is True"])
@pytest.mark.parametrize("value", ["True", "False"])
def test_both_sides_of_a_switch_are_checked(value: str, test: str) -> None:
    assert _codes(value, test) == {"XLA306"}


@pytest.mark.parametrize("test", ["False", "0", "size > 9"])
def test_what_can_never_run_is_not(test: str) -> None:
    assert _codes("False", test) == set()


def test_a_switch_of_another_module(tmp_path: Path) -> None:
    (tmp_path / "config.py").write_text("train = False\n", encoding="utf-8")
    program = PROGRAM.format(value="None", test="config.train").replace("\nTRAIN = None\n", "\nimport config\n")
    (tmp_path / "run.py").write_text(program, encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings] == ["XLA306"]


def test_nothing_is_left_behind() -> None:
    source = """
import tensorflow as tf

SMALL = False
size = 8
if SMALL:
    size = None

@tf.function(jit_compile=True)
def total(x):
    return tf.reduce_sum(tf.ones([size]) * x)

def rate():
    if SMALL:
        return 0.5
    return tf.constant(0.1)

for _ in range(10):
    total(rate())
"""
    assert not lint_source(source).findings


def test_what_is_off_decides_nothing_for_the_whole_program() -> None:
    source = """
import tensorflow as tf

DEBUG = False
if DEBUG:
    tf.config.run_functions_eagerly(True)

@tf.function(jit_compile=True)
def f(x):
    return x.numpy()

f(tf.ones([2]))
"""
    assert [(one.code, one.severity) for one in lint_source(source).findings] == [("XLA106", Severity.ERROR)]


def test_compiled_code_is_what_the_constant_says() -> None:
    source = """
import tensorflow as tf

DEBUG = False

@tf.function(jit_compile=True)
def f(x):
    if DEBUG:
        print(x.numpy())
    return x
"""
    assert not lint_source(source).findings
