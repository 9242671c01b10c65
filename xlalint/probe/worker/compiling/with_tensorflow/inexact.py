"""A call whose arithmetic is changed in its last digits: how far results depend on the order in which it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]
from tensorflow.python.framework import op_callbacks  # type: ignore[import-untyped]

from ...inputs.tensors import Arguments

# What rounds, or cuts off at a number that is itself rounded; not what selects one of its inputs by comparing them.
_ARITHMETIC: Final = frozenset(
    (
        *("Add", "AddV2", "AddN", "Sub", "Mul", "Div", "RealDiv", "Square", "SquaredDifference", "Pow", "Sqrt"),
        *("Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sigmoid", "Tanh", "Softplus", "Erf", "Sin", "Cos", "Softmax"),
        *("LogSoftmax", "Sum", "Mean", "Prod", "MatMul", "BatchMatMulV2", "Einsum", "Conv2D", "BiasAdd"),
        *("Minimum", "Maximum", "ClipByValue", "MulNoNan", "DivNoNan", "L2Loss", "Cumsum"),
    )
)


def inexactly(call: Callable[..., Any], given: Arguments, seed: int, *, autograph: bool) -> Any:
    """What a call gives as a graph that is not compiled, where each result of arithmetic is changed by a unit in the
    last place, up or down by chance (Monte Carlo arithmetic)."""
    positional, keywords = given
    with _changing(np.random.default_rng(seed)):
        return tf.function(call, autograph=autograph)(*positional, **keywords)


@contextmanager
def _changing(random: np.random.Generator) -> Iterator[None]:
    def change(op: Any, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
        kind = op.decode() if isinstance(op, bytes) else op
        return outputs if graph is None or kind not in _ARITHMETIC else [_changed(one, random) for one in outputs]

    op_callbacks.add_op_callback(change)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(change)


def _changed(tensor: Any, random: np.random.Generator) -> Any:
    if not tensor.dtype.is_floating:
        return tensor
    known = tuple(tensor.shape) if tensor.shape.is_fully_defined() else ()
    unit = float(np.finfo(tensor.dtype.as_numpy_dtype).eps) if tensor.dtype.size > 2 else 2.0**-7
    return tensor * tf.constant(1.0 + random.choice([-unit, unit], size=known), tensor.dtype)
