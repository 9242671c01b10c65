"""Whether a finding rests on the guess that a parameter is a tensor, which the project's own calls do not bear out.

    for i in range(len(y_true)):         in the `call` of a loss: Keras passes tensors, says the linter
    self.matching(real, fake)            here the project calls the loss itself, perhaps with lists of tensors

The probe made a tensor up there, so that what follows of it confirms nothing, and is no finding of its own. Neither is
what a size leads to that is a tensor only with the probe, where all calls of the project pass a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from ..findings.findings import Finding, Span
from ..sources.calls import (
    LIBRARIES,
    PythonFunction,
    arguments,
    assigned,
    class_around,
    function_around,
    imported,
    last_name,
    names_in,
    nodes,
    parameters,
)
from ..sources.packages import project_of, python_files
from ..sources.specs import Spec, SpecError, parse_form
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
_NUMBERS: Final = ("len", "int", "float", "bool", "str", "round")
# The rules about what a value decides: where it is a number of Python's, it is known when the function is traced.
_OF_SIZES: Final = ("size-from-value", "position-from-value")
_SHAPES: Final = ("shape", "size", "rank")
_SAME: Final = ("cast", "constant", "convert_to_tensor", "stack", "reduce_prod")
_KERAS_3: Final = "3."
_LAMBDA: Final = "<lambda>"
_MOST_FILES: Final = 3000


def of_guess(finding: Finding, target: Target, outcome: Outcome) -> bool:
    """Whether what was seen of a finding with these inputs holds for the guess only, as far as anybody knows."""
    trail = finding.context.trail if finding.context is not None else ()
    if len(trail) > 1:  # a caller passes it
        # Of what a lambda is called with, all that is known may be that a library calls it.
        picked = finding.name in _OF_SIZES and trail[0].name.endswith(_LAMBDA)
        return picked and _driven(finding.path, finding.span, target, outcome) is not None
    if finding.name in OF_READS:
        return reads_guess(finding.path, finding.span, target, outcome)
    return finding.name in _OF_SIZES and sized_by_guess(finding.path, finding.span, target, outcome)


def reads_guess(path: str, span: Span, target: Target, outcome: Outcome) -> bool:
    """Whether Python reads a parameter in a stretch of text that is a tensor by guess."""
    function = _driven(path, span, target, outcome)
    if function is None or not (read := _read_as_they_are(function, span, path)):
        return False
    guessed = {name for name in read.intersection(parameters(function)) if not _is_annotated(function, name)}
    calls = _Calls(path, function, outcome)
    return any(calls.leave_open(name) for name in guessed)


def passes_guess(path: str, span: Span, target: Target, outcome: Outcome) -> bool:
    """Whether a stretch of text passes on a parameter that is a tensor by guess, or items of one, or what comes from
    one of one number, which may be a size."""
    function = _driven(path, span, target, outcome)
    if function is None:
        return False
    names = {name for node in _inside(function, span) for name in names_in(node)}
    behind = {name for value in assigned(function, names) for name in names_in(value)}
    parts = names | {name for filled, value in _appended(function) if filled in names for name in names_in(value)}
    whole = {name for bound, value in _iterated(function) if bound in parts for name in _bare(value, set())}
    calls = _Calls(path, function, outcome)
    numbers = {name for name, spec in _given_tensors(outcome).items() if not spec.dims}
    guessed = (names | whole | behind & numbers).intersection(parameters(function))
    return any(calls.leave_open(name) for name in guessed if not _is_annotated(function, name))


def sized_by_guess(path: str, span: Span, target: Target, outcome: Outcome) -> bool:
    """Whether what is computed in a stretch of text comes from a parameter that the probe gave a tensor of data, where
    all calls of the project pass a number, or a shape."""
    function = _driven(path, span, target, outcome)
    if function is None:
        return False
    names = {name for node in _inside(function, span) for name in names_in(node)}
    names |= {name for value in assigned(function, names) for name in names_in(value)}
    guessed = names.intersection(parameters(function), _given_tensors(outcome))
    calls = _Calls(path, function, outcome)
    return any(calls.pass_no_data(name) for name in guessed if not _is_annotated(function, name))


def _driven(path: str, span: Span, target: Target, outcome: Outcome) -> PythonFunction | None:
    """The function around a stretch of text, if the probe ran it with what it made up: not as a caller or the user
    calls it."""
    first, last = target.lines
    inside = str(Path(path).absolute()) == target.file and first <= span.line <= last
    if not inside or ", as `" in outcome.how or target.given or target.factory:
        return None
    return function_around(path, span.line)


def _given_tensors(outcome: Outcome) -> dict[str, Spec]:
    """The parameters that the probe passed tensors for, with what these were."""
    found = {}
    for one in outcome.inputs:
        name, _, text = one.partition(": ")
        with suppress(SpecError):
            if isinstance(spec := parse_form(text), Spec):
                found[name] = spec
    return found


def _inside(function: PythonFunction, span: Span) -> Iterator[ast.expr]:
    """The expressions in a stretch of text, outer ones first."""
    for node in ast.walk(function):
        if (
            isinstance(node, ast.expr)
            and (span.line, span.column) <= (node.lineno, node.col_offset + 1)
            and (node.end_lineno or 0, (node.end_col_offset or 0) + 1) <= (span.end_line, span.end_column)
        ):
            yield node


def _read_as_they_are(function: PythonFunction, span: Span, path: str) -> set[str]:
    """The names of the parameters that an expression reads: not what is computed from them."""
    arrays = {name for name, meaning in imported(path).items() if meaning == "numpy"}
    found = {name for node in islice(_inside(function, span), 1) for name in _bare(node, arrays)}
    return found | {name for bound, value in _bound(function) if bound in found for name in _bare(value, arrays)}


def _bare(node: ast.expr, arrays: Set[str]) -> Iterator[str]:
    """The names that an expression reads as they are, or elements of them. `arrays`: the names of NumPy."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.UnaryOp(operand=value):
            yield from _bare(value, arrays)
        case ast.BoolOp(values=several) | ast.Tuple(elts=several) | ast.List(elts=several):
            for one in several:
                yield from _bare(one, arrays)
        case ast.Compare(left=left, comparators=others):
            for one in (left, *others):
                yield from _bare(one, arrays)
        case ast.Call(func=ast.Name(id=called), args=args) if called in _READS:
            for one in args:
                yield from _bare(one, arrays)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner)), args=args) if owner in arrays:
            for one in args:
                yield from _bare(one, arrays)
        case ast.IfExp(test=test):
            yield from _bare(test, arrays)


