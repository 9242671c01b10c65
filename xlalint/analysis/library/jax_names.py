"""Functions of JAX and those of `keras.ops` that are the same on JAX.

`keras.ops` has the names of `jax.numpy`, which it calls on JAX; what differs is what parameters are called.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from ...facts.names import known, parameters

PREFIX: Final = "jax."
# What `jax.numpy` calls its arrays, of which `keras.ops` has one word; and what else it calls otherwise, by function.
_ARRAYS: Final = ("a", "A", "arr", "array", "arrays", "ary", "condition", "element", "m", "M", "object", "operand", "v")
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "clip": {"min": "x_min", "max": "x_max"},
    "concatenate": {"dimension": "axis"},
    "reshape": {"shape": "newshape"},
    "tile": {"reps": "repeats"},
    "unique": {"ar": "x"},
    "where": {"x": "x1", "y": "x2"},
}
_ALIKE: Final = {"asarray": "array", "argwhere": "nonzero", "flatnonzero": "nonzero", "concat": "concatenate"}
# Of `jax.lax`, those that take what the function of `keras.ops` with the same name takes.
_LAX: Final = frozenset(
    (
        *("abs", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "log", "log1p", "rsqrt", "sign", "sin", "sinh"),
        *("sqrt", "square", "tan", "tanh", "argmax", "argmin", "concatenate", "stop_gradient", "top_k"),
        *("fori_loop", "map", "scan", "switch"),
    )
)
# Those that mean another thing, or none, by the same name.
_OTHERS: Final = frozenset(("dtype", "identity", "ndim", "shape", "size", "vectorize", "cond", "map"))
_MODULES: Final = ("jax.numpy.linalg.", "jax.numpy.", "jax.nn.", "jax.lax.", "jax.ops.")


@cache
def function_of(name: str) -> tuple[str, Mapping[str, str]] | None:
    """The function of `keras.ops` that a function of JAX is, and what its parameters are called there; None where there
    is none."""
    module = next((module for module in _MODULES if name.startswith(module)), None)
    if module is None:
        return None
    own = name.removeprefix(module)
    if (own not in _LAX) if module == "jax.lax." else (own in _OTHERS):
        return None
    own = _ALIKE.get(own, own)
    found = f"keras.ops.{own}"
    if not known(found):
        return None
    names = parameters(found) or ()
    arrays = {alias: names[0] for alias in _ARRAYS if alias not in names} if names else {}
    return found, {**arrays, **_RENAMED.get(own, {})}
