"""What has to be called on an object before a method of it: what sets the attributes that the method reads."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from ..inputs.slots import tree_of


def preparations(cls: type, name: str) -> tuple[str, ...]:
    """The methods without parameters that set what a method reads, and what nothing sets while the object is made."""
    if not inspect.isfunction(method := getattr(cls, name, None)) or (tree := tree_of(method)) is None:
        return ()
    read = {node.attr for node in _of_self(tree) if isinstance(node.ctx, ast.Load)}
    missing = {attribute for attribute in read if not hasattr(cls, attribute)} - _set_by(cls, "__init__")
    found: list[str] = []
    for other in dir(cls) if missing else ():
        if (
            other != name
            and not other.startswith("__")
            and missing & _set_by(cls, other)
            and _takes_nothing(cls, other)
        ):
            missing -= _set_by(cls, other)
            found.append(other)
    return tuple(found)


def _set_by(cls: type, name: str) -> set[str]:
    """The attributes of the object that a method sets, in the class or in one that it inherits from."""
    methods = [vars(base)[name] for base in cls.__mro__ if inspect.isfunction(vars(base).get(name))]
    trees = [tree for method in methods if (tree := tree_of(method)) is not None]
    return {node.attr for tree in trees for node in _of_self(tree) if isinstance(node.ctx, ast.Store)}


def _takes_nothing(cls: type, name: str) -> bool:
    method = getattr(cls, name)
    parameters = list(inspect.signature(method).parameters.values())[1:] if inspect.isfunction(method) else None
    return parameters is not None and all(
        one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters
    )


def _of_self(tree: ast.AST) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node
