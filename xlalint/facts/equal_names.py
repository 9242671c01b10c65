"""Functions of TensorFlow and those of `keras.ops` that compute the same, on TensorFlow and on JAX.

A test runs each on both backends (tests/compiler/test_jax_examples.py). For integers and mixed dtypes they may differ:
`keras.ops` promotes dtypes, where TensorFlow keeps them or refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# The name in `keras.ops`, and what it calls the parameters that TensorFlow calls otherwise.
EQUAL: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    **{
        f"tf.{name}": (name, {})
        for name in (
            *("abs", "add", "cos", "divide", "equal", "exp", "floor", "greater", "greater_equal", "less", "less_equal"),
            *("logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal"),
            *("sigmoid", "sign", "sin", "sqrt", "square", "subtract", "tanh"),
        )
    },
    **{f"tf.math.{name}": (name, {}) for name in ("ceil", "log", "log1p", "rsqrt")},
    **{
        f"tf.reduce_{name}": (name, {"input_tensor": "x"})
        for name in ("all", "any", "max", "mean", "min", "prod", "sum", "logsumexp")
    },
    "tf.cast": ("cast", {}),
    "tf.clip_by_value": ("clip", {"t": "x", "clip_value_min": "x_min", "clip_value_max": "x_max"}),
    "tf.concat": ("concatenate", {"values": "xs"}),
    "tf.cond": ("cond", {}),
    "tf.expand_dims": ("expand_dims", {"input": "x"}),
    "tf.math.reduce_std": ("std", {"input_tensor": "x"}),
    "tf.math.reduce_variance": ("var", {"input_tensor": "x"}),
    "tf.matmul": ("matmul", {"a": "x1", "b": "x2"}),
    "tf.nn.relu": ("relu", {"features": "x"}),
    "tf.nn.softmax": ("softmax", {"logits": "x"}),
    "tf.ones_like": ("ones_like", {"input": "x"}),
    "tf.pow": ("power", {"x": "x1", "y": "x2"}),
    "tf.reshape": ("reshape", {"tensor": "x", "shape": "newshape"}),
    "tf.squeeze": ("squeeze", {"input": "x"}),
    "tf.stack": ("stack", {"values": "x"}),
    "tf.stop_gradient": ("stop_gradient", {"input": "variable"}),
    "tf.transpose": ("transpose", {"a": "x", "perm": "axes"}),
    "tf.where": ("where", {"x": "x1", "y": "x2"}),
    "tf.zeros_like": ("zeros_like", {"input": "x"}),
}
# What both have besides the first ones, in the order of TensorFlow: no other argument is taken over.
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "tf.cast": ("x", "dtype"),
    "tf.matmul": ("a", "b"),
    "tf.where": ("condition", "x", "y"),
}
# How many arguments it takes at least to mean the same.
LEAST: Final = {"tf.where": 3}
