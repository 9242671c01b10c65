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
