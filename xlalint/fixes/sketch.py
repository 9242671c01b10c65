"""Rewrites of Python control flow as TensorFlow operations, as text for a person.

Each function builds the text from the source's own expressions. The sketches name TensorFlow `tf`, and stand on their
own: they are shown, not applied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

_WRITER: Final = cst.Module([])
_INDENT: Final = "    "

# Expressions that need no parentheses beside an operator.
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.List, cst.Tuple)

_COMPARISONS: Final[dict[type[cst.BaseCompOp], str]] = {
    cst.GreaterThan: "assert_greater",
    cst.GreaterThanEqual: "assert_greater_equal",
    cst.LessThan: "assert_less",
    cst.LessThanEqual: "assert_less_equal",
    cst.Equal: "assert_equal",
    cst.NotEqual: "assert_none_equal",
}

_REDUCTIONS: Final = {
    "max": "tf.reduce_max",
    "min": "tf.reduce_min",
    "sum": "tf.reduce_sum",
    "any": "tf.reduce_any",
    "all": "tf.reduce_all",
}
_PAIRWISE: Final = {"max": "tf.maximum", "min": "tf.minimum"}

_CASTS: Final = {"bool": "tf.bool", "int": "tf.int32", "float": "tf.float32", "complex": "tf.complex64"}

# NumPy functions whose TensorFlow counterpart has another name; the rest is found under `tf.experimental.numpy`.
_NUMPY: Final = {
    "sum": "tf.reduce_sum",
    "mean": "tf.reduce_mean",
    "prod": "tf.reduce_prod",
    "max": "tf.reduce_max",
    "amax": "tf.reduce_max",
    "min": "tf.reduce_min",
    "amin": "tf.reduce_min",
    "any": "tf.reduce_any",
    "all": "tf.reduce_all",
    "std": "tf.math.reduce_std",
    "var": "tf.math.reduce_variance",
    "array": "tf.convert_to_tensor",
    "asarray": "tf.convert_to_tensor",
    "concatenate": "tf.concat",
    "clip": "tf.clip_by_value",
    "ceil": "tf.math.ceil",
    "log": "tf.math.log",
    "log1p": "tf.math.log1p",
    "isnan": "tf.math.is_nan",
    "isinf": "tf.math.is_inf",
    "isfinite": "tf.math.is_finite",
    "power": "tf.pow",
    "mod": "tf.math.floormod",
    "arange": "tf.range",
    "linalg.norm": "tf.norm",
}
_SAME_IN_NUMPY: Final = re.compile(
    r"abs|sqrt|square|exp|expm1|sin|cos|tan|tanh|maximum|minimum|argmax|argmin|cumsum|sign|floor|round|squeeze|reshape"
    r"|transpose|tile|stack|einsum|matmul|ones_like|zeros_like|where|expand_dims|sort|argsort"
)


def code_of(node: cst.CSTNode) -> str:
    """The source text of a node, without comments and line breaks around it."""
    return _WRITER.code_for_node(node).strip()


# -- conditions -------------------------------------------------------------------------------------------------------


def condition(node: cst.BaseExpression, tf: str = "tf") -> str:
    """A test as one tensor expression: `and`, `or`, `not`, chains and `in` as operations."""
    match node:
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            name = "logical_and" if isinstance(operator, cst.And) else "logical_or"
            return f"{tf}.{name}({condition(left, tf)}, {condition(right, tf)})"
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return f"{tf}.logical_not({condition(expression, tf)})"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.In(), container)]):
            return f"{tf}.reduce_any({tf}.equal({_plain(left)}, {_plain(container)}))"
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.NotIn(), container)]):
            return f"{tf}.reduce_all({tf}.not_equal({_plain(left)}, {_plain(container)}))"
        case cst.Comparison(left=left, comparisons=[_, _, *_] as targets):
            return _chain(left, targets, tf)
        case _:
            return _plain(node)


def _chain(left: cst.BaseExpression, targets: Sequence[cst.ComparisonTarget], tf: str) -> str:
    parts = []
    for target in targets:
        parts.append(_plain(cst.Comparison(_bare(left), [target])))
        left = target.comparator
    text = parts.pop()
    while parts:
        text = f"{tf}.logical_and({parts.pop()}, {text})"
    return text


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without parentheses around it."""
    return node.with_changes(lpar=[], rpar=[]) if getattr(node, "lpar", ()) else node


