"""What JAX does with what the rules flag, measured with Keras 3.15 on JAX 0.10: the error that each raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xlalint.analysis.domain.values import Tensor
from xlalint.linter.rule import Effect, OnJax

from ._names import names

ARRAY: Final = "this raises TracerArrayConversionError"
BOOL: Final = "this raises TracerBoolConversionError"
CONCRETE: Final = "this raises ConcretizationTypeError"
INTEGER: Final = "this raises TracerIntegerConversionError"
LEAKED: Final = "using the result outside raises UnexpectedTracerError"
MASK: Final = "this raises NonConcreteBooleanIndexError"
MISMATCH: Final = "this raises TypeError"
SLICE: Final = "this raises IndexError"
NUMBER: Final = "it is a Python number"
ONCE: Final = "this compiles once"
UNROLLED: Final = "tracing unrolls the loop, and it compiles"

# What NumPy hands over to a method of the array, which traces it.
_METHODS: Final = names(
    """
    np.all np.amax np.amin np.any np.argmax np.argmin np.argsort np.around np.cumprod np.cumsum np.flip np.imag np.max
    np.mean np.min np.prod np.real np.repeat np.reshape np.round np.searchsorted np.size np.split np.squeeze np.std
    np.sum np.take_along_axis np.transpose np.var
    """
)
_READS: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(("bool",), BOOL),
    **dict.fromkeys(("int", "float", "complex", ".item", ".tolist"), CONCRETE),
    **dict.fromkeys(("len", "round", *_METHODS), None),
    ".numpy": "this raises AttributeError",
    "format": "this raises TypeError",
    "keras.ops.convert_to_numpy": ARRAY,
    **dict.fromkeys(("list index", "array slice"), INTEGER),
    **dict.fromkeys(("array index", "array"), ARRAY),
}
_ITERATED: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(
        ("for", "comprehension", "unpacking", "star", "enumerate", "zip", "list", "tuple", "reversed", "map", "sum")
    ),
    **dict.fromkeys(("range", "for range"), INTEGER),
    **dict.fromkeys(("max", "min", "any", "all", "sorted", "filter"), BOOL),
}


def fails(what: str, error: str) -> OnJax:
    """JAX refuses it."""
    return OnJax(Effect.FAILS, what, error)


def compiles(what: str, reason: str = ONCE) -> OnJax:
    """JAX takes it."""
    return OnJax(None, what, reason)


def tested(tensor: Tensor, what: str) -> OnJax:
    """Python asks whether a tensor is true."""
    return compiles(what, NUMBER) if tensor.python else fails(what, BOOL)


def read(reader: str, what: str, tensor: Tensor) -> OnJax | None:
    """A tensor is read by Python or NumPy; None where nobody measured that."""
    if tensor.python:
        return compiles(what, NUMBER)
    if reader in _READS:
        error = _READS[reader]
    elif reader.startswith(("np.", "scipy.")):
        error = ARRAY
    elif reader.startswith("math."):
        error = CONCRETE
    else:
        return None
    return compiles(what) if error is None else fails(what, error)


def iterated(form: str, what: str) -> OnJax | None:
    """A tensor is iterated; None where nobody measured that."""
    if form not in _ITERATED:
        return None
    error = _ITERATED[form]
    return compiles(what, UNROLLED) if error is None else fails(what, error)


# Arguments that must be Python values on TensorFlow, and may be tensors on JAX.
_TAKEN: Final = frozenset(
    (
        *(("keras.ops.eye", "k"), ("keras.ops.in_top_k", "k"), ("keras.ops.slice", "start_indices")),
        *(("keras.ops.trace", "offset"), ("keras.layers.CategoryEncoding.__call__", "*0 inputs")),
        *(("keras.layers.Discretization.__call__", "*0 inputs"), ("keras.layers.Equalization.__call__", "*0 data")),
    )
)


def passed(api: str, parameter: str, what: str) -> OnJax | None:
    """An argument that XLA takes as a constant depends on data; None of what is TensorFlow's."""
    if not api.startswith("keras."):
        return None
    return compiles(what) if (api, parameter) in _TAKEN else fails(what, "tracing fails: it must be a Python value")
