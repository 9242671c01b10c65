"""Whether the callers of a function compute the positions that a finding there speaks of, by what gives such as are in
range whatever a program is fed.

    weights = self.selected(tf.math.top_k(scores, 2).indices)      computed
    weights = self.selected(tf.cast(inputs["ids"], "int32"))       passed on
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from ..findings.findings import Finding
from ..sources.calls import (
    LIBRARIES,
    OBJECT,
    PythonFunction,
    arguments,
    assigned,
    function_around,
    functions,
    imported,
    last_name,
    names_in,
    parameters,
)

_POSITIONS: Final = {
    "top_k",
    "argmax",
    "argmin",
    "argsort",
    "nonzero",
    "range",
    "arange",
    "non_max_suppression",
    "argwhere",
}
_OF_CONDITION: Final = "where"
_OF_ARRAYS: Final = {"argmax", "argmin", "argsort", "nonzero"}  # as methods


def by_callers(finding: Finding) -> bool:
    """Whether one of the callers on the way to a finding computes positions for a parameter that it is about."""
    trail = finding.context.trail if finding.context is not None else ()
    here = function_around(finding.path, finding.span.line)
    if here is None:
        return False
    lines = range(finding.span.line, finding.span.end_line + 1)
    names = {name for node in ast.walk(here) if getattr(node, "lineno", 0) in lines for name in _positions(node)}
    names = {name for value in assigned(here, names) for name in names_in(value)} | names
    for step in reversed(trail[1:]):
        caller = function_around(step.path, step.line)
        if caller is None or not (names := names.intersection(parameters(here))):
            return False
        passed = [one for call in _calls(caller, step.line, here.name) for one in arguments(call, here, names)]
        values = [*passed, *assigned(caller, {name for one in passed for name in names_in(one)})]
        if any(_gives_positions(value, step.path) for value in values) or _keeps_in_range(values, step.path):
            return True
        names, here = {name for value in values for name in names_in(value)}, caller
    return False


def _positions(node: ast.AST) -> Iterator[str]:
    """The names of what an expression takes elements by."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            yield from (name for one in (*args[1:], *(other.value for other in keywords)) for name in names_in(one))
        case ast.Subscript(slice=places):
            yield from names_in(places)


def _gives_positions(value: ast.AST, path: str, inside: bool = False) -> bool:
    """Whether an expression computes positions, or a function of the file that it calls."""
    calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
    if any(_is_of_positions(one, path) for one in calls):
        return True
    called = {last_name(one.func) for one in calls}
    return not inside and any(_gives_positions(one, path, True) for one in functions(path) if one.name in called)


def _keeps_in_range(values: list[ast.expr], path: str) -> bool:
    """Whether `boolean_mask` chooses elements that what is assigned compares: those that are in a range, say."""
    nodes = [node for value in values for node in ast.walk(value)]
    compared = {name for node in nodes if isinstance(node, ast.Compare) for name in names_in(node)}
    masked = (node for node in nodes if isinstance(node, ast.Call) and node.args and _is_mask(node, path))
    return any(not compared.isdisjoint(names_in(call.args[0])) for call in masked)


def _is_mask(call: ast.Call, path: str) -> bool:
    return _of_library(call, path).rpartition(".")[2] == "boolean_mask"


def _of_library(call: ast.Call, path: str) -> str:
    """The dotted name of a function of a library that a call is of, as the file imports it; empty for others."""
    root, _, behind = ast.unparse(call.func).partition(".")
    dotted = f"{imported(path).get(root, '')}.{behind}".strip(".")
    return dotted if dotted.startswith(LIBRARIES) else ""


def _is_of_positions(call: ast.Call, path: str) -> bool:
    """Whether a call is of what a library gives positions by, Python's `range`, or such a method of an array. `where`
    gives them of a condition alone."""
    called = call.func
    if ast.unparse(called).partition(".")[0] in imported(path):
        name, alone = _of_library(call, path).rpartition(".")[2], len(call.args) + len(call.keywords) == 1
        return name in _POSITIONS or (name == _OF_CONDITION and alone)
    if isinstance(called, ast.Name):
        return called.id == "range" and all(one.name != "range" for one in functions(path))
    return isinstance(called, ast.Attribute) and called.attr in _OF_ARRAYS and last_name(called.value) not in OBJECT


def _calls(caller: PythonFunction, line: int, name: str) -> list[ast.Call]:
    """The calls at a line; those of a name, where there are such: an object is called by any."""
    calls = (one for one in ast.walk(caller) if isinstance(one, ast.Call))
    here = [one for one in calls if one.lineno <= line <= (one.end_lineno or 0)]
    return [one for one in here if last_name(one.func) == name] or here[:1]
