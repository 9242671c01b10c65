"""Whether the callers of a function compute the positions that a finding there speaks of, by what gives such as are in
range whatever a program is fed.

    weights = self.selected(tf.math.top_k(scores, 2).indices)      computed
    weights = self.selected(tf.cast(inputs["ids"], "int32"))       passed on
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from ..findings.findings import Finding

_POSITIONS: Final = {"top_k", "argmax", "argmin", "argsort", "nonzero", "range", "arange", "non_max_suppression"}
_OF_ARRAYS: Final = {"argmax", "argmin", "argsort", "nonzero"}  # as methods
_LIBRARIES: Final = ("tensorflow.", "numpy.", "jax.", "keras.", "tf_keras.")
_OBJECT: Final = ("self", "cls")
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def by_callers(finding: Finding) -> bool:
    """Whether one of the callers on the way to a finding computes positions for a parameter that it is about."""
    trail = finding.context.trail if finding.context is not None else ()
    here = _function(finding.path, finding.span.line)
    if here is None:
        return False
    lines = range(finding.span.line, finding.span.end_line + 1)
    names = {name for node in ast.walk(here) if getattr(node, "lineno", 0) in lines for name in _positions(node)}
    names = {name for value in _values(here, names) for name in _names(value)} | names
    for step in reversed(trail[1:]):
        caller = _function(step.path, step.line)
        if caller is None or not (names := names.intersection(_parameters(here))):
            return False
        passed = [one for call in _calls(caller, step.line, here.name) for one in _arguments(call, here, names)]
        values = [*passed, *_values(caller, {name for one in passed for name in _names(one)})]
        if any(_gives_positions(value, step.path) for value in values):
            return True
        names, here = {name for value in values for name in _names(value)}, caller
    return False


def _positions(node: ast.AST) -> Iterator[str]:
    """The names of what an expression takes elements by."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            yield from (name for one in (*args[1:], *(other.value for other in keywords)) for name in _names(one))
        case ast.Subscript(slice=places):
            yield from _names(places)


def _values(function: _Function, names: Set[str]) -> list[ast.expr]:
    """What these names, and those that they are made of, are assigned in a function."""
    found, pending, values = set(names), list(names), list[ast.expr]()
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    while pending:
        name = pending.pop()
        for node in assigned:
            if name in {one for target in node.targets for one in _names(target)}:
                values.append(node.value)
                pending += set(_names(node.value)) - found
                found.update(_names(node.value))
    return values


def _gives_positions(value: ast.AST, path: str, inside: bool = False) -> bool:
    """Whether an expression computes positions, or a function of the file that it calls."""
    calls = [one.func for one in ast.walk(value) if isinstance(one, ast.Call)]
    if any(_is_of_positions(one, path) for one in calls):
        return True
    called = {_name(one) for one in calls}
    return not inside and any(_gives_positions(one, path, True) for one in _functions(path) if one.name in called)


def _is_of_positions(called: ast.expr, path: str) -> bool:
    """Whether what is called is what a library gives positions by, Python's `range`, or such a method of an array."""
    root, _, behind = ast.unparse(called).partition(".")
    if (meaning := _imported(path).get(root)) is not None:
        dotted = f"{meaning}.{behind}".rstrip(".")
        return dotted.startswith(_LIBRARIES) and dotted.rpartition(".")[2] in _POSITIONS
    if isinstance(called, ast.Name):
        return called.id == "range" and all(one.name != "range" for one in _functions(path))
    return isinstance(called, ast.Attribute) and called.attr in _OF_ARRAYS and _name(called.value) not in _OBJECT


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _names(node: ast.expr) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _parameters(function: _Function) -> list[str]:
    """Those that a call fills by position, then the others."""
    found = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    own = bool(found) and found[0] in _OBJECT
    return [*found[own:], *(one.arg for one in function.args.kwonlyargs)]


def _calls(caller: _Function, line: int, name: str) -> list[ast.Call]:
    """The calls at a line; those of a name, where there are such: an object is called by any."""
    calls = (one for one in ast.walk(caller) if isinstance(one, ast.Call))
    here = [one for one in calls if one.lineno <= line <= (one.end_lineno or 0)]
    return [one for one in here if _name(one.func) == name] or here[:1]


def _arguments(call: ast.Call, function: _Function, names: Set[str]) -> Iterator[ast.expr]:
    """What a call passes for some of the parameters."""
    yield from (value for name, value in zip(_parameters(function), call.args, strict=False) if name in names)
    yield from (one.value for one in call.keywords if one.arg in names)


def _function(path: str, line: int) -> _Function | None:
    """The innermost function around a line of a file."""
    around = [one for one in _functions(path) if one.lineno <= line <= (one.end_lineno or 0)]
    return max(around, key=lambda one: one.lineno, default=None)


@lru_cache(maxsize=32)
def _nodes(path: str) -> tuple[ast.AST, ...]:
    """All of a file."""
    try:
        return tuple(ast.walk(ast.parse(Path(path).read_text("utf-8"))))
    except (OSError, ValueError, SyntaxError):
        return ()


@lru_cache(maxsize=32)
def _functions(path: str) -> tuple[_Function, ...]:
    return tuple(one for one in _nodes(path) if isinstance(one, _Function))


@lru_cache(maxsize=32)
def _imported(path: str) -> dict[str, str]:
    """What the names mean that a file imports, and those that it assigns such a name, as in `K = keras.backend`."""
    found: dict[str, str] = {}
    for node in _nodes(path):
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
