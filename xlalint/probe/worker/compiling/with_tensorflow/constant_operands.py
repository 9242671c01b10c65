"""Operations of a traced function that want a constant which is computed from what the function is called with: XLA
compiles the function for each value of it.

The programs of two values tell where they begin to differ; what follows from that, such as the shape that all is
brought to at the end, differs in any case, and tells nothing of a constant of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Any, Final

from xlalint.facts import FOLDER

from ...code.graphs import functions_of

# What the compiler's own search for constants does not look behind: it knows what these give while it compiles.
_KNOWN: Final = frozenset(("Shape", "ShapeN", "Rank", "Size"))
# Operations whose functions get just what they do.
_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))


def constant_operands(graph: Any) -> Iterator[Any]:
    """The operations, of a graph and of the functions that it calls, with such a constant."""
    captured = {id(one) for one in getattr(graph, "internal_captures", ())}
    yield from _within(graph, {one.op.name for one in graph.inputs if id(one) not in captured})


def _within(graph: Any, passed: Set[str]) -> Iterator[Any]:
    """Those of a graph of which some placeholders hold what is passed."""
    on_data = {*passed}
    for op in graph.get_operations():
        if op.type in _KNOWN:
            continue
        if any(one.op.name in on_data for one in op.inputs):
            on_data.add(op.name)
        wanted = _wanted().get(op.type, "").split()
        if any(tensor.op.name in on_data for name in wanted for tensor in _operands(op, name)):
            yield op
        for inner in functions_of(graph, op) if op.type in _CALLS else ():
            pairs = zip(op.inputs, inner.inputs, strict=False)
            yield from _within(inner, {own.op.name for outer, own in pairs if outer.op.name in on_data})


@cache
def _wanted() -> Mapping[str, str]:
    """By operation, the inputs that were measured to have to be constants, parted by blanks; read without what reads
    the tables elsewhere, which is not installed beside what is probed."""
    found: dict[str, str] = json.loads((FOLDER / "ops.json").read_bytes())["constants"]
    return found


def _operands(op: Any, name: str) -> list[Any]:
    """The inputs of an operation that its definition calls so: several where it takes a list."""
    place = 0
    for argument in op.op_def.input_arg:
        count = op.get_attr(argument.number_attr) if argument.number_attr else 1
        count = len(op.get_attr(argument.type_list_attr)) if argument.type_list_attr else count
        if argument.name == name:
            return list(op.inputs)[place : place + count]
        place += count
    return []
