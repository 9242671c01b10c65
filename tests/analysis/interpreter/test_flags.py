"""Flags of functions that many callers pass other constants: they decide what is compiled, however many there are."""

from __future__ import annotations

import pytest

from xlalint import lint_source

PROGRAM = """
import math
import tensorflow as tf

def narrowed(weights, depth, name, actual=False):
    if actual:
        return weights[: math.ceil(depth * 8)]
    return weights

@tf.function(jit_compile=True)
def train(weights, depth):
    total = 0.0
{calls}
    return total
"""


@pytest.mark.parametrize(("flag", "codes"), [("", set()), (", actual=False", set()), (", actual=True", {"XLA106"})])
def test_a_flag_stays_known_behind_many_calls(flag: str, codes: set[str]) -> None:
    calls = "\n".join(
        f"    total += tf.reduce_sum(narrowed(weights, depth, {name!r}{flag}))" for name in "abcdefghijklmnop"
    )
    found = {one.code for one in lint_source(PROGRAM.format(calls=calls)).findings}
    assert found == codes
