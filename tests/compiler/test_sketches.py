"""The rewrites that helps show compute what the original computes, and compile without AutoGraph."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.compiler import measure
from xlalint.fixes import iteration, logic, reads
from xlalint.fixes.syntax import plain
from xlalint.linter.rule import Compiles
from xlalint.syntax import nodes as cst
from xlalint.syntax.build import parse_expression

EXPRESSIONS = {
    "max": "max(x[0], y[0], 0.5)",
    "max over": "max(x)",
    "any over": "any(x > 1.0)",
    "all of": "all([x[0] > 0.0, x[1] > 0.0])",
    "any of a generator": "any(value > 1.0 for value in [x[0], x[1]])",
    "sorted": "sorted(x)",
    "float": "float(x[0])",
    "np.clip": "np.clip(x, -1.0, 1.0)",
    "np.sum": "np.sum(x, axis=0)",
    "np.cbrt": "np.cbrt(x)",
    "math.floor": "math.floor(x[0])",
    "index": "[x, y, x + y, x * y][tf.argmax(x)]",
    "len": "len(x)",
    "numpy": "(x + y).numpy()",
}

HARNESS = """
import math
import numpy as np

state = tf.Variable([0.0, 0.0, 0.0, 0.0])

@tf.function(jit_compile=True, autograph=False)
def f(x, y):
    if tf.executing_eagerly():
{before}
    else:
{after}
    return x, y, state + 0.0
"""


def agrees(before: str, after: str) -> None:
    code = HARNESS.format(before=indent(before, " " * 8), after=indent(after, " " * 8))
    measured = measure(code, ("f32[4]", "f32[4]"))
    assert measured.matches(Compiles()), f"{measured}\n{code}"


def expression_sketch(node: cst.BaseExpression) -> str | None:
    """What the rules show for an expression, by its form."""
    match node:
        case cst.Call(func=cst.Name("max" | "any" | "all" as name)):
            return logic.over(name, node)
        case cst.Call(func=cst.Name("sorted"), args=[argument]):
            return iteration.iteration("sorted", argument.value)
        case cst.Subscript():
            return reads.host_read("list index", node)
        case cst.Call(func=cst.Attribute(attr=cst.Name("numpy"))):
            return reads.host_read(".numpy", node)
        case cst.Call(func=function):
            return reads.host_read(plain(function), node)
        case _:
            return None


@pytest.mark.compiler
@pytest.mark.parametrize("before", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_expression(before: str) -> None:
    after = expression_sketch(parse_expression(before))
    assert after is not None
    agrees(f"x = tf.cast({before}, tf.float32)", f"x = tf.cast(({after.partition('  #')[0]}), tf.float32)")
