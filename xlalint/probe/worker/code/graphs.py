"""Operations of traced graphs, and of the functions that these call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def scope_of(graph: Any, kinds: Sequence[str]) -> str:
    """Behind what is said of operations of some kinds that no line of the user's made: the names of the layers around
    the first of them, where it has any."""
    for inner in all_graphs(graph):
        for op in inner.get_operations():
            around = op.name.rpartition("/")[0]
            if op.type in kinds and around:
                return f" (in `{around}`)"
    return ""


def find_op(graph: Any, name: str) -> Any:
    """The operation of a graph, or of the functions that it calls, that a program or an error names; None if none."""
    op = _in(graph, name)
    if op is not None:
        return op
    parts = name.split("/")
    for end in range(1, len(parts) + 1):
        caller = _in(graph, "/".join(parts[:end]))
        for inner in functions_of(graph, caller) if caller is not None else ():
            for inside in ("/".join(parts[end:]), name):
                if inside and (op := find_op(inner, inside)) is not None:
                    return op
    return None


def _in(graph: Any, name: str) -> Any:
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


def functions_of(graph: Any, op: Any) -> Iterator[Any]:
    """The graphs of the functions that an operation calls."""
    for value in op.node_def.attr.values():
        for called in (value.func, *value.list.func):
            if called.name:
                function = getattr(graph, "_functions", {}).get(called.name)
                inner = getattr(function, "graph", None)
                if inner is not None:
                    yield inner


def all_graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of all functions that it calls, at any depth."""
    yield graph
    for op in graph.get_operations():
        for inner in functions_of(graph, op):
            yield from all_graphs(inner)
