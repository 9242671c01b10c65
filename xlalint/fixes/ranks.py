"""Branches that ask a tensor for its rank, which Python knows, and give back what XLA cannot join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from ..analysis.files.unit import Location
from ..syntax import nodes as cst
from .flow.program import Program
from .known import dotted
from .rewrite import GivenUp
from .syntax import plain, read, small_statements

# The last part of the names of functions whose result has another rank than the tensor that they are given.
_CHANGING: Final = frozenset(
    ("argmax", "argmin", "expand_dims", "one_hot", "reduce_max", "reduce_mean", "reduce_min", "reduce_sum", "reshape")
) | frozenset(("squeeze", "stack", "unstack"))
_KEEPING: Final = ("keepdims", "keep_dims")
# Those that take as many numbers as their tensor has dimensions, or as a shape has.
_FOR_EACH_DIMENSION: Final = frozenset(("broadcast_to", "pad", "reshape", "slice", "tile", "transpose"))


def refused(location: Location, statement: cst.CSTNode) -> str | None:
    """What XLA's conditional cannot do of what a branch does that tests a rank at a place; None where it can."""
    ranked = set(_ranked(location.node))
    match statement:
        case cst.IfExp(body=first, orelse=second) if ranked and (name := _joined(location, first, second)) is not None:
            return f"give `{name}` a different rank in each branch"
        case cst.If() if ranked:
            return _of_statement(location, statement, ranked)
        case _:
            return None


def _of_statement(location: Location, statement: cst.If, ranked: set[str]) -> str | None:
    if (name := next(_changed(statement), None)) is not None:
        return f"give `{name}` a different rank in each branch"
    first, second = _returned(statement.body), _otherwise(location, statement)
    if first is not None and second is not None and _joined(location, first, second) in ranked:
        return "return tensors of different ranks"
    if not isinstance(statement.orelse, cst.Else):
        return None
    taken, other = _assigned(statement.body), _assigned(statement.orelse.body)
    for name in (name for name in taken if name in other):
        if _joined(location, taken[name], other[name]) in ranked:
            return f"give `{name}` a different rank in each branch"
        lengths = _length(taken[name]), _length(other[name])
        if None not in lengths and lengths[0] != lengths[1] and _fits_one(location, statement, name, ranked):
            return f"give `{name}` a different size in each branch"
    return None


def _ranked(node: cst.CSTNode) -> Iterator[str]:
    """The tensors that a test asks for their rank."""
    match node:
        case cst.Call(func=function, args=[cst.Arg(value=tensor)]) if _last(function) == "rank":
            yield plain(tensor)
        case _:
            for child in node.children:
                yield from _ranked(child)


def _joined(location: Location, first: cst.BaseExpression, second: cst.BaseExpression) -> str | None:
    """The tensor that one side leaves as it is and the other gives another rank."""
    match first, second:
        case (cst.Name(name), other) | (other, cst.Name(name)) if name in read(other) and _changes(other, location):
            return name
        case _:
            return None


def _returned(block: cst.BaseSuite) -> cst.BaseExpression | None:
    """What a block of one statement returns."""
    match small_statements(block):
        case [cst.Return(value=value)]:
            return value
        case _:
            return None


def _otherwise(location: Location, statement: cst.If) -> cst.BaseExpression | None:
    """What is returned at once where a test does not hold."""
    if statement.orelse is not None:
        return _returned(statement.orelse.body) if isinstance(statement.orelse, cst.Else) else None
    block = next(location.unit.around(statement), None)
    lines = list(small_statements(block)) if isinstance(block, cst.IndentedBlock) else []
    match lines[lines.index(statement) + 1 :] if statement in lines else []:
        case [cst.Return(value=value), *_]:
            return value
        case _:
            return None


def _assigned(block: cst.BaseSuite) -> Mapping[str, cst.BaseExpression]:
    """The names that the statements of a block assign, with what they stand for at its end."""
    found: dict[str, cst.BaseExpression] = {}
    for line in small_statements(block):
        match line:
            case cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=value):
                found[name] = value
    return found


def _length(node: cst.BaseExpression) -> int | None:
    """How many elements a list has, or the tensor that a function makes of it."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return None if any(isinstance(one, cst.StarredElement) for one in elements) else len(elements)
        case cst.Call(func=function, args=[cst.Arg(value=cst.List() | cst.Tuple() as made, keyword=None), *_]) if _last(
            function
        ) in ("cast", "constant", "convert_to_tensor", "stack"):
            return _length(made)
        case _:
            return None


def _fits_one(location: Location, statement: cst.If, name: str, ranked: set[str]) -> bool:
    """Whether a name is used behind a branch for each dimension of a tensor whose rank the branch asks for."""
    function = next((one for one in location.unit.around(statement) if isinstance(one, cst.FunctionDef)), None)
    calls = () if function is None else _calls(function)
    return any(
        location.unit.span(call) > location.unit.span(statement)
        and _last(call.func) in _FOR_EACH_DIMENSION
        and name in read(call)
        and any(plain(argument.value) in ranked for argument in call.args)
        for call in calls
    )


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    if isinstance(node, cst.Call):
        yield node
    for child in node.children:
        yield from _calls(child)


def _changed(node: cst.CSTNode) -> Iterator[str]:
    """The names that are computed of themselves with another rank."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=value):
            if name in read(value) and _changes(value):
                yield name
        case _:
            for child in node.children:
                yield from _changed(child)


def _changes(node: cst.CSTNode, location: Location | None = None) -> bool:
    """Whether something in an expression changes a rank; `location`: what it calls of the same file counts, too."""
    match node:
        case cst.Call(func=function, args=arguments) if _last(function) in _CHANGING:
            return all(one.keyword is None or one.keyword.value not in _KEEPING for one in arguments)
        case cst.Call(func=cst.Name(name)) if location is not None and _function_changes(location, name):
            return True
        case cst.SubscriptElement(slice=cst.Index(value=index)) if not isinstance(index, cst.Ellipsis):
            return True  # one element of a dimension, or a new one
        case _:
            return any(_changes(child, location) for child in node.children)


def _function_changes(location: Location, name: str) -> bool:
    """Whether all that a function of the file returns is a tensor that it gave another rank."""
    with suppress(GivenUp):
        function = Program(location).function(name)
        returns = [] if function is None or isinstance(function, cst.Lambda) else list(_returns(function.body))
        return bool(returns) and all(
            isinstance(value, cst.Call) and _last(value.func) in _CHANGING for value in returns
        )
    return False


def _returns(node: cst.CSTNode) -> Iterator[cst.BaseExpression | None]:
    match node:
        case cst.Return(value=value):
            yield value
        case cst.FunctionDef() | cst.Lambda():
            return
        case _:
            for child in node.children:
                yield from _returns(child)


def _last(function: cst.CSTNode) -> str:
    """The last part of the name of a function."""
    return (dotted(function) or "").rpartition(".")[2]
