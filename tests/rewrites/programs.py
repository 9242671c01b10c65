"""Random programs, by the rewrite that they try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st

from .expressions import EXPRESSIONS
from .flows import flows
from .trial import FINITE, KINDS, Input, Program
from .trial import function as _function

_FLOATS: Final = ("float32", "float32", "float64", "float16", "bfloat16")
_INTEGERS: Final = ("int32", "int64")
_SHAPES: Final = ((4,), (3, 2), (1,), (), (0,))


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


@st.composite
def unpackings(draw: st.DrawFn) -> Program:
    """The parts of a tensor, unpacked into names."""
    rows = draw(st.integers(1, 3))
    shape = (rows, *draw(st.sampled_from(((), (2,), (2, 3), (0,)))))
    names = ", ".join("abc"[:rows]) + ("," if rows == 1 else "")
    value = draw(st.sampled_from(("x", "-x", "tf.abs(x)", "x * 2 + x")))
    code = _function("x: tf.Tensor", f"{names} = {value}", f"return {' + '.join('abc'[:rows])}, a")
    return Program(code, (Input(draw(st.sampled_from((*_FLOATS, *_INTEGERS))), shape),), "XLA103")


@st.composite
def collections(draw: st.DrawFn) -> Program:
    """A list that a loop of tensors fills."""
    value = draw(st.sampled_from(("x[i] * 2.0", "x[i] - y", "tf.reduce_sum(x) * tf.cast(i, x.dtype)", "x[i]")))
    body = draw(st.sampled_from(([f"rows.append({value})"], [f"z = {value}", "rows.append(z * z)"])))
    lines = ["rows = []", f"for i in tf.range({draw(st.integers(1, 4))}):", *_indented(*body)]
    code = _function("x: tf.Tensor, y: tf.Tensor", *lines, "return tf.stack(rows)")
    code = code.replace(", autograph=False", "")
    dtype, shape = draw(st.sampled_from(_FLOATS)), draw(st.sampled_from(((4,), (4, 3), (5, 2))))
    return Program(code, (Input(dtype, shape), Input(dtype, shape[1:])), "XLA107")


@st.composite
def arrays(draw: st.DrawFn) -> Program:
    """A `tf.TensorArray` that a loop lets grow."""
    loop = draw(st.sampled_from(("range", "tf.range")))
    steps = draw(st.sampled_from(("1", "3", "4", "x.shape[0]")))
    begins = draw(st.sampled_from(("size=0, ", "0, ", "size=1, " if steps != "x.shape[0]" else "size=0, ")))
    value = draw(st.sampled_from(("x[i]", "x[i] * x[i]", "-x[0]")))
    last = draw(st.sampled_from(("out.stack()", "out.stack() * 2", "out.read(0)")))
    lines = [f"out = tf.TensorArray(x.dtype, {begins}dynamic_size=True)", f"for i in {loop}({steps}):"]
    lines += _indented(f"out = out.write(i, {value})")
    code = _function("x: tf.Tensor", *lines, f"return {last}").replace(", autograph=False", "")
    shape = draw(st.sampled_from(((4,), (4, 3))))
    # XLA compiles no gradient of a loop of tensors that AutoGraph made.
    inputs = (Input(draw(st.sampled_from(_FLOATS)), shape),)
    kinds = FINITE if "read" in last else KINDS  # an infinite element that is not read spoils its gradient
    return Program(code, inputs, "XLA204", kinds=kinds, gradients=loop == "range")


# -- masks ------------------------------------------------------------------------------------------------------------

_FLOATING_ONLY: Final = ("math.reduce_std", "math.reduce_variance", "reduce_logsumexp", "reduce_mean")
_NUMERIC: Final = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "math.count_nonzero")


def _selected(form: int, x: str, mask: str) -> str:
    """The selection, in one of its spellings."""
    return (f"{x}[{mask}]", f"tf.boolean_mask({x}, {mask})")[form]


@st.composite
def masked_reductions(draw: st.DrawFn) -> Program:
    """A reduction of what a mask selects, the mask of all dimensions or of the first."""
    integer = draw(st.integers(0, 3)) == 0
    name = draw(st.sampled_from(_NUMERIC if integer else (*_NUMERIC, *_FLOATING_ONLY, *_FLOATING_ONLY)))
    rows = draw(st.booleans())
    shape = draw(st.sampled_from(((3, 2), (4, 3), (0, 2)) if rows else ((4,), (3, 2), (0,), (1,))))
    dtype = draw(st.sampled_from(_INTEGERS if integer else _FLOATS))
    limit = draw(st.sampled_from(("0", "1") if integer else ("0.0", "0.6", "-0.6")))
    mask = f"y > {limit}" if rows else draw(st.sampled_from((f"x > {limit}", f"x <= {limit}", f"x != {limit}")))
    axis = draw(st.sampled_from(("", ", axis=0", "", ", 0")))
    lines = [f"x = tf.reshape(x, {list(shape)})", f"y = tf.reshape(y, [{shape[0]}])"]
    selected = _selected(draw(st.integers(0, 1)), "x", mask)
    if draw(st.booleans()):
        lines.append(f"mask = {mask}")
        selected = _selected(draw(st.integers(0, 1)), "x", "mask")
    if draw(st.booleans()):
        lines.append(f"kept = {selected}")
        selected = "kept"
    code = _function("x: tf.Tensor, y: tf.Tensor", *lines, f"return tf.{name}({selected}{axis}) * 2")
    # XLA's maximum passes NaN over, and the gradient is another where everything selected is infinite.
    kinds = FINITE if name in ("reduce_max", "reduce_min") else KINDS
    return Program(code, (Input(dtype, shape), Input(dtype, shape[:1])), "XLA201", kinds=kinds)


@st.composite
def gathered_reductions(draw: st.DrawFn) -> Program:
    """A reduction of what is gathered at the positions where a condition holds."""
    name = draw(st.sampled_from(("reduce_sum", "reduce_mean", "reduce_prod", "reduce_std", "reduce_logsumexp")))
    shape = draw(st.sampled_from(((4,), (0,), (3,), (3, 2))))
    mask = draw(st.sampled_from(("x > 0.0", "x <= 0.6", "x != 0.0")))
    form = draw(st.integers(0, 1)) if len(shape) == 1 else 0
    selected = (f"tf.gather_nd(x, tf.where({mask}))", f"tf.gather(x, tf.where({mask})[:, 0])")[form]
    lines = [f"x = tf.reshape(x, {list(shape)})", f"return tf.math.{name}({selected}) * 2.0"]
    dtype = draw(st.sampled_from(_FLOATS))
    return Program(_function("x: tf.Tensor", *lines), (Input(dtype, shape),), "XLA203")


@st.composite
def masked_tests(draw: st.DrawFn) -> Program:
    """Any, all and the number of what a mask selects."""
    shape = draw(st.sampled_from(((4,), (3, 2), (0,))))
    reduction = draw(st.sampled_from(("tf.reduce_any(tf.greater(x, 0.5)[{m}])", "tf.reduce_all((x > 0.5)[{m}])")))
    counting = draw(st.sampled_from(("tf.size(x[{m}])", "tf.shape(x[{m}])[0]")))
    inside = draw(st.sampled_from(("x < 1.0", "x > 0.0")))
    result = f"return {reduction.format(m='m')}, {counting.format(m='m')}"
    code = _function("x: tf.Tensor", f"x = tf.reshape(x, {list(shape)})", f"m = {inside}", result)
    return Program(code, (Input(draw(st.sampled_from(_FLOATS)), shape),), "XLA201")


@st.composite
def distinct_counts(draw: st.DrawFn) -> Program:
    """How many distinct values there are."""
    values = draw(st.sampled_from(("tf.cast(x, tf.int32)", "tf.cast(x, tf.int64) * 2", "x")))
    part = draw(st.sampled_from(("[0]", ".y")))
    code = _function("x: tf.Tensor", f"return tf.size(tf.unique({values}){part}) + 1")
    return Program(code, (Input(draw(st.sampled_from(_INTEGERS)), (draw(st.integers(0, 6)),)),), "XLA202")


@st.composite
def bin_counts(draw: st.DrawFn) -> Program:
    """How often each integer below a number occurs."""
    number = draw(st.integers(1, 6))
    weights = draw(st.sampled_from(("", "weights=y, ", "dtype=tf.int64, ", "dtype=tf.float32, ")))
    call = f"tf.math.bincount(x, {weights}minlength={number}, maxlength={number})"
    code = _function("x: tf.Tensor, y: tf.Tensor", f"return {call} * 2")
    shape = draw(st.sampled_from(((5,), (0,), (1,))))
    counted = Input(draw(st.sampled_from(_INTEGERS)), shape, 0, 7)
    return Program(code, (counted, Input("float32", shape)), "XLA205", gradients=False, kinds=FINITE)


@st.composite
def segments(draw: st.DrawFn) -> Program:
    """A reduction of segments whose numbers are written down, each of them."""
    steps = draw(st.lists(st.integers(0, 1), min_size=1, max_size=6))
    ids = [sum(steps[1 : at + 1]) for at in range(len(steps))]
    name = draw(st.sampled_from(("sum", "sum", "prod", "mean", "max", "min")))
    integer = name != "mean" and draw(st.booleans())
    written = draw(st.sampled_from((f"{ids}", f"tf.constant({ids})")))
    line = f"return tf.math.segment_{name}({draw(st.sampled_from(('x', 'x * 2')))}, {written}) * 2"
    shape = (len(ids), *draw(st.sampled_from(((), (2,), (2, 3), (0,)))))
    dtype = draw(st.sampled_from(_INTEGERS if integer else _FLOATS))
    # XLA's maximum passes NaN over; eager execution has no gradient of products.
    kinds = FINITE if name in ("max", "min") else KINDS
    program = _function("x: tf.Tensor", line)
    return Program(program, (Input(dtype, shape),), "XLA401", kinds=kinds, gradients=name != "prod")


_WEIGHED: Final = ("reduce_mean", "reduce_sum")
_LOSS: Final = """

