"""Which files hold tests; one that is named like a test may be a program, which runs a model on a test set, say."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable
from typing import Final

from .outline import ClassOutline, FunctionOutline, ImportOutline, Outline, Stretch

_NAMES: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_FOLDERS: Final = re.compile(r"(^|/)tests?/|(^|/)conftest\.py$")
_LIBRARIES: Final = frozenset(("absltest", "hypothesis", "pytest", "testing", "unittest"))
_CASES: Final = re.compile(r"\w*Test(?:Case)?(?:Base)?$")
_ASSERTS: Final = re.compile(r"\bassert")
_RUNS: Final = (ast.For, ast.While, ast.With)


def is_of_tests(path: str) -> bool:
    """Whether a file holds tests, by its name or its folder's."""
    return is_among_tests(path) or is_named_as_test(path)


def is_among_tests(path: str) -> bool:
    """Whether a file stands in a folder of tests, or sets them up."""
    return _FOLDERS.search(_slashed(path)) is not None


def is_named_as_test(path: str) -> bool:
    """Whether a file has the name of a test."""
    return _NAMES.search(_slashed(path)) is not None


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")


def tests_nothing(outline: Outline, text_of: Callable[[Stretch], str]) -> bool:
    """Whether a file has no test: a function that is called `test` and asserts nothing is none. `text_of`: what stands
    in the lines of a stretch."""
    for bindings in outline.bindings.values():
        for binding in bindings:
            match binding:
                case ImportOutline(module=module, attribute=attribute):
                    tests = not _LIBRARIES.isdisjoint((*module.split("."), attribute))
                case FunctionOutline(name=name, stretch=stretch):
                    tests = name.startswith("test") and _ASSERTS.search(text_of(stretch)) is not None
                case ClassOutline(name=name, bases=bases):
                    tests = name.startswith("Test") or any(_CASES.match(base.rpartition(".")[2]) for base in bases)
            if tests:
                return False
    return True


def does_something(statements: Iterable[ast.stmt]) -> bool:
    """Whether code at the top of a file does something, and is no setting."""
    return any(
        isinstance(statement, _RUNS) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
        for statement in statements
    )
