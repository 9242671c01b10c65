"""The parts of an argument that is a dict, a list or a tuple, each with how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xlalint.analysis.domain.values import Dict, Sequence, Static, Value
from xlalint.syntax import nodes as cst

_DEEP: Final = 3  # of settings in settings


def numbers_in(value: Value, node: cst.CSTNode, deep: int = _DEEP) -> Iterator[tuple[Static, cst.CSTNode]]:
    """The Python values that an argument is, or holds; where it is a name for what holds them, the name stands for
    each."""
    match value:
        case Static():
            yield value, node
        case Dict(entries) if deep:
            written = _entries(node)
            for key, part in entries.items():
                yield from numbers_in(part, written.get(key, node), deep - 1)
        case Sequence(items=tuple(items)) if deep:
            places = _items(node, len(items))
            for part, place in zip(items, places, strict=True):
                yield from numbers_in(part, place, deep - 1)


def _entries(node: cst.CSTNode) -> dict[object, cst.CSTNode]:
    """How the values of a dict are written, by their literal keys."""
    found: dict[object, cst.CSTNode] = {}
    match node:
        case cst.Dict(elements=elements):
            for element in elements:
                if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
                    found[element.key.evaluated_value] = element.value
        case cst.Call(func=cst.Name("dict"), args=args):
            found |= {arg.keyword.value: arg.value for arg in args if arg.keyword is not None}
    return found


def _items(node: cst.CSTNode, count: int) -> list[cst.CSTNode]:
    match node:
        case cst.Tuple(elements=elements) | cst.List(elements=elements) if len(elements) == count:
            return [element.value for element in elements]
        case _:
            return [node] * count