def compute_loss(labels, outputs):
    return tf.reduce_logsumexp(outputs, -1) - tf.cast(labels, outputs.dtype)
"""


@st.composite
def masked_losses(draw: st.DrawFn) -> Program:
    """The documentation's block: outputs and labels masked alike, a loss for each position, and its mean."""
    classes, shape = 3, draw(st.sampled_from(((4,), (3, 2), (1,))))
    outputs = (*shape, classes) if draw(st.booleans()) else shape
    lines = [f"labels = tf.reshape(labels, {list(shape)})", "label_mask = labels >= 0"]
    if draw(st.booleans()):
        lines = [*lines, "kept_outputs = outputs[label_mask]", "kept_labels = labels[label_mask]"]
        pair = "kept_labels", "kept_outputs"
    else:
        pair = "labels[label_mask]", "outputs[label_mask]"
    if outputs == shape:
        other = f"tf.cast({pair[0]}, {pair[1]}.dtype)" if "[" not in pair[1] else f"tf.cast({pair[0]}, tf.float32)"
        forms = [f"tf.square({other} - {pair[1]})", f"tf.abs({pair[1]} - {other}) * 0.5"]
    else:
        forms = [
            f"tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot({pair[0]}, {classes}), logits={pair[1]})",
            f"compute_loss({pair[0]}, {pair[1]})",
            f"tf.nn.sparse_softmax_cross_entropy_with_logits({pair[0]}, {pair[1]})",
            f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels={pair[0]}, logits={pair[1]})",
            f"tf.keras.losses.sparse_categorical_crossentropy({pair[0]}, {pair[1]}, from_logits=True)",
        ]
    lines += [f"loss = {draw(st.sampled_from(forms))}", f"return tf.{draw(st.sampled_from(_WEIGHED))}(loss)"]
    code = _function("outputs: tf.Tensor, labels: tf.Tensor", *lines) + _LOSS
    return Program(code, (Input("float32", outputs), Input("int32", shape, -1, 2)), "XLA201", kinds=FINITE)


PROGRAMS: Final[Mapping[str, st.SearchStrategy[Program]]] = {
    "indicator arithmetic": indicators(),
    "tf.where and tf.cond": branches(),
    "tf.while_loop": while_loops(),
    "unpacking by tf.unstack": unpackings(),
    "append in an unrolled loop": collections(),
    "tf.TensorArray of known size": arrays(),
    "masked reduction": masked_reductions(),
    "reduction at the positions of a condition": gathered_reductions(),
    "masked any, all and count": masked_tests(),
    "masked loss": masked_losses(),
    "selected rows through helpers": flows(),
    "distinct values by sorting": distinct_counts(),
    "bincount by segments": bin_counts(),
    "segments of a known number": segments(),
    **EXPRESSIONS,
}
