"""Sizes that TensorFlow is asked for as the sizes that Python knows: `tf.shape(x)[0]` as `x.shape[0]`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from ..findings import Safety
from ..semantics.files import Place
from .names import Names
from .rewrite import Rewrite, replace
from .syntax import plain

_UNKNOWN: Final = "for a size that is not known while the function is traced"


def static_size(node: cst.CSTNode, tf: str) -> str | None:
    """`tf.shape(x)[0]` as `x.shape[0]`; None for anything else."""
    match node:
        case cst.Subscript(
            value=cst.Call(func=function, args=[cst.Arg(value=cst.Name() | cst.Attribute() as sized, keyword=None)]),
            slice=[cst.SubscriptElement(slice=cst.Index(value=axis))],
        ) if plain(function) == f"{tf}.shape" and _is_number(axis):
            return f"{plain(sized)}.shape[{plain(axis)}]"
        case _:
            return None


def with_static_sizes(place: Place, names: Names) -> Rewrite | None:
    """A call of Python's at `place` whose arguments are sizes and numbers: with the sizes that Python knows. The call
    goes too where it only made a Python number of one."""
    match place.node:
        case cst.Call(func=cst.Name(name), args=[cst.Arg(value=only, keyword=None, star="")]) if (
            name == "int" and (size := static_size(only, names.tf))
        ):
            return _rewrite(place, size)
        case cst.Call(func=cst.Name() as function, args=arguments):
            texts = [_size_or_number(argument, names.tf) for argument in arguments]
            if None in texts or not any(static_size(argument.value, names.tf) for argument in arguments):
                return None
            return _rewrite(place, f"{plain(function)}({', '.join(text for text in texts if text is not None)})")
        case _:
            return None


def _rewrite(place: Place, text: str) -> Rewrite:
    return Rewrite("Take the static size", (replace(place, text),), Safety.UNSAFE, _UNKNOWN)


def _size_or_number(argument: cst.Arg, tf: str) -> str | None:
    if argument.keyword is not None or argument.star:
        return None
    return plain(argument.value) if _is_number(argument.value) else static_size(argument.value, tf)


def _is_number(node: cst.BaseExpression) -> bool:
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer()):
            return True
        case _:
            return isinstance(node, cst.Integer)
