"""Lists that a constructor fills, once for each object: what stands at a fixed index of one stays what it is."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import Array, Class, Static, Tensor, Unknown, Value
from ..program.definitions import all_methods
from ..record import replace
from .captured import constructs
from .contexts import NOT_TRACED
from .frames import Frame

CHANGES: Final = frozenset(("append", "appendleft", "clear", "extend", "insert", "pop", "popleft", "remove", "sort"))


def at_fixed_index(frame: Frame, node: cst.Subscript, item: Value, found: Value) -> Value:
    """An element of a list, without what tells the elements apart where always the same one is taken."""
    match node, item, found:
        case (
            cst.Subscript(value=cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=name))),
            Static(varies=()) | Unknown(varies=(), names=frozenset()),
            Tensor(varies=(_, *_)) | Array(varies=(_, *_)),
        ) if (
            frame.context.kind in NOT_TRACED
            and not (frame.python_loop and isinstance(item, Unknown))
            and frame.owner is not None
            and _is_filled_once(frame.owner, name)
        ):
            return found.with_(varies=()) if isinstance(found, Tensor) else replace(found, varies=())
        case _:
            return found


def _is_filled_once(cls: Class, name: str) -> bool:
    """Whether nothing but the constructor of a class, and what that alone calls, changes an attribute."""
    methods = [method for method in all_methods(cls) if name in method.text]
    return all(constructs(method) or not _changes(method.node.body, name) for method in methods)


def _changes(body: cst.CSTNode, name: str) -> bool:
    for node in cst.within(body):
        match node:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method))) if method in CHANGES:
                if _is_own(owner, name):
                    return True
    return any(_is_own(target, name) for target in cst.targets_in(body))


def _is_own(node: cst.CSTNode, name: str) -> bool:
    """Whether this is the attribute of the object, or a part of it."""
    match node:
        case cst.Attribute(value=cst.Name("self"), attr=cst.Name(value=attribute)):
            return attribute == name
        case cst.Subscript(value=owner):
            return _is_own(owner, name)
        case cst.Tuple() | cst.List():
            return any(_is_own(element.value, name) for element in node.elements)
        case _:
            return False
