"""Tests of a project, run for what they call: with their fixtures and with the first of their cases."""

from __future__ import annotations

import ast
import contextlib
import inspect
import tempfile
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from xlalint.probe.target import Frame

from ..code.importing import LoadError, load
from ..inputs.signatures import tree_of
from .driven import NotDrivenError
from .harnesses import Harness, code_of

_DEEPEST: Final = 4  # fixtures of fixtures
_BEFORE: Final = ("setUpClass", "setUp")  # what runs before each test of a case
_CONFTEST: Final = "conftest.py"


def test_harness(module: ModuleType, test: Frame) -> Harness:
    """How a test of an imported module is run."""
    run = _run_of(module, test.qualname)
    return Harness(
        [],
        lambda groups: run(),
        lambda solution: run,
        lambda solution: f"in the test `{test.qualname}`",
        code_of(run),
    )


def _run_of(module: ModuleType, qualname: str) -> Callable[[], Any]:
    first, _, method = qualname.partition(".")
    found = getattr(module, first, None)
    if inspect.isclass(found) and issubclass(found, unittest.TestCase):
        return _of_case(found, method)
    if inspect.isclass(found):
        function = getattr(found, method, None)
        return lambda: function(found(), **_arguments(function, module, bound=True)) if callable(function) else None
    if not callable(found):
        raise NotDrivenError(f"the imported module has no `{qualname}`")
    return lambda: found(**_arguments(found, module))


def _of_case(case: type[unittest.TestCase], method: str) -> Callable[[], Any]:
    """A method of a test case; the first of those that were made of it for several parameters."""
    names = unittest.TestLoader().getTestCaseNames(case)
    chosen = next((name for name in names if name == method), None)
    chosen = chosen or next((name for name in names if name.startswith(method) or method in _BEFORE), None)
    if chosen is None:
        raise NotDrivenError(f"`{case.__qualname__}` has no test `{method}`")

    def run() -> Any:
        made = case(chosen)
        with contextlib.ExitStack() as stack:
            case.setUpClass()
            stack.callback(case.tearDownClass)
            made.setUp()
            stack.callback(made.tearDown)
            return getattr(made, chosen)()

    return run


def _arguments(
    function: Callable[..., Any], module: ModuleType, *, bound: bool = False, depth: int = 0
) -> dict[str, Any]:
    """What pytest would pass for the first case of a test, or to a fixture. Raises LookupError."""
    if depth > _DEEPEST:
        raise LookupError("fixtures of fixtures")
    cases = dict(_cases(function))
    parameters = list(inspect.signature(function).parameters.values())[int(bound) :]
    needed = [one.name for one in parameters if one.default is one.empty]
    return {name: cases[name] if name in cases else _fixture(name, module, depth) for name in needed}


def _cases(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The parameters of the first case of a test that pytest runs for several."""
    marks = [one.args for one in getattr(function, "pytestmark", ()) if one.name == "parametrize"]
    for mark in marks or _decorated(function, "parametrize"):
        match mark:
            case (names, values, *_):
                several = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
                first = next(iter(values))
                marked = getattr(first, "values", None)  # of what `pytest.param` gives
                alone = [first] if len(several) == 1 else first
                yield from zip(several, marked if isinstance(marked, tuple) else alone, strict=False)


def _decorated(function: Callable[..., Any], name: str) -> Iterator[tuple[Any, ...]]:
    """What decorators of a name are called with in the source: where pytest is not installed, they leave nothing."""
    definitions = [one for one in ast.walk(tree_of(function) or ast.Module([], [])) if isinstance(one, ast.FunctionDef)]
    for one in definitions[0].decorator_list if definitions else ():
        match one:
            case ast.Attribute(attr=attribute) if attribute == name:
                yield ()
            case ast.Call(func=ast.Attribute(attr=attribute), args=arguments) if attribute == name:
                several = ast.fix_missing_locations(ast.Expression(ast.Tuple(arguments, ast.Load())))
                yield eval(compile(several, "<decorator>", "eval"), function.__globals__)


def _fixture(name: str, module: ModuleType, depth: int) -> Any:
    """What a fixture of a test's file, or of its folder, gives."""
    if name == "tmp_path":
        return Path(tempfile.mkdtemp())
    for holder in _holders(module):
        found = getattr(holder, name, None)
        wrapped = getattr(found, "_fixture_function", None) or getattr(found, "__wrapped__", None)
        if wrapped is None and inspect.isfunction(found) and any(True for _ in _decorated(found, "fixture")):
            wrapped = found
        if wrapped is not None:
            made = wrapped(**_arguments(wrapped, module, depth=depth + 1))
            return next(made) if inspect.isgenerator(made) else made
    raise LookupError(name)


def _holders(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    path = Path(module.__file__ or "").with_name(_CONFTEST)
    if path.exists():
        with contextlib.suppress(LoadError):
            yield load(path).module
