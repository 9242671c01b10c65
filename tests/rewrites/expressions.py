"""Random programs whose expressions are rewritten: Python's logic, the larger of two, positions from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st

from .trial import Input, Program, function

_DTYPES: Final = ("float32", "float64", "float16", "bfloat16", "int32", "int64")
_SHAPES: Final = ((4,), (3, 2), (), (0,))
_SIGNS: Final = st.sampled_from(("<", ">", "<=", ">=", "==", "!="))


@st.composite
def _truths(draw: st.DrawFn, integer: bool, depth: int = 2) -> str:
    """One boolean of the tensors `x` and `y` and the scalars `a` and `b`."""
    number = "1" if integer else "0.5"
    if depth and draw(st.integers(0, 2)):
        left, right = draw(_truths(integer, depth - 1)), draw(_truths(integer, depth - 1))
        return draw(st.sampled_from((f"({left} and {right})", f"({left} or {right})", f"(not {left})")))
    reduced = f"tf.reduce_{draw(st.sampled_from(('sum', 'max', 'min', 'prod')))}({draw(st.sampled_from('xy'))})"
    return draw(
        st.sampled_from(
            (
                f"a {draw(_SIGNS)} b",
                f"a + {number} {draw(_SIGNS)} {reduced}",
                f"tf.reduce_any(x {draw(_SIGNS)} y)",
                f"tf.reduce_all(x - y {draw(_SIGNS)} {number})",
                f"(-{number} {draw(_SIGNS)} {reduced} {draw(_SIGNS)} b)",
                f"tf.size(x) {draw(_SIGNS)} 3",
            )
        )
    )


@st.composite
def logic(draw: st.DrawFn) -> Program:
    """`and`, `or`, `not` and chains of comparisons, as arguments and by a name."""
    dtype, shape = draw(st.sampled_from(_DTYPES)), draw(st.sampled_from(_SHAPES))
    integer = dtype.startswith("int")
    first, second = draw(_truths(integer)), draw(_truths(integer))
    lines = draw(
        st.sampled_from(
            (
                [f"return tf.where(not ({first} and {second}), x, y)"],
                [f"both = {first} and {second}", "return tf.cast(both, x.dtype) * x, both"],
                [f"either = tf.math.logical_xor({first} or {second}, {second})", "return either"],
                [f"low = -1 < b - a {draw(_SIGNS)} a", f"return low, tf.where({first} or {second}, x, y - x)"],
            )
        )
    )
    lines = ["a, b = tf.reduce_sum(x), tf.reduce_max(y)", *lines]
    return Program(function("x: tf.Tensor, y: tf.Tensor", *lines), (Input(dtype, shape), Input(dtype, shape)), "XLA104")


@st.composite
def larger(draw: st.DrawFn) -> Program:
    """`max` and `min` of integers."""
    dtype, shape = draw(st.sampled_from(("int32", "int64"))), draw(st.sampled_from(_SHAPES))
    name = draw(st.sampled_from(("max", "min")))
    parts = ["tf.reduce_sum(x)", "tf.reduce_max(y)", "tf.reduce_prod(x)", "-tf.reduce_sum(y)"]
    chosen = ", ".join(draw(st.permutations(parts))[: draw(st.integers(2, 4))])
    cast = f"x, y = tf.cast(x, tf.{dtype}), tf.cast(y, tf.{dtype})"  # so that the linter knows them for integers
    lines = [cast, f"most = {name}({chosen})", "return most, x * most"]
    return Program(function("x: tf.Tensor, y: tf.Tensor", *lines), (Input(dtype, shape), Input(dtype, shape)), "XLA104")


@st.composite
def positions(draw: st.DrawFn) -> Program:
    """Subscripts at a position from data, alone or among whole dimensions."""
    shape = draw(st.sampled_from(((4,), (4, 3), (4, 3, 2))))
    axis = draw(st.integers(0, len(shape) - 1))
    text = draw(
        st.sampled_from(
            (
                f"tf.{draw(st.sampled_from(('argmax', 'argmin', 'math.argmax')))}(s)",
                "tf.cast(tf.argmax(s), tf.int32)",
                "tf.argmin(s, output_type=tf.int32)",
                "tf.maximum(i - 1, 0)",
                f"tf.clip_by_value(i - 1, 0, {shape[axis] - 1})",
                "i",
            )
        )
    )
    window = text == "i" and draw(st.booleans())
    item = "i : i + 2" if window else text
    index = ", ".join([*([":"] * axis), item, *([":"] * draw(st.integers(0, len(shape) - 1 - axis)))])
    if axis == len(shape) - 1 and draw(st.booleans()):
        index = f"..., {item}"
    dtype = draw(st.sampled_from(_DTYPES))
    lines = [f"return x[{index}]"]
    if not window and draw(st.booleans()):
        lines = [f"at = {text}", f"return x[{index.replace(text, 'at')}]"]
    inputs = (
        Input(dtype, shape),
        Input(draw(st.sampled_from(("float32", "int32"))), (shape[axis],)),
        Input(draw(st.sampled_from(("int32", "int64"))), (), 0, shape[axis] - 1 - window),
    )
    return Program(function("x: tf.Tensor, s: tf.Tensor, i: tf.Tensor", *lines), inputs, "XLA206")


@st.composite
def sizes(draw: st.DrawFn) -> Program:
    """Tests of sizes, and loops over them."""
    shape = draw(st.sampled_from(((4,), (1, 3), (3, 2), (2, 2, 2))))
    size = st.sampled_from(("tf.shape(x)[0]", "tf.shape(x)[-1]", "tf.rank(x)", "len(tf.shape(x))", "2", "3"))
    sign = st.sampled_from(("<", ">", "<=", ">=", "==", "!="))
    word = st.sampled_from(("greater", "less_equal", "equal", "not_equal", "math.less"))

    def truth() -> str:
        number = f"{draw(size)} {draw(st.sampled_from(('+', '-', '*', '//', '%')))} {draw(size)}"
        return draw(
            st.sampled_from(
                (
                    f"tf.shape(x)[0] {draw(sign)} {draw(size)}",
                    f"{number} {draw(sign)} ({draw(size)} - 1) * tf.rank(x)",
                    f"tf.{draw(word)}(tf.shape(x)[-1], {draw(size)})",
                    f"1 {draw(sign)} tf.rank(x) {draw(sign)} {draw(size)}",
                )
            )
        )

    first, second = truth(), truth()
    test = draw(st.sampled_from((first, f"{first} and {second}", f"not {first} or {second}", f"not ({first})")))
    branch = [f"if {test}:", "    x = x * 2", "else:", "    x = -x"]
    read = ["n = len(x) * int(tf.shape(x)[-1]) + len(tf.shape(x))", "return x * n, n"]
    loop = ["for i in tf.range(tf.shape(x)[0] - 1):", "    x = x * x[i]", "return x"]
    lines = draw(st.sampled_from(([*branch, "return x"], [f"return x * 3 if {test} else x + 1"], loop, read)))
    dtype = draw(st.sampled_from(_DTYPES))
    rule = "XLA103" if lines is loop else "XLA106" if lines is read else "XLA101"
    return Program(function("x: tf.Tensor", *lines), (Input(dtype, shape),), rule)


EXPRESSIONS: Final[Mapping[str, st.SearchStrategy[Program]]] = {
    "tf.logical_and, tf.logical_or, tf.logical_not": logic(),
    "tf.maximum and tf.minimum": larger(),
    "tf.gather": positions(),
    "sizes in Python": sizes(),
}
