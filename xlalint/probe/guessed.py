"""Whether a finding rests on the guess that a parameter is a tensor, which the project's own calls do not bear out.

    for i in range(len(y_true)):         in the `call` of a loss: Keras passes tensors, says the linter
    self.matching(real, fake)            here the project calls the loss itself, perhaps with lists of tensors

The probe made a tensor up there, so that what follows of it confirms nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from ..findings.findings import Finding, Span
from ..sources.calls import (
    LIBRARIES,
    PythonFunction,
    arguments,
    class_around,
    function_around,
    imported,
    last_name,
    names_in,
    nodes,
    parameters,
)
from ..sources.packages import project_of, python_files
from ..sources.text import UnreadableSource, read_bytes
from .protocol import Outcome
from .target import Target

# The rules about what Python does with a value that is a tensor: with a list, or a number, it does what was meant.
OF_READS: Final = frozenset(
    (
        "branch-on-tensor",
        "while-on-tensor",
        "iterate-over-tensor",
        "bool-operator-on-tensor",
        "assert-on-tensor",
        "host-read",
        "leave-loop-on-tensor",
    )
)
GUESSED: Final = "the project's own calls may pass something else than a tensor, which the probe made up"
_OF_OBJECTS: Final = ("call", "__call__")  # what runs when an object is called
_SEVERAL: Final = ("split", "unstack", "meshgrid", "nest", "shape_list")  # what gives lists of tensors
_LISTS: Final = ("len", "zip", "enumerate", "range", "list", "tuple", "reversed", "sorted", "min", "max", "sum")
_READS: Final = (*_LISTS, "any", "all", "bool", "int", "float")
_MOST_FILES: Final = 3000


def of_guess(finding: Finding, target: Target, outcome: Outcome) -> bool:
    """Whether what was seen of a finding with these inputs holds for the guess only, as far as anybody knows."""
    trail = finding.context.trail if finding.context is not None else ()
    first, last = target.lines
    by_itself = first <= finding.span.line <= last and ", as `" not in outcome.how  # else a caller passes it
    if finding.name not in OF_READS or len(trail) > 1 or not by_itself or target.given or target.factory:
        return False
    function = function_around(finding.path, finding.span.line)
    if function is None or not (read := _read_as_they_are(function, finding.span)):
        return False
    guessed = {name for name in read.intersection(parameters(function)) if not _is_annotated(function, name)}
    return any(_is_open(name, function, finding.path) for name in guessed)


def _read_as_they_are(function: PythonFunction, span: Span) -> set[str]:
    """The names of the parameters that an expression reads: not what is computed from them."""
    inside = (
        node
        for node in ast.walk(function)
        if isinstance(node, ast.expr)
        and (span.line, span.column) <= (node.lineno, node.col_offset + 1)
        and (node.end_lineno or 0, (node.end_col_offset or 0) + 1) <= (span.end_line, span.end_column)
    )
    found = {name for node in islice(inside, 1) for name in _bare(node)}
    return found | {name for bound, value in _bound(function) if bound in found for name in _bare(value)}


def _bare(node: ast.expr) -> Iterator[str]:
    """The names that an expression reads as they are, or elements of them."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.UnaryOp(operand=value):
            yield from _bare(value)
        case ast.BoolOp(values=several) | ast.Tuple(elts=several) | ast.List(elts=several):
            for one in several:
                yield from _bare(one)
        case ast.Compare(left=left, comparators=others):
            for one in (left, *others):
                yield from _bare(one)
        case ast.Call(func=ast.Name(id=called), args=args) if called in _READS:
            for one in args:
                yield from _bare(one)
        case ast.IfExp(test=test):
            yield from _bare(test)


def _bound(function: PythonFunction) -> Iterator[tuple[str, ast.expr]]:
    """The names that a function binds to something, or to elements of it, with that."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield from ((name, value) for name in names_in(target))


def _is_annotated(function: PythonFunction, name: str) -> bool:
    """Whether a parameter is said to be a tensor."""
    taken = function.args
    found = (one.annotation for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs) if one.arg == name)
    return any(one is not None and "Tensor" in ast.unparse(one).rpartition(".")[2] for one in found)


def _is_open(name: str, function: PythonFunction, path: str) -> bool:
    """Whether the project passes a parameter itself, and nowhere what is a tensor for certain."""
    passed = [
        _is_tensor(value, function_around(file, call.lineno), file)
        for file, call in _calls(function, path)
        for value in arguments(call, function, {name})
    ]
    return bool(passed) and not any(passed)


def _calls(function: PythonFunction, path: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls of a function in the files of its project, as far as names tell; of what runs when an object is called,
    the calls of such objects in the files that make them."""
    owner = class_around(path, function.lineno)
    of_objects = owner is not None and function.name in _OF_OBJECTS
    name = owner.name if owner is not None and of_objects else function.name
    for file in _files_with(name, project_of(Path(path).absolute())):
        called = {last_name(one) for one in _bound_to_objects(file, name)} if of_objects else {name}
        for node in nodes(file):
            match node:
                case ast.Call(func=ast.Call(func=made)) if of_objects and last_name(made) == name:
                    yield file, node
                case ast.Call(func=ast.Name() | ast.Attribute() as func) if last_name(func) in called:
                    yield file, node


def _bound_to_objects(file: str, name: str) -> Iterator[ast.expr]:
    """What a file assigns an object of a class."""
    for node in nodes(file):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=made)) if last_name(made) == name:
                yield target


@lru_cache(maxsize=256)
def _files_with(name: str, project: Path) -> tuple[str, ...]:
    """The files of a project in which a name stands."""
    return tuple(file for file, text in _texts(project).items() if name in text)


@lru_cache(maxsize=4)
def _texts(project: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in islice(python_files(project), _MOST_FILES):
        with suppress(UnreadableSource):
            found[str(file)] = read_bytes(file).decode("utf-8", "replace")
    return found


def _is_tensor(value: ast.expr, caller: PythonFunction | None, file: str) -> bool:
    """Whether an expression is a tensor for certain: what a function of a library gives, or what is computed with."""
    match value:
        case ast.Call(func=func):
            root, _, behind = ast.unparse(func).partition(".")
            dotted = f"{imported(file).get(root, '')}.{behind}".rstrip(".")
            return dotted.startswith(LIBRARIES) and dotted.rpartition(".")[2] not in _SEVERAL
        case ast.Subscript(value=inner):
            return _is_tensor(inner, caller, file)
        case ast.BinOp(left=left, right=right):
            return any(_is_tensor(one, caller, file) for one in (left, right))
        case ast.Compare(left=left, comparators=[right]):
            return any(_is_tensor(one, caller, file) for one in (left, right))
        case ast.Name(id=name) if caller is not None:
            return _is_used_as_tensor(name, caller, file)
    return False


def _is_used_as_tensor(name: str, caller: PythonFunction, file: str) -> bool:
    """Whether a function computes a name by what gives tensors, or with it what only tensors are for."""
    if _is_annotated(caller, name):
        return True
    values = [
        node.value
        for node in ast.walk(caller)
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
    others = [one for one in values if name not in names_in(one)]
    return bool(others) and all(_is_tensor(one, None, file) for one in others)
