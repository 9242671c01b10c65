"""Functions of TensorFlow and those of `keras.ops` that compute the same, on TensorFlow and on JAX.

A test runs each on both backends, in a compiled program, too (tests/compiler/test_equal_names.py). For integers and
mixed dtypes they may differ, but those of `EXACT`: `keras.ops` promotes dtypes, where TensorFlow keeps them or refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .names import parameters

# The name in `keras.ops`, and what it calls the parameters that TensorFlow calls otherwise.
EQUAL: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    **{
        f"tf.{name}": (name, {})
        for name in (
            *("abs", "add", "cos", "divide", "equal", "exp", "floor", "greater", "greater_equal", "less", "less_equal"),
            *("logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal"),
            *("round", "sigmoid", "sign", "sin", "sqrt", "square", "subtract", "tanh"),
        )
    },
    **{f"tf.math.{name}": (name, {}) for name in ("ceil", "log", "log1p", "rsqrt")},
    **{f"tf.math.is_{name}": (f"is{name}", {}) for name in ("finite", "inf", "nan")},
    **{
        f"tf.reduce_{name}": (name, {"input_tensor": "x"})
        for name in ("all", "any", "max", "mean", "min", "prod", "sum", "logsumexp")
    },
    "tf.cast": ("cast", {}),
    "tf.clip_by_value": ("clip", {"t": "x", "clip_value_min": "x_min", "clip_value_max": "x_max"}),
    "tf.concat": ("concatenate", {"values": "xs"}),
    "tf.cond": ("cond", {}),
    "tf.convert_to_tensor": ("convert_to_tensor", {"value": "x"}),
    "tf.cumsum": ("cumsum", {}),
    "tf.expand_dims": ("expand_dims", {"input": "x"}),
    "tf.gather": ("take", {"params": "x"}),
    "tf.math.divide_no_nan": ("divide_no_nan", {"x": "x1", "y": "x2"}),
    "tf.math.reduce_std": ("std", {"input_tensor": "x"}),
    "tf.math.reduce_variance": ("var", {"input_tensor": "x"}),
    "tf.matmul": ("matmul", {"a": "x1", "b": "x2"}),
    "tf.nn.relu": ("relu", {"features": "x"}),
    "tf.nn.softmax": ("softmax", {"logits": "x"}),
    "tf.ones_like": ("ones_like", {"input": "x"}),
    "tf.pow": ("power", {"x": "x1", "y": "x2"}),
    "tf.range": ("arange", {"limit": "stop", "delta": "step"}),
    "tf.reshape": ("reshape", {"tensor": "x", "shape": "newshape"}),
    "tf.sort": ("sort", {"values": "x"}),
    "tf.squeeze": ("squeeze", {"input": "x"}),
    "tf.stack": ("stack", {"values": "x"}),
    "tf.stop_gradient": ("stop_gradient", {"input": "variable"}),
    "tf.transpose": ("transpose", {"a": "x", "perm": "axes"}),
    "tf.unstack": ("unstack", {"value": "x"}),
    "tf.where": ("where", {"x": "x1", "y": "x2"}),
    "tf.while_loop": ("while_loop", {}),
    "tf.zeros_like": ("zeros_like", {"input": "x"}),
}
# What both have besides the first ones, in the order of TensorFlow: no other argument is taken over.
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "tf.cast": ("x", "dtype"),
    "tf.convert_to_tensor": ("value", "dtype"),
    "tf.cumsum": ("x", "axis"),
    "tf.gather": ("params", "indices", "axis"),
    "tf.matmul": ("a", "b"),
    "tf.sort": ("values", "axis"),
    "tf.where": ("condition", "x", "y"),
    "tf.while_loop": ("cond", "body", "loop_vars", "maximum_iterations"),
}
# How many arguments it takes at least to mean the same.
LEAST: Final = {"tf.where": 3}
# What `keras.ops` must be told, where TensorFlow need not: the axis, without which it flattens.
ADDED: Final[Mapping[str, Mapping[str, str]]] = {"tf.cumsum": {"axis": "0"}, "tf.gather": {"axis": "0"}}
# Where the others differ, beside what all may do where dtypes are mixed.
DIFFERS: Final = {
    "tf.gather": "for positions that are out of range or negative",
}
# Those that keep every dtype as TensorFlow does, of which all arguments have the same.
EXACT: Final = frozenset(
    (
        *("tf.cast", "tf.concat", "tf.cond", "tf.equal", "tf.expand_dims", "tf.logical_and"),
        *("tf.greater", "tf.greater_equal", "tf.less", "tf.less_equal", "tf.logical_not", "tf.logical_or"),
        *("tf.maximum", "tf.minimum", "tf.not_equal", "tf.ones_like", "tf.reduce_all", "tf.reduce_any", "tf.reshape"),
        *("tf.reduce_max", "tf.reduce_min", "tf.squeeze", "tf.stack", "tf.stop_gradient", "tf.transpose"),
        *("tf.unstack", "tf.where", "tf.while_loop", "tf.zeros_like"),
    )
)


def taken_over(api: str, given: Sequence[str | None]) -> tuple[str, ...] | None:
    """TensorFlow's parameters behind the arguments of a call, keywords by name and the others by None; None where
    `keras.ops` has no such function, or one that does not take them."""
    order = parameters(api) or ()
    if api not in EQUAL or len(given) < LEAST.get(api, 1) or len(given) > len(order):
        return None
    known = PARAMETERS.get(api) or tuple(one for one in order if one != "name")
    found = tuple(order[at] if one is None else one for at, one in enumerate(given))
    return found if {*found} <= {*known} else None
