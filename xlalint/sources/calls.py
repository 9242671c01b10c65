"""What the syntax tree of a file says of functions and their calls, where nothing is known of values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

LIBRARIES: Final = ("tensorflow.", "numpy.", "jax.", "keras.", "tf_keras.")
OBJECT: Final = ("self", "cls")
PythonFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def assigned(function: PythonFunction, names: Set[str]) -> list[ast.expr]:
    """What these names, and those that they are made of, are assigned in a function."""
    found, pending, values = set(names), list(names), list[ast.expr]()
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    while pending:
        name = pending.pop()
        for node in assigned:
            if name in {one for target in node.targets for one in names_in(target)}:
                values.append(node.value)
                pending += set(names_in(node.value)) - found
                found.update(names_in(node.value))
    return values


def last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def names_in(node: ast.expr) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def parameters(function: PythonFunction) -> list[str]:
    """Those that a call fills by position, then the others."""
    found = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    own = bool(found) and found[0] in OBJECT
    return [*found[own:], *(one.arg for one in function.args.kwonlyargs)]


def arguments(call: ast.Call, function: PythonFunction, names: Set[str]) -> Iterator[ast.expr]:
    """What a call passes for some of the parameters."""
    yield from (value for name, value in zip(parameters(function), call.args, strict=False) if name in names)
    yield from (one.value for one in call.keywords if one.arg in names)


def function_around(path: str, line: int) -> PythonFunction | None:
    """The innermost function around a line of a file."""
    around = [one for one in functions(path) if one.lineno <= line <= (one.end_lineno or 0)]
    return max(around, key=lambda one: one.lineno, default=None)


def class_around(path: str, line: int) -> ast.ClassDef | None:
    """The innermost class around a line of a file."""
    classes = (one for one in nodes(path) if isinstance(one, ast.ClassDef))
    around = [one for one in classes if one.lineno <= line <= (one.end_lineno or 0)]
    return max(around, key=lambda one: one.lineno, default=None)


@lru_cache(maxsize=32)
def nodes(path: str) -> tuple[ast.AST, ...]:
    """All of a file."""
    try:
        return tuple(ast.walk(ast.parse(Path(path).read_text("utf-8"))))
    except (OSError, ValueError, SyntaxError):
        return ()


@lru_cache(maxsize=32)
def functions(path: str) -> tuple[PythonFunction, ...]:
    return tuple(one for one in nodes(path) if isinstance(one, PythonFunction))


@lru_cache(maxsize=32)
def imported(path: str) -> dict[str, str]:
    """What the names mean that a file imports, and those that it assigns such a name, as in `K = keras.backend`."""
    found: dict[str, str] = {}
    for node in nodes(path):
        match node:
            case ast.Import(names=names):
                for one in names:
                    package = one.name.partition(".")[0]
                    found |= {one.asname: one.name} if one.asname else {package: package}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found |= {one.asname or one.name: f"{module}.{one.name}" for one in names}
            case ast.ImportFrom(names=names):
                found |= {one.asname or one.name: f".{one.name}" for one in names}
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                root = ast.unparse(value).partition(".")[0]
                if root in found:
                    found[name] = found[root]
    return found