def _bound(function: PythonFunction) -> Iterator[tuple[str, ast.expr]]:
    """The names that a function binds to something, or to elements of it, with that."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
    yield from _iterated(function)


def _iterated(function: PythonFunction) -> Iterator[tuple[str, ast.expr]]:
    """The names that a function binds to the items of something, with that."""
    for node in ast.walk(function):
        match node:
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield from ((name, value) for name in names_in(target))


def _appended(function: PythonFunction) -> Iterator[tuple[str, ast.expr]]:
    """The names of lists that a function fills, with what it appends to them."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
                yield name, value


def _is_annotated(function: PythonFunction, name: str) -> bool:
    """Whether a parameter is said to be a tensor."""
    taken = function.args
    found = (one.annotation for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs) if one.arg == name)
    return any(one is not None and "Tensor" in ast.unparse(one).rpartition(".")[2] for one in found)


@dataclass(frozen=True)
class _Calls:
    """The calls of a function that a project has."""

    path: str
    function: PythonFunction
    outcome: Outcome

    def leave_open(self, name: str) -> bool:
        """Whether the project passes a parameter itself, and nowhere what is a tensor for certain."""
        passed = [self._is_tensor(*one) for one in self._passed(name)]
        return bool(passed) and not any(passed)

    def pass_no_data(self, name: str) -> bool:
        """Whether the project passes a parameter itself, and nowhere what may be data."""
        passed = [
            _is_known(value, function_around(file, line), file) for value, line, file in self._passed(name, alone=False)
        ]
        return bool(passed) and all(passed)

    def _passed(self, name: str, *, alone: bool = True) -> Iterator[tuple[ast.expr, int, str]]:
        """What calls pass for a parameter, each with its line and file; what it is by default, where they pass
        nothing for it, and where there are no calls if it may stand `alone`."""
        of_objects = class_around(self.path, self.function.lineno) is not None and self.function.name in _OF_OBJECTS
        default = None if of_objects else _default(self.function, name)  # Keras passes masks and such by itself
        calls = list(_calls(self.function, self.path))
        if alone and not calls and default is not None and not _is_none(default):
            yield default, self.function.lineno, self.path
        for file, call in calls:
            found = list(arguments(call, self.function, {name}))
            if found and self._passes_on(call, found):
                continue  # to a method of that name of another object, which says nothing of where it comes from
            unpacked = any(isinstance(one, ast.Starred) for one in call.args) or any(
                one.arg is None for one in call.keywords
            )
            if not found and default is not None and not unpacked:
                yield default, self.function.lineno, self.path
            yield from ((value, call.lineno, file) for value in found)

    def _passes_on(self, call: ast.Call, found: list[ast.expr]) -> bool:
        """Whether the function itself makes a call, with its own parameters as they are."""
        inside = self.function.lineno <= call.lineno <= (self.function.end_lineno or 0)
        own = parameters(self.function)
        return inside and all(isinstance(one, ast.Name) and one.id in own for one in found)

    def _is_tensor(self, value: ast.expr, line: int, file: str) -> bool:
        if isinstance(value, ast.Constant) and isinstance(value.value, bool | int | float):
            return self._is_keras_3_loss  # which makes tensors of what it is called with
        if isinstance(value, ast.Name) and _is_of_lambda(value, file):
            return False  # whatever the function around the lambda calls so
        return _is_tensor(value, function_around(file, line), file)

    @property
    def _is_keras_3_loss(self) -> bool:
        owner = class_around(self.path, self.function.lineno)
        if owner is None or self.function.name != "call":
            return False
        if not self.outcome.versions.get("keras", "").startswith(_KERAS_3):
            return False
        return any(_dotted(base, self.path).endswith("losses.Loss") for base in owner.bases)


