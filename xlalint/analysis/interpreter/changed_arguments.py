"""Containers that a function changes in place, and tensors whose rank it tells: whoever passed one has it changed, by a
name of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...syntax import nodes as cst
from ..domain.lost_ranks import lacks_rank, with_rank
from ..domain.values import Dict, FunctionValue, Sequence, Structure, Tensor, Value
from ..program.parameter_uses import Bound
from .frames import Arguments

Changes = Mapping[str, tuple[Value, Value]]


def changes_of(node: cst.FunctionDef | cst.Lambda, before: Mapping[str, Value], after: Mapping[str, Value]) -> Changes:
    """The containers that a run of a function was passed, as they were and as it left them, by parameter; and so the
    tensors whose rank it told. Of a parameter that the function binds anew nobody knows."""
    found: dict[str, tuple[Value, Value]] = {}
    for name, old in before.items():
        match old, after.get(name):
            case ((Sequence() | Dict() as one), (Sequence() | Dict() as other)) if one is not other and (
                isinstance(one, Dict) is isinstance(other, Dict)
            ):
                found[name] = one, other
            case ((Tensor() | Structure() as one), (Tensor() | Structure() as other)):
                if lacks_rank(one) and not lacks_rank(other):
                    found[name] = one, other
    if not found or isinstance(node, cst.Lambda):
        return found
    bound = Bound()
    node.body.visit(bound)
    return {name: sides for name, sides in found.items() if name not in bound.names}


def passed_as(
    node: cst.FunctionDef | cst.Lambda, value: FunctionValue, arguments: Arguments
) -> Iterator[tuple[str, Value, cst.BaseExpression]]:
    """The parameters with what the caller passes for them, and its syntax; `arguments`: without those of a partial."""
    parameters = [parameter.name.value for parameter in (*node.params.posonly_params, *node.params.params)]
    first = len(value.partial_args) + (value.bound is not None)
    yield from zip(parameters[first:], arguments.positional, arguments.nodes, strict=False)
    for name, place in arguments.keyword_nodes.items():
        if name in arguments.keywords:
            yield name, arguments.keywords[name], place


def changed_like(current: Value, before: Value, after: Value) -> Value:
    """A container that a function was passed, as another run of the function left another one; a tensor with a rank."""
    match current, before, after:
        case ((Tensor() | Structure()), _, _):
            return with_rank(current)
        case Dict(entries, element), Dict(old), Dict(new, other):
            put = {key: value for key, value in new.items() if old.get(key) is not value}
            kept = {key: value for key, value in entries.items() if key in new or key not in old}
            return Dict({**kept, **put}, element if other is before.element else other)
        case Sequence(kind, tuple(items)), Sequence(items=tuple(old)), Sequence(items=tuple(new)) if len(new) >= len(
            old
        ) and all(map(_same, old, new)):
            return Sequence(kind, (*items, *new[len(old) :]), varies=current.varies)
        case _:
            return after


def _same(one: Value, other: Value) -> bool:
    return one is other
