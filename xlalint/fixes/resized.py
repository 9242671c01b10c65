"""Branches that TensorFlow's sizes decide and that give a tensor another size, on the sizes that Python knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from ..analysis.files.unit import Location
from ..findings.findings import Safety
from ..syntax import nodes as cst
from .flow.program import Program
from .known import dotted
from .names import Names
from .rewrite import GivenUp, NodeEdit, Rewrite, replace
from .sizes import in_python, static_rank, static_size
from .syntax import any_node, assigned, parameter_names, plain, read, small_statements

_RESIZING: Final = frozenset(("concat", "pad", "repeat"))
_UNKNOWN: Final = "where a size is unknown during tracing, or is used as a tensor elsewhere"
_DEEPEST: Final = 4  # names of names


def resized(statement: cst.CSTNode) -> str | None:
    """The tensor that a branch without alternative computes of itself with another size."""
    match statement:
        case cst.If(body=body, orelse=None):
            return next(filter(None, map(_resized_by, small_statements(body))), None)
        case _:
            return None


def _resized_by(line: cst.CSTNode) -> str | None:
    match line:
        case cst.Assign(
            targets=[cst.AssignTarget(cst.Name(name))], value=cst.Call(func=function, args=[first, *_])
        ) if (dotted(function) or "").rpartition(".")[2] in _RESIZING and name in read(first.value):
            return name
        case cst.Assign(
            targets=[cst.AssignTarget(cst.Name(name))], value=cst.Subscript(value=cst.Name(cut), slice=elements)
        ) if name == cut and any(isinstance(element.slice, cst.Slice) for element in elements):
            return name
        case _:
            return None


def asked_of_python(location: Location, test: cst.BaseExpression, names: Names) -> Rewrite | None:
    """The sizes that a test is computed of, as Python knows them: in the test, or where its names get their values."""
    text = in_python(test, names.tf, location)
    if text is not None:
        edit = replace(location.at(test), text)
        return None if text == plain(test) else Rewrite("Test the static sizes", (edit,), Safety.UNSAFE, _UNKNOWN)
    with suppress(GivenUp):
        edits = _Sizes(location, names.tf).edits(test, 0)
        if edits:
            unique = tuple({id(edit.location.node): edit for edit in edits}.values())
            return Rewrite("Compute with the static sizes", unique, Safety.UNSAFE, _UNKNOWN)
    return None


def of_rank(location: Location, statement: cst.CSTNode, names: Names) -> Rewrite | None:
    """A test on a rank as Python makes it; not inside a branch that would then compile and resize a tensor."""
    for around in location.unit.around(statement):
        if (
            isinstance(around, cst.If)
            and resized(around)
            and not asked_of_python(location.at(around.test), around.test, names)
        ):
            return None
    return asked_of_python(location, statement.test, names) if isinstance(statement, cst.If | cst.IfExp) else None


class _Sizes:
    """Follows the numbers of a test to the sizes that they come from."""

    def __init__(self, location: Location, tf: str) -> None:
        self._location = location
        self._tf = tf
        around = location.unit.around(location.node)
        function = next((one for one in around if isinstance(one, cst.FunctionDef)), None)
        if function is None:
            raise GivenUp
        self._function = function
        self._parameters = frozenset(parameter_names(function.params))

    def edits(self, node: cst.BaseExpression, depth: int) -> list[NodeEdit]:
        """What to write instead of the sizes in an expression. Raises `GivenUp` where it is not made of sizes and
        numbers alone."""
        known = static_size(node, self._tf, self._location) or static_rank(node, self._tf)
        if known is not None:
            return [replace(self._location.at(node), known)]
        match node:
            case cst.Integer():
                return []
            case cst.Name(name):
                return self._named(name, depth)
            case cst.Call():
                self._must_compute(node)
                parts: list[cst.BaseExpression] = [argument.value for argument in node.args]
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison() | cst.BooleanOperation():
                parts = list(_operands(node))
            case _:
                raise GivenUp
        return [edit for part in parts for edit in self.edits(part, depth)]

    def _named(self, name: str, depth: int) -> list[NodeEdit]:
        bindings = [line for line in small_statements(self._function.body) if name in assigned([line])]
        if name in self._parameters and not bindings:
            return []
        match bindings:
            case [cst.Assign(targets=[cst.AssignTarget(cst.Name() | cst.Tuple() as target)], value=value)] if (
                depth < _DEEPEST
                and list(assigned(self._function.body)).count(name) == 1
                and self._location.unit.span(value) < self._location.unit.span(self._location.node)
                and not _asked_of(self._function, name)
            ):
                if isinstance(target, cst.Tuple) and not isinstance(value, cst.Call):
                    raise GivenUp
                return self.edits(value, depth + 1)
            case _:
                raise GivenUp

    def _must_compute(self, call: cst.Call) -> None:
        """Make sure that a call is one of a function of the file that only computes with what it is given."""
        function = Program(self._location).function(call.func.value) if isinstance(call.func, cst.Name) else None
        if not isinstance(function, cst.FunctionDef) or any(argument.star for argument in call.args):
            raise GivenUp
        for line in small_statements(function.body):
            match line:
                case cst.Expr(value=cst.BaseString()):
                    continue
                case cst.Assign(value=value) | cst.Return(value=cst.BaseExpression() as value) if not any_node(
                    value, (cst.Call, cst.Attribute, cst.Subscript, cst.Lambda)
                ):
                    continue
                case _:
                    raise GivenUp


def _operands(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            yield child
        elif isinstance(child, cst.ComparisonTarget):
            yield child.comparator


def _asked_of(node: cst.CSTNode, name: str) -> bool:
    """Whether anything is asked of a name that only a tensor answers: an attribute, an element."""
    match node:
        case cst.Attribute(value=cst.Name(own)) | cst.Subscript(value=cst.Name(own)) if own == name:
            return True
        case _:
            return any(_asked_of(child, name) for child in node.children)
