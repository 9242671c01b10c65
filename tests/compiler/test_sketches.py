"""The rewrites that helps show compute what the original computes, and compile without AutoGraph."""

from __future__ import annotations

from textwrap import indent

import libcst as cst
import pytest

from tests.compiler import measure
from xlalint.fixes import sketch
from xlalint.rule import Compiles

BRANCHES = {
    "indicator": "if tf.reduce_sum(x) > 1.0:\n    x = x / 2.0",
    "indicator of another factor": "if tf.reduce_sum(x) > 1.0:\n    x *= 3.0",
    "indicator of a sum": "if tf.reduce_sum(x) > 1.0:\n    x -= 4.5",
    "one name": "if tf.reduce_sum(x) > 1.0:\n    x = x - y",
    "an operator of low precedence": "if tf.reduce_sum(x) > 1.0:\n    x -= y + 1.0",
    "costly": "if tf.reduce_sum(x) > 1.0:\n    x = tf.exp(tf.sin(x))",
    "if and else": "if tf.reduce_sum(x) > 0.0: x = y\nelse: x = -y",
    "elif": "if x[0] > 1.0:\n    x = y\nelif x[0] > 0.0:\n    x = y * 2.0\nelse:\n    x = -y",
    "several names": "if tf.reduce_sum(x) > 0.0:\n    x = x * 2.0\n    y = x + y\nelse:\n    x, y = y, x",
    "several names, no else": "if tf.reduce_sum(x) > 0.0:\n    x = x * 2.0\n    y = x + y",
    "an effect": "if tf.reduce_sum(x) > 0.0:\n    state.assign(x)",
    "and, not": "if tf.reduce_sum(x) > 0.0 and not (x[0] > 1.0 or x[1] > 1.0):\n    x = y",
    "a chain": "if -1.0 < x[0] <= x[1] < 1.5:\n    x = y",
    "in": "if tf.cast(x[0], tf.int32) in [0, 1]:\n    x = y",
    "not in": "if tf.cast(x[0], tf.int32) not in (0, 1):\n    x = y",
}
WHILES = {
    "one name": "while tf.reduce_sum(tf.abs(x)) < 50.0:\n    x = x * 1.5",
    "several": "i = 0\nwhile i < 4 and tf.reduce_sum(tf.abs(x)) < 50.0:\n    x = x * 1.5\n    i += 1\ny = y * float(i)",
}
EXPRESSIONS = {
    "ternary": "x if tf.reduce_sum(x) > 0.0 else -y",
    "costly ternary": "tf.exp(tf.sin(x)) if tf.reduce_sum(x) > 0.0 else y",
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
        case cst.IfExp():
            return sketch.branch(node)
        case cst.Call(func=cst.Name("max" | "any" | "all" as name)):
            return sketch.builtin_over(name, node)
        case cst.Call(func=cst.Name("sorted"), args=[argument]):
            return sketch.iteration("sorted", argument.value)
        case cst.Subscript():
            return sketch.host_read("list index", node)
        case cst.Call(func=cst.Attribute(attr=cst.Name("numpy"))):
            return sketch.host_read(".numpy", node)
        case cst.Call(func=function):
            return sketch.host_read(sketch.code_of(function), node)
        case _:
            return None


@pytest.mark.compiler
@pytest.mark.parametrize("before", BRANCHES.values(), ids=BRANCHES.keys())
def test_branch(before: str) -> None:
    after = sketch.branch(cst.parse_statement(before))
    assert after is not None
    agrees(before, after)


@pytest.mark.compiler
@pytest.mark.parametrize("before", WHILES.values(), ids=WHILES.keys())
def test_while(before: str) -> None:
    lines = cst.parse_module(before).body
    (at,) = (at for at, line in enumerate(lines) if isinstance(line, cst.While))
    rewritten = sketch.while_loop(lines[at])
    assert rewritten is not None
    parts = [sketch.code_of(line) for line in lines]
    parts[at] = rewritten.replace("LIMIT", "50")
    agrees(before, "\n".join(parts).replace("float(i)", "tf.cast(i, tf.float32)"))


@pytest.mark.compiler
@pytest.mark.parametrize("before", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_expression(before: str) -> None:
    after = expression_sketch(cst.parse_expression(before))
    assert after is not None
    agrees(f"x = tf.cast({before}, tf.float32)", f"x = tf.cast(({after.partition('  #')[0]}), tf.float32)")


def test_canonical_snippet() -> None:
    """The documented fragment and its documented rewrite."""
    fragment = "if tf.reduce_sum(tensor) > 10:\n    tensor = tensor / 2.0"
    rewritten = "indicator = tf.cast(tf.reduce_sum(tensor) > 10, tf.float32)\ntensor = tensor / (1.0 + indicator)"
    assert sketch.branch(cst.parse_statement(fragment)) == rewritten


@pytest.mark.parametrize("line", ["break", "continue", "return x", "self.x = x"])
def test_a_loop_that_is_left_or_sets_attributes_has_no_sketch(line: str) -> None:
    code = f"def f(x):\n    while x > 0.0:\n        x = x - 1.0\n        if x < 3.0: {line}\n"
    function = cst.ensure_type(cst.parse_module(code).body[0], cst.FunctionDef)
    assert sketch.while_loop(function.body.body[0]) is None


def test_a_branch_that_raises_becomes_an_assertion() -> None:
    rewritten = sketch.branch(cst.parse_statement("if tf.reduce_min(x) < 0.0: raise ValueError('negative')"))
    assert rewritten is not None
    assert rewritten.startswith("tf.debugging.")
    assert "XLA" in rewritten
