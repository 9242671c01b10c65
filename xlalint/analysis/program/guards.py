"""Imports under a test of the backend, `if keras.config.backend() == "jax":` say, and the files that only such imports
reach: nothing but these backends runs them."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ...findings.findings import Backend
from .signs import ModuleSigns

EVERY: Final = frozenset(Backend)
_ASKED: Final = "keras.backend.backend"
_PACKAGE: Final = f"{os.sep}__init__.py"


def left_by(conditions: Sequence[str], api: Callable[[str], str | None]) -> frozenset[Backend]:
    """The backends of which conditions may all hold; `api` says what a dotted name is called in its library."""
    tests = [ast.parse(condition, mode="eval").body for condition in conditions]
    return frozenset(backend for backend in Backend if all(_holds(test, backend, api) is not False for test in tests))


def _holds(test: ast.expr, backend: str, api: Callable[[str], str | None]) -> bool | None:
    """Whether a condition holds with a backend, None: that cannot be told."""
    match test:
        case ast.BoolOp(op, values):
            each = [_holds(value, backend, api) for value in values]
            decides = isinstance(op, ast.Or)
            return decides if decides in each else None if None in each else not decides
        case ast.UnaryOp(ast.Not(), operand):
            held = _holds(operand, backend, api)
            return None if held is None else not held
        case ast.Compare(asked, [sign], [names]) if _asks(asked, api):
            named = _constants(names)
            if named is None:
                return None
            match sign:
                case ast.Eq() | ast.In():
                    return backend in named
                case ast.NotEq() | ast.NotIn():
                    return backend not in named
    return None


def _asks(asked: ast.expr, api: Callable[[str], str | None]) -> bool:
    """Whether an expression is the backend: `keras.backend.backend()`, or the variable that Keras reads."""
    match asked:
        case ast.Call(func=func, args=[]):
            return api(ast.unparse(func)) == _ASKED
        case ast.Call(func=func, args=[ast.Constant(value="KERAS_BACKEND"), *_]):
            return ast.unparse(func) in ("os.environ.get", "os.getenv")
        case ast.Subscript(value=read, slice=ast.Constant(value="KERAS_BACKEND")):
            return ast.unparse(read) == "os.environ"
        case _:
            return False


def _constants(names: ast.expr) -> list[object] | None:
    try:
        value = ast.literal_eval(names)
    except ValueError:
        return None
    return [*value] if isinstance(value, (tuple, list, set)) else [value]


def allowed(modules: Iterable[ModuleSigns]) -> dict[str, frozenset[Backend]]:
    """By its absolute path, what may run a file that is imported under tests of the backend alone, if as a part of a
    package that is. Tests that import it do not count; what nothing imports may be run with any."""
    known = [module for module in modules if not module.test]
    if not any(module.guarded for module in known):
        return {}
    ways = {module.path: dict.fromkeys(module.imports, EVERY) | _passed(module) for module in known}
    for package in {path for module in known for path in module.guarded if path.endswith(_PACKAGE)}:
        inside = package.removesuffix(_PACKAGE) + os.sep
        ways.setdefault(package, {}).update({path: EVERY for path in ways if path.startswith(inside)})
    imported = {path for file, paths in ways.items() for path in paths if path != file}
    found = _spread({path: EVERY for path in ways if path not in imported}, ways)
    found = _spread(found | {path: EVERY for path in ways if path not in found}, ways)  # a circle that nothing leads to
    return {path: backends for path, backends in found.items() if backends != EVERY}


def _passed(module: ModuleSigns) -> dict[str, frozenset[Backend]]:
    return {path: frozenset(map(Backend, passed)) for path, passed in module.guarded.items()}


def _spread(
    roots: Mapping[str, frozenset[Backend]], ways: Mapping[str, Mapping[str, frozenset[Backend]]]
) -> dict[str, frozenset[Backend]]:
    """What roots may be run with, and what they import."""
    found, pending = dict(roots), list(roots)
    while pending:
        file = pending.pop()
        for path, passed in ways.get(file, {}).items():
            more = found[file] & passed
            if path not in found or not more <= found[path]:
                found[path] = found.get(path, frozenset()) | more
                pending.append(path)
    return found