def _is_of_lambda(name: ast.Name, file: str) -> bool:
    """Whether a name is a parameter of a lambda that it stands in."""
    place = (name.lineno, name.col_offset)
    return any(
        name.id in {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        and any(isinstance(one, ast.Name) and (one.lineno, one.col_offset) == place for one in ast.walk(node.body))
        for node in nodes(file)
        if isinstance(node, ast.Lambda)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _default(function: PythonFunction, name: str) -> ast.expr | None:
    """What a parameter is where a call passes nothing for it."""
    taken = function.args
    plain = [*taken.posonlyargs, *taken.args]
    pairs = [
        *zip(reversed(plain), reversed(taken.defaults), strict=False),
        *zip(taken.kwonlyargs, taken.kw_defaults, strict=True),
    ]
    return next((default for one, default in pairs if one.arg == name), None)


def _dotted(node: ast.expr, file: str) -> str:
    """What a name means by the imports of its file."""
    root, _, behind = ast.unparse(node).partition(".")
    return f"{imported(file).get(root, '')}.{behind}".rstrip(".")


def _is_known(value: ast.expr, caller: PythonFunction | None, file: str) -> bool:
    """Whether an expression is known for certain when a function is traced: a number, a text, a list of these, or a
    tensor of shapes."""
    match value:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.List(elts=several) | ast.Tuple(elts=several):
            return all(_is_known(one, caller, file) for one in several)
        case ast.Call(func=ast.Name(id=called)) if called in _NUMBERS:
            return True
        case ast.Call(func=func, args=[first, *_]) if (dotted := _dotted(func, file)).startswith(LIBRARIES):
            made = dotted.rpartition(".")[2]
            return made in _SHAPES or (made in _SAME and _is_known(first, caller, file))
        case ast.Subscript(value=ast.Call() as inner):
            return _is_known(inner, caller, file)
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.UnaryOp(operand=inner):
            return _is_known(inner, caller, file)
        case ast.BinOp(left=left, right=right):
            return all(_is_known(one, caller, file) for one in (left, right))
        case ast.Name(id=name) if caller is not None and name not in parameters(caller):
            stored = [node for node in ast.walk(caller) if isinstance(node, ast.Name) and node.id == name]
            values = list(_numbered(caller, name))
            bound = sum(isinstance(one.ctx, ast.Store) for one in stored)
            return bound == len(values) > 0 and all(_is_known(one, None, file) for one in values)
    return False


def _numbered(caller: PythonFunction, name: str) -> Iterator[ast.expr]:
    """What a function assigns a name; the first argument of a `range` whose numbers it runs through."""
    for node in ast.walk(caller):
        match node:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                yield value
            case ast.For(target=ast.Name(id=bound), iter=ast.Call(func=ast.Name(id="range"), args=[first, *_])) if (
                bound == name
            ):
                yield first


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
            dotted = _dotted(func, file)
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
