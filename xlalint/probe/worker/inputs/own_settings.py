"""Settings that a project has ready: what is at the top of its modules, and what its functions give that ask for
nothing.

DEFAULTS = {"units": 64}
class Block:
    @classmethod
    def default_options(cls): return {"units": 64, "rate": 0.1}
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from .culprits import FailedCall, user_frames_of
from .signatures import asked_of, tree_of
from .tensors import ObjectInput

_MOST: Final = 3
_LONG: Final = (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)  # what does more than to give settings


def ready_with(failed: FailedCall, name: str) -> tuple[ObjectInput, ...]:
    """What the project has ready that has a setting of a name: of the failing class first."""
    found = (ObjectInput(text, make) for text, make in _ready(failed, name) if _has(make, name))
    return tuple(dict.fromkeys(islice(found, _MOST)))


def _ready(failed: FailedCall, name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    frames = [frame for frame, _ in reversed(user_frames_of(failed.error.__traceback__, failed.own))]
    owners = {type(frame.f_locals["self"]): None for frame in frames if "self" in frame.f_locals}
    for owner in owners:
        for one in dir(owner):
            if not one.startswith("__") and inspect.isfunction(
                method := getattr(getattr(owner, one), "__func__", None)
            ):
                several = [getattr(vars(base)[one], "__func__", None) for base in owner.__mro__ if one in vars(base)]
                if _gives(method, name, several, bound=True):
                    yield f"{owner.__qualname__}.{one}()", getattr(owner, one)
    spaces = {id(frame.f_globals): frame.f_globals for frame in frames}
    modules = [vars(one) for one in list(sys.modules.values()) if failed.own(getattr(one, "__file__", None) or "")]
    for space in (spaces | {id(one): one for one in modules}).values():
        for one, value in list(space.items()):
            if inspect.isfunction(value):
                if value.__globals__ is space and _gives(value, name, [value]):
                    yield f"{one}()", value
            elif not one.startswith("__") and not inspect.ismodule(value) and not inspect.isclass(value):
                yield one, partial(copy.deepcopy, value)


def _gives(function: Callable[..., Any], name: str, several: list[Any], bound: bool = False) -> bool:
    """Whether a function that asks for nothing may give a setting, by what it says itself, or one of those of its name
    that its class inherits."""
    if asked_of(function, bound):
        return False
    nodes = [node for one in several if one and (tree := tree_of(one)) for node in ast.walk(tree)]
    gives = any(isinstance(node, ast.Return) and node.value is not None for node in nodes)
    return gives and not any(isinstance(node, _LONG) for node in nodes) and any(_says(node, name) for node in nodes)


def _says(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Constant(value=str(word)):
            return word.lstrip("-").replace("-", "_") == name
        case ast.keyword(arg=word) | ast.Attribute(attr=word, ctx=ast.Store()):
            return word == name
    return False


def _has(make: Callable[[], Any], name: str) -> bool:
    try:
        made = make()
        return name in made if isinstance(made, Mapping) else hasattr(made, name)
    except Exception:  # of any kind: it does something else
        return False
