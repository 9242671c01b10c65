"""Uncalled functions that train step by step in a loop: the loop is of the host, and a target compiles its steps."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

MODEL: Final = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
"""
STEP: Final = """
{decorator}
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)[y > 0])  # of the step
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
"""
LOOP: Final = """
def train(data, best):
    for x, y in data:
        loss = step(x, y)
        {read}
        if loss < best:  # of the loop
            best = loss
        kept = x[y > 0]  # of the loop
"""
BOTH: Final = """
def train(data, best):
    for x, y in data:
        {read}
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x)[y > 0])  # of the step
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        if loss < best:  # of the loop
            best = loss
"""
CALLER: Final = """
def main(data, best):
    train(data, best)
    if tf.reduce_sum(best) > 3.0:  # of the loop
        print(best)
"""
ONCE: Final = """
def once(x, y, best):
    loss = step(x, y)
    if loss < best:  # of what may be compiled
        best = loss
    return best
"""


def marks(text: str) -> set[str]:
    """What stands behind the lines at which a value decides on control flow or a shape."""
    findings = lint_source(text, settings=Settings(target="tpu")).findings
    lines = {one.span.line for one in findings if one.code in ("XLA101", "XLA201")}
    return {text.splitlines()[line - 1].partition("#")[2].strip() for line in lines}


# What the loop does beside that: nothing, or what only eager code can.
READS: Final = ["print(x)", "print(tf.reduce_sum(x).numpy())", "print(f'{tf.reduce_sum(x):.3f}')"]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("decorator", ["", "@tf.function"])
def test_the_loop_is_of_the_host_and_its_step_is_not(decorator: str, read: str) -> None:
    assert marks(MODEL + STEP.format(decorator=decorator) + LOOP.format(read=read)) == {"of the step"}


@pytest.mark.parametrize("read", READS)
def test_a_step_in_the_loop_itself(read: str) -> None:
    assert marks(MODEL + BOTH.format(read=read)) == {"of the step"}


@pytest.mark.parametrize("read", READS)
def test_who_calls_the_loop_is_of_the_host(read: str) -> None:
    assert marks(MODEL + STEP.format(decorator="") + LOOP.format(read=read) + CALLER) == {"of the step"}


def test_a_single_step_may_be_compiled_with_what_calls_it() -> None:
    assert marks(MODEL + STEP.format(decorator="") + ONCE) == {"of the step", "of what may be compiled"}
