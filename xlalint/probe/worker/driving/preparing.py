"""What has to be called on an object before a method of it: what sets the attributes that the method reads."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..inputs.signatures import asked_of, python_function_of, tree_of

_DEEPEST: Final = 3  # methods behind methods


def preparations(cls: type, name: str) -> tuple[str, ...]:
    """The methods that set what a method reads, and what nothing sets while the object is made: one of them at most,
    the last one here, asks for arguments."""
    run = _run_by(cls, name)
    read = {attribute for one in run for attribute in _accessed(cls, one, ast.Load)}
    made = {attribute for one in _run_by(cls, "__init__") for attribute in _set_by(cls, one)}
    missing = {attribute for attribute in read if not hasattr(cls, attribute)} - made
    found: list[str] = []
    others = [one for one in dir(cls) if one not in run and not one.startswith("__")] if missing else []
    able = [one for one in others if inspect.isfunction(getattr(cls, one)) and missing & _set_by(cls, one)]
    # What calls the method itself leaves other values for it: its caller is run for that.
    able = [one for one in able if not asks(getattr(cls, one)) or name not in _accessed(cls, one, ast.Load)]
    for other in sorted(able, key=lambda one: asks(getattr(cls, one))):
        if missing & _set_by(cls, other):
            missing -= _set_by(cls, other)
            found.append(other)
            if asks(getattr(cls, other)):
                break
    return tuple(found)


def _run_by(cls: type, name: str) -> list[str]:
    """A method and those of the same object, and of the same package, that it calls, the nearest first."""
    found = [name] if _functions(cls, name) else []
    package = cls.__module__.partition(".")[0]
    for _ in range(_DEEPEST):
        read = [one for other in found for one in sorted(_accessed(cls, other, ast.Load))]
        own = (one for one in read for it in _functions(cls, one)[:1] if it.__module__.partition(".")[0] == package)
        found = list(dict.fromkeys((*found, *own)))
    return found


def _functions(cls: type, name: str) -> list[Callable[..., Any]]:
    """The methods of a name, in the class and in those that it inherits from."""
    held = (python_function_of(vars(base)[name]) for base in cls.__mro__ if name in vars(base))
    return [one for one in held if inspect.isfunction(one)]


def _set_by(cls: type, name: str) -> set[str]:
    """The attributes of the object that a method sets."""
    return _accessed(cls, name, ast.Store)


def _accessed(cls: type, name: str, how: type[ast.expr_context]) -> set[str]:
    """The attributes of the object that a method sets or reads, in the class or in one that it inherits from."""
    trees = [tree for method in _functions(cls, name) if (tree := tree_of(method)) is not None]
    return {node.attr for tree in trees for node in _of_self(tree) if isinstance(node.ctx, how)}


def sets_attributes(method: Any) -> bool:
    """Whether a method sets attributes of any object."""
    tree = tree_of(method) if callable(method) else None
    nodes = ast.walk(tree) if tree is not None else ()
    return any(isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) for one in nodes)


def asks(method: Callable[..., Any]) -> bool:
    """Whether a method needs arguments."""
    return bool(asked_of(method, bound=True))


def _of_self(tree: ast.AST) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node
