"""What something callable asks for, and its syntax."""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final

_ANY: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
REPLACES: Final = "replaces"  # an attribute of a constructor: the one of a base in the place of which it runs


def python_function_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function that `tf.function` has wrapped."""
    return typing.cast("Callable[..., Any]", getattr(function, "python_function", function))


def tree_of(function: Callable[..., Any]) -> ast.AST | None:
    """The syntax of a function or class; None where there is no source."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(python_function_of(function)))))
    except (OSError, TypeError, SyntaxError):
        return None


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """What something callable takes; a class what its objects are made of, where its metaclass passes anything on."""
    found = inspect.signature(function)
    if inspect.isclass(function) and all(one.kind in _ANY for one in found.parameters.values()):
        made = inspect.signature(function.__init__)
        return made.replace(parameters=list(made.parameters.values())[1:])
    return found


def asked_of(function: Callable[..., Any], bound: bool = False) -> list[inspect.Parameter]:
    """The parameters that a call has to fill; `bound`: the first one is the object, or the class, that is there."""
    parameters = list(signature_of(function).parameters.values())[int(bound) :]
    return [one for one in parameters if one.default is one.empty and one.kind not in _ANY]


def of_bases(cls: Any) -> Iterator[inspect.Parameter]:
    """What a class that passes on what it is made of needs for the classes that say what that is, and does not say
    itself."""
    makers = [vars(base).get("__init__") for base in cls.__mro__] if inspect.isclass(cls) else []
    replaced = [getattr(one, REPLACES, None) for one in makers]
    makers = [one for one in makers if one is not None and one not in replaced]
    known: set[str] = set()
    for number, made in enumerate(filter(inspect.isfunction, makers)):
        parameters = list(inspect.signature(made).parameters.values())[1:]
        named = [one for one in parameters if one.kind not in _ANY]
        missing = [one for one in named if one.default is one.empty and one.name not in known]
        if number:
            yield from (one.replace(kind=one.KEYWORD_ONLY) for one in missing)
        passed = _passed_on(made)
        if passed is None or not any(one.kind is one.VAR_KEYWORD for one in parameters):
            return
        known |= {one.name for one in named} | passed


def _passed_on(made: Callable[..., Any]) -> set[str] | None:
    """The names with which a constructor calls the one of its base, where it passes on all other options and nothing by
    position; None where it does not."""
    for node in ast.walk(tree_of(made) or ast.Module([], [])):
        match node:
            case ast.Call(func=ast.Attribute(attr="__init__"), args=args, keywords=[*named, ast.keyword(arg=None)]):
                plain = all(isinstance(one, ast.Starred) or ast.unparse(one) == "self" for one in args)
                return {str(one.arg) for one in named} if plain else None
    return None
