"""`tf.raw_ops`: the operations that a function of TensorFlow's stands for, parameter by parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # between the words of an operation's name
PREFIX: Final = "tf.raw_ops."
LOADED: Final = f"{PREFIX}loaded"
"""Stands for a library that `tf.load_op_library` loads, whose operations are its attributes."""
# By operation: the function, and its parameters where the operation names them otherwise.
_FUNCTIONS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "Bincount": ("tf.math.bincount", {"size": "minlength"}),
    "BroadcastTo": ("tf.broadcast_to", {}),
    "DynamicPartition": ("tf.dynamic_partition", {}),
    "EagerPyFunc": ("tf.py_function", {"input": "inp"}),
    "Fill": ("tf.fill", {}),
    "ListDiff": ("tf.setdiff1d", {}),
    "NonMaxSuppressionV3": ("tf.image.non_max_suppression", {}),
    "OneHot": ("tf.one_hot", {}),
    "Pad": ("tf.pad", {"input": "tensor"}),
    "PadV2": ("tf.pad", {"input": "tensor"}),
    "PyFunc": ("tf.numpy_function", {"input": "inp"}),
    "PyFuncStateless": ("tf.numpy_function", {"input": "inp"}),
    "RandomStandardNormal": ("tf.random.normal", {}),
    "RandomUniform": ("tf.random.uniform", {}),
    "Range": ("tf.range", {}),
    "Reshape": ("tf.reshape", {}),
    "Slice": ("tf.slice", {"input": "input_"}),
    "Tile": ("tf.tile", {}),
    "TopKV2": ("tf.math.top_k", {}),
    "Unique": ("tf.unique", {}),
    "UniqueWithCounts": ("tf.unique_with_counts", {}),
    "Where": ("tf.where", {}),
}


def functions_named_alike(name: str) -> tuple[str, ...]:
    """The functions that may be an operation by another name: `StopGradient` is `tf.stop_gradient`."""
    word = _WORD.sub("_", name.removeprefix(PREFIX)).lower()
    return tuple(f"{namespace}.{word}" for namespace in ("tf", "tf.math", "tf.nn", "tf.linalg"))


def function_of(name: str) -> tuple[str, Mapping[str, str]] | None:
    """The function that an operation's canonical name stands for, and what its parameters are called there."""
    return _FUNCTIONS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
