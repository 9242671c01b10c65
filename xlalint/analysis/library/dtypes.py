"""The classes of dtypes: bool, int, float, complex, string, as names and values say them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from ..domain.kinds import leaves
from ..domain.values import (
    NONE,
    Api,
    ApiObject,
    Array,
    Dict,
    OneOf,
    Sequence,
    Static,
    Tensor,
    Value,
)

_WIDTH: Final = ("bool", "int", "float", "complex")


_CLASSES: Final = {
    "bool": "bool",
    "int": "int",
    "uint": "int",
    "qint": "int",
    "quint": "int",
    "float": "float",
    "bfloat": "float",
    "half": "float",
    "double": "float",
    "complex": "complex",
    "str": "string",
    "string": "string",
}


@cache
def _class_of_name(name: str) -> str | None:
    word = re.match(r"[a-z]*", name.rpartition(".")[2])
    return _CLASSES.get(word[0]) if word else None


def named_dtype(value: Value | None) -> str | None:
    """The dtype class that a dtype argument names: `tf.int32`, `"int32"`, `x.dtype`, `bool`."""
    match value:
        case Api(name) | Static(str() as name):
            return _class_of_name(name)
        case ApiObject("tf.DType", payload=payload):
            return named_dtype(payload)
        case _:
            return None


def dtype_of(value: Value | None) -> str | None:
    """The dtype class of a tensor made of this value."""
    match value:
        case Tensor(dtype=dtype) | Array(dtype=dtype):
            return dtype
        case Static(bool()):
            return "bool"
        case Static(int()):
            return "int"
        case Static(float()):
            return "float"
        case Static(complex()):
            return "complex"
        case Static(str() | bytes()):
            return "string"
        case Static(list() | tuple() as constant) if constant:
            return agreed_dtype(dtype_of(Static(item)) for item in constant)
        case Sequence() | Dict():
            return agreed_dtype(map(dtype_of, leaves(value)))
        case OneOf(alternatives):
            return agreed_dtype(dtype_of(option) for option in alternatives if option != NONE)
        case ApiObject("tf.TensorArray", payload=payload):
            return dtype_of(payload)
        case _:
            return None


def agreed_dtype(dtypes: Iterable[str | None]) -> str | None:
    """The widest of these classes; unknown as soon as one is."""
    found = set(dtypes)
    if not found or None in found:
        return None
    if len(found) == 1:
        return found.pop()
    return max(found, key=_WIDTH.index) if found <= set(_WIDTH) else None
