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
    called = {_name(one.func) for one in ast.walk(value) if isinstance(one, ast.Call)}
    if called & _POSITIONS:
        return True
    return not inside and any(_gives_positions(one, path, True) for one in _functions(path) if one.name in called)


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
def _functions(path: str) -> tuple[_Function, ...]:
    try:
        tree = ast.parse(Path(path).read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return ()
    return tuple(one for one in ast.walk(tree) if isinstance(one, _Function))
