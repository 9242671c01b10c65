"""Structures of tensors (`tf.nest`), and what asks for the kind of a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import element_of, join_all
from ..domain.kinds import as_tensor, options
from ..domain.values import (
    UNKNOWN,
    ApiObject,
    Array,
    Dependence,
    Dict,
    Member,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter
from ..library.class_checks import STRUCTURES, is_instance


def _map_structure(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    def apply(values: list[Value]) -> Value:
        head = values[0]
        if isinstance(head, OneOf) and any(isinstance(option, Sequence | Dict) for option in head.options):
            return join_all(*(apply([option, *values[1:]]) for option in head.options))
        if isinstance(head, Sequence) and head.items is not None:
            rows = [list(v.items) if isinstance(v, Sequence) and v.items is not None else [] for v in values]
            if len(set(map(len, rows))) == 1:
                return Sequence(head.kind, tuple(apply(list(row)) for row in zip(*rows, strict=True)))
        if isinstance(head, Dict):
            return Dict({key: apply([value]) for key, value in head.entries.items()}, head.element)
        if isinstance(head, Sequence) and head.element is not None:
            inner = [element_of(value) or value if isinstance(value, Sequence) else value for value in values]
            return Sequence(head.kind, None, apply(inner))
        result = interpreter.call(frame, arguments.positional[0], Arguments(values), node)
        vague = any(isinstance(option, Structure | Unknown) for option in options(head))
        tensor = as_tensor(result, Dependence.STATIC) if vague else None
        # A structure like the one that is not known.
        return result if tensor is None else Structure(tensor.dependence, tensor.origin)

    return apply(arguments.positional[1:]) if len(arguments.positional) > 1 else UNKNOWN


def _flatten(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """The leaves of a structure that is known, in TensorFlow's order; None where a part of it may be one itself."""
    found = _leaves(arguments.positional[0]) if len(arguments.positional) == 1 else None
    return None if found is None else Sequence("list", tuple(found))


def _each(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """The tensors that a list holds, one by one."""
    match arguments.positional[:1]:
        case [Sequence(items=tuple(items))] if all(isinstance(item, Tensor) for item in items):
            return Sequence("list", items)
        case _:
            return None


def _leaves(value: Value) -> list[Value] | None:
    match value:
        case Sequence(items=tuple(items)):
            parts: Iterable[Value] = items
        case Dict(entries, None) if len({type(key) for key in entries}) <= 1 and Member not in map(type, entries):
            parts = (entries[key] for key in sorted(entries))
        case Tensor() | Static() | Array():
            return [value]
        case OneOf(alternatives) if all(isinstance(option, Tensor | Static | Array) for option in alternatives):
            return [value]
        case _:
            return None
    found: list[Value] = []
    for part in parts:
        inner = _leaves(part)
        if inner is None:
            return None
        found += inner
    return found


def _packed(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    """A structure like another one, of other leaves."""
    match arguments.positional:
        case [like, Sequence(items=tuple(items)), *_] if (old := _leaves(like)) is not None and len(old) == len(items):
            return _filled(like, iter(items))
        case _:
            return None


def _filled(like: Value, leaves: Iterator[Value]) -> Value:
    match like:
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(_filled(item, leaves) for item in items))
        case Dict(entries):
            return Dict({key: _filled(entries[key], leaves) for key in sorted(entries)})
        case _:
            return next(leaves)


def _is_tensor(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    match arguments.positional:
        case [value] if as_tensor(value, Dependence.STATIC) == value:
            return Static(True)
        case _:
            return None


def _is_nested(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value | None:
    known = is_instance(arguments.positional[0], STRUCTURES) if arguments.positional else None
    return None if known is None else Static(known)


def _tensor_shape(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """A shape of what is written; of anything else, some shape."""
    match arguments.get(0, "dims"):
        case Sequence(items=tuple(items)):
            return Sequence("tuple", items)
        case _:
            return None


def _sparse(interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression) -> Value:
    """A sparse tensor has as many values as it is given, which may be another number each time."""
    values = arguments.get(1, "values")
    varies = isinstance(values, Tensor | Array) and values.varies
    return ApiObject("tf.SparseTensor", payload=values if varies else None)


FUNCTIONS: Final[dict[str, FunctionModel]] = {
    "tf.TensorShape": _tensor_shape,
    "tf.SparseTensor": _sparse,
    "tf.IndexedSlices": lambda interpreter, frame, arguments, node: ApiObject(
        "tf.IndexedSlices", payload=arguments.get(0, "values")
    ),
    "tf.nest.map_structure": _map_structure,
    "keras.tree.map_structure": _map_structure,
    **{f"{library}.flatten": _flatten for library in ("tf.nest", "keras.tree")},
    **{f"{library}.pack_sequence_as": _packed for library in ("tf.nest", "keras.tree")},
    **dict.fromkeys(("tf.identity_n", "tf.tuple"), _each),
    "tf.is_tensor": _is_tensor,
    "keras.ops.is_tensor": _is_tensor,
    "keras.backend.is_tensor": _is_tensor,
    "tf.nest.is_nested": _is_nested,
    "keras.tree.is_nested": _is_nested,
}