def _plain(node: cst.BaseExpression) -> str:
    """The text of an expression that stands as an argument; line breaks inside become spaces."""
    return re.sub(r"\s*\n\s*", " ", code_of(node if isinstance(node, cst.Tuple) else _bare(node)))


def _operand(node: cst.BaseExpression) -> str:
    """The text of an expression where an operator follows."""
    text = _plain(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


# -- loops ------------------------------------------------------------------------------------------------------------


def iteration(form: str, iterable: cst.BaseExpression) -> str:
    """What to write instead of iterating a tensor in the given form."""
    text = _plain(iterable)
    match form, iterable:
        case (("for range" | "range"), cst.Call(args=[cst.Arg(value=limit)])):
            bound = _plain(limit)
            return f"for i in range(LIMIT):  # a static bound\n    y = tf.where(i < {bound}, <next y>, y)"
        case "comprehension" | "map" | "filter" | "list" | "tuple", _:
            return f"tf.vectorized_map(fn, {text}), or, over a static first dimension, tf.unstack({text})"
        case "sorted", _:
            return f"tf.sort({text})"
        case "reversed", _:
            return f"tf.unstack(tf.reverse({text}, axis=[0]))"
        case (("max" | "min" | "sum" | "any" | "all"), _):
            return f"{_REDUCTIONS[form]}({text}, axis=0)"
        case (("unpacking" | "star" | "zip" | "enumerate"), _):
            return f"tf.unstack({text})  # needs a static first dimension"
        case _:
            return (
                f"one operation over the whole of {text} (tf.reduce_sum, tf.cumsum, tf.vectorized_map, tf.scan),\n"
                f"or, over a static first dimension, unrolled: tf.unstack({text})"
            )


# -- assertions, host reads -------------------------------------------------------------------------------------------


def assertion(test: cst.BaseExpression) -> str:
    """`assert a > b` as `tf.debugging.assert_greater(a, b)`, with what XLA makes of it."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, right)]) if (
            type(operator) in _COMPARISONS
        ):
            call = f"tf.debugging.{_COMPARISONS[type(operator)]}({_plain(left)}, {_plain(right)})"
        case _:
            text = condition(test)
            call = f"tf.debugging.Assert({text}, [{text}])"
    return f"{call}  # XLA compiles it to nothing: check the value outside the compiled code where it must hold"


def builtin_over(name: str, call: cst.BaseExpression) -> str | None:
    """`max(a, b)`, `any([a, b])`: the TensorFlow operation over the same arguments."""
    match call:
        case cst.Call(args=[cst.Arg(value=cst.GeneratorExp() as generator)]):
            return f"{_REDUCTIONS[name]}([{_plain(generator)}], axis=0)"
        case cst.Call(args=[cst.Arg(value=only)]):
            return f"{_REDUCTIONS[name]}({_plain(only)}, axis=0)"
        case cst.Call(args=[first, *rest]) if name in _PAIRWISE and not any(arg.keyword for arg in rest):
            text = _plain(first.value)
            for argument in rest:
                text = f"{_PAIRWISE[name]}({text}, {_plain(argument.value)})"
            return text
        case _:
            return None


def host_read(reader: str, node: cst.CSTNode) -> str | None:
    """The tensor operation in place of a read on the host."""
    match node:
        case cst.Call(args=[cst.Arg(value=only)]) if reader in _CASTS:
            return f"tf.cast({_plain(only)}, {_CASTS[reader]})"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "len":
            return f"{_operand(only)}.shape[0]"
        case cst.Call(args=[cst.Arg(value=only)]) if reader == "round":
            return f"tf.round({_plain(only)})"
        case cst.Call(func=cst.Attribute(value=owner)) if reader.startswith("."):
            return f"{code_of(owner)}  # the tensor itself"
        case cst.Call(args=arguments) if reader.startswith("np."):
            return f"{_counterpart(reader.removeprefix('np.'))}({', '.join(_argument(arg) for arg in arguments)})"
        case cst.Call(args=arguments) if reader.startswith("math."):
            return f"tf.{reader}({', '.join(_argument(arg) for arg in arguments)})"
        case cst.Subscript(value=base, slice=[cst.SubscriptElement(cst.Index(value=index))]):
            return f"tf.gather(tf.stack({_plain(base)}), {_plain(index)})"
        case _:
            return None


def _counterpart(name: str) -> str:
    if name in _NUMPY:
        return _NUMPY[name]
    return f"tf.{name}" if _SAME_IN_NUMPY.fullmatch(name) else f"tf.experimental.numpy.{name}"


def _argument(argument: cst.Arg) -> str:
    return code_of(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT))
