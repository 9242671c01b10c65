"""Random programs, by the rewrite that they try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st

from .trial import Input, Program

_HEAD: Final = "import tensorflow as tf\n\n\n@tf.function(jit_compile=True, autograph=False)\n"
_FLOATS: Final = ("float32", "float32", "float64", "float16", "bfloat16")
_INTEGERS: Final = ("int32", "int64")
_SHAPES: Final = ((4,), (3, 2), (1,), (), (0,))


def _function(parameters: str, *lines: str) -> str:
    return _HEAD + f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in lines)


# -- branches ---------------------------------------------------------------------------------------------------------

_SCALARS = st.sampled_from(("tf.reduce_sum({n})", "tf.reduce_mean({n})", "tf.reduce_prod({n})"))
_NAMES = st.sampled_from(("x", "y"))


@st.composite
def _tests(draw: st.DrawFn, integer: bool) -> str:
    """One boolean of the inputs."""
    limit = draw(st.sampled_from(("0", "1", "-2") if integer else ("0.0", "1.0", "-0.5")))
    reduced = draw(_SCALARS).format(n=draw(_NAMES))
    sign = draw(st.sampled_from(("<", ">", "<=", ">=", "==", "!=")))
    forms = (
        f"{reduced} {sign} {limit}",
        f"tf.reduce_any({draw(_NAMES)} {sign} {limit})",
        f"tf.reduce_all({draw(_NAMES)} > {limit})",
        f"{reduced} > {limit} and tf.reduce_any(x > y)",
        f"not {reduced} > {limit} or tf.reduce_sum(y) < {limit}",
        f"{limit} < {reduced} < tf.reduce_sum(y)",
    )
    return draw(st.sampled_from(forms))


@st.composite
def _values(draw: st.DrawFn, integer: bool, names: tuple[str, ...] = ("x", "y"), depth: int = 2) -> str:
    """An expression of the shape and dtype of the inputs."""
    name = draw(st.sampled_from(names))
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return name
    inner = _values(integer, names, depth - 1)
    number = draw(st.sampled_from(("2", "3", "7") if integer else ("2.0", "0.5", "3.0", "0.1", "10.0")))
    forms = [
        f"({draw(inner)}) {draw(st.sampled_from(('+', '-', '*')))} {number}",
        f"{number} {draw(st.sampled_from(('+', '-', '*')))} ({draw(inner)})",
        f"({draw(inner)}) {draw(st.sampled_from(('+', '-', '*')))} ({draw(inner)})",
        f"-({draw(inner)})",
        f"tf.{draw(st.sampled_from(('negative', 'identity', 'zeros_like', 'ones_like', 'abs', 'square')))}({name})",
        f"tf.nn.relu({draw(inner)})",
        f"tf.maximum({draw(inner)}, {draw(inner)})",
        f"({draw(inner)}) - tf.reduce_sum({name})",
    ]
    if not integer:
        unary = ("exp", "sqrt", "tanh", "math.log", "sigmoid", "sin", "math.reciprocal")
        forms += [
            f"({draw(inner)}) / {number}",
            f"({draw(inner)}) / ({draw(inner)})",
            f"tf.{draw(st.sampled_from(unary))}({draw(inner)})",
        ]
    return draw(st.sampled_from(forms))


def _indented(*lines: str) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def _branch_lines(draw: st.DrawFn, integer: bool) -> list[str]:
    """A branch on a tensor that assigns or returns."""
    test, other = draw(_tests(integer)), draw(_tests(integer))
    value = draw(_values(integer))
    second, third = draw(_values(integer)), draw(_values(integer))
    end = ["return x, y"]
    match draw(st.integers(0, 8)):
        case 0:
            return [f"if {test}:", *_indented(f"x = {value}"), *end]
        case 1:
            return [f"if {test}:", *_indented(f"x = {value}"), "else:", *_indented(f"x = {second}"), *end]
        case 2:
            chain = [f"if {test}:", *_indented(f"x = {value}"), f"elif {other}:", *_indented(f"x = {second}")]
            return [*chain, "else:", *_indented(f"x = {third}"), *end]
        case 3:
            return [f"z = {value} if {test} else {second}", "return z"]
        case 4:
            return [f"if {test}:", *_indented(f"return {value}"), f"return {second}"]
        case 5:
            return [f"if {test}:", *_indented(f"x, y = {value}, {second}"), *end]
        case 6:
            body = (f"z = {value}", f"x = z + {second}", "y = x - z")
            return [f"if {test}:", *_indented(*body), "else:", *_indented(f"y = {third}"), *end]
        case 7:
            sign = draw(st.sampled_from("+-*"))
            return [f"if {test}:", *_indented(f"x {sign}= {value}"), *end]
        case _:
            inner = [f"if {other}:", *_indented(f"x = {second}")]
            return [f"if {test}:", *_indented(f"y = {value}", *inner), *end]


@st.composite
def branches(draw: st.DrawFn) -> Program:
    """Branches on tensors of all forms."""
    integer = draw(st.integers(0, 3)) == 0
    dtype = draw(st.sampled_from(_INTEGERS if integer else _FLOATS))
    shape = draw(st.sampled_from(_SHAPES))
    code = _function("x: tf.Tensor, y: tf.Tensor", *draw(_branch_lines(integer)))
    return Program(code, (Input(dtype, shape), Input(dtype, shape)), "XLA101")


@st.composite
def indicators(draw: st.DrawFn) -> Program:
    """A branch that scales or shifts by a constant."""
    number = draw(st.sampled_from(("2.0", "3.0", "0.5", "1.5", "0.1", "7.0", "100.0")))
    sign = draw(st.sampled_from("+-*/"))
    change = draw(st.sampled_from((f"x = x {sign} {number}", f"x {sign}= {number}")))
    lines = [f"if {draw(_tests(integer=False))}:", *_indented(change), "return x"]
    dtype, shape = draw(st.sampled_from(_FLOATS)), draw(st.sampled_from(_SHAPES))
    code = _function("x: tf.Tensor, y: tf.Tensor", *lines)
    return Program(code, (Input(dtype, shape), Input(dtype, shape)), "XLA101")


# -- loops ------------------------------------------------------------------------------------------------------------


@st.composite
def while_loops(draw: st.DrawFn) -> Program:
    """A `while` on a tensor that counts up to a number, or to a tensor's: special values alone need not end it."""
    change = draw(st.sampled_from(("x * 1.5", "x + y", "x * 0.5 - y", "tf.nn.relu(x) + 1.0", "tf.abs(x) * 2.0")))
    limit = draw(st.sampled_from(("4", "most")))
    test = draw(st.sampled_from(("tf.reduce_sum(tf.abs(x)) < 50.0", "tf.reduce_prod(x) < 8.0")))
    body = draw(st.sampled_from(([f"x = {change}"], [f"z = {change}", "x = z"])))
    count = draw(st.sampled_from(("steps += 1", "steps = steps + 2")))
    lines = ["steps, most = tf.constant(0), tf.constant(5)", f"while steps < {limit} and {test}:"]
    code = _function("x: tf.Tensor, y: tf.Tensor", *lines, *_indented(*body, count), "return x, y, steps")
    dtype, shape = draw(st.sampled_from(("float32", "float64"))), draw(st.sampled_from(_SHAPES[:3]))
    return Program(code, (Input(dtype, shape), Input(dtype, shape)), "XLA102", {"LIMIT": "40"})


PROGRAMS: Final[Mapping[str, st.SearchStrategy[Program]]] = {
    "indicator arithmetic": indicators(),
    "tf.where and tf.cond": branches(),
    "tf.while_loop": while_loops(),
}
