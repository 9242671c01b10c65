"""Rewrites of Python control flow as TensorFlow operations, as text for a person.

Each function builds the text from the source's own expressions. The sketches name TensorFlow `tf`, and stand on their
own: they are shown, not applied.
"""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

_WRITER: Final = cst.Module([])
_INDENT: Final = "    "

# Expressions that need no parentheses beside an operator.
_ATOMS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.List, cst.Tuple)

_REDUCTIONS: Final = {
    "max": "tf.reduce_max",
    "min": "tf.reduce_min",
    "sum": "tf.reduce_sum",
    "any": "tf.reduce_any",
    "all": "tf.reduce_all",
}

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


# -- host reads -------------------------------------------------------------------------------------------


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
