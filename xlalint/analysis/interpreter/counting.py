"""How many rows a number stands for in host code: as many as it was computed to be, or as it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...syntax import nodes as cst
from ..domain.counts import Count, Rows, computed, named, negative
from ..domain.kinds import rows_of
from ..domain.values import UNSET, Sequence, Static, Unknown, Value
from ..record import replace
from .frames import Frame


def rows(frame: Frame, value: Value | None, node: cst.CSTNode | None) -> Rows | None:
    """How many rows a number is. One that is not known is told by its name: what has the same name here is as many."""
    if value is None:
        return None
    known = rows_of(value)
    if known is not None or node is None:
        return known
    match value:
        case Static(constant, ()) if constant is UNSET:
            return written(frame, node)
        case Unknown(names, compared=False, part=False, varies=()) if frame.function is not None and len(names) == 1:
            [parameter] = names
            return named(_local(frame, parameter))
        case Unknown(compared=False, varies=()):
            return written(frame, node)
        case _:
            return None


def written(
    frame: Frame, node: cst.CSTNode, value_of: Callable[[cst.BaseExpression], Value] | None = None
) -> Rows | None:
    """What an expression says of a number that is not known: its name, and how it is computed. `value_of`: says what
    is known of the names in it."""
    match node:
        case cst.Integer():
            return node.evaluated_value
        case cst.Name() | cst.Attribute():
            known = None if value_of is None else rows_of(value_of(node))
            return named(_called(frame, node)) if known is None else known
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=counted)]):
            return length(frame, counted)
        case cst.Subscript(
            value=cst.Attribute(value=counted, attr=cst.Name(value="shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return length(frame, counted)
        case cst.Call(func=cst.Name(value="int" | "float"), args=[cst.Arg(value=counted)]):
            return written(frame, counted, value_of)
        case cst.UnaryOperation(operator=cst.Minus(), expression=counted):
            number = written(frame, counted, value_of)
            return None if number is None else negative(number)
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            return computed(type(operator), written(frame, left, value_of), written(frame, right, value_of))
        case _:
            return None


def length(frame: Frame, node: cst.CSTNode) -> Rows | None:
    """How many rows what is called so has, or a part of it: `len(rows[kept])`."""
    match node:
        case cst.Name() | cst.Attribute():
            return named(f"len of {_called(frame, node)}")
        case cst.Subscript(
            value=(cst.Name() | cst.Attribute()) as whole,
            slice=[cst.SubscriptElement(slice=cst.Index(value=(cst.Name() | cst.Attribute()) as kept))],
        ):
            return named(f"len of {_called(frame, whole)} at {_called(frame, kept)}")
        case _:
            return None


def _called(frame: Frame, node: cst.Name | cst.Attribute) -> str:
    """What something is called, which other functions may call something else."""
    if isinstance(node, cst.Name) and frame.function is not None and node.value in (frame.env or {}):
        return _local(frame, node.value)
    return f"{frame.unit.code(node)} in {frame.unit.file.source.display}"


def _local(frame: Frame, name: str) -> str:
    function = "" if frame.function is None else frame.function.qualname
    return f"{name} of {function} in {frame.unit.file.source.display}"


def counted(frame: Frame, value: Value, node: cst.CSTNode | None) -> Value:
    """A number, or a shape, that remembers how many rows it stands for."""
    match value, node:
        case Sequence(kind, (first, *others)), cst.Tuple(elements=[written, *_]) | cst.List(elements=[written, *_]):
            number = counted(frame, first, written.value)
            return value if number is first else Sequence(kind, (number, *others))
        case Static(count=None) | Unknown(count=None), _:
            number_of_rows = rows(frame, value, node)
            return replace(value, count=number_of_rows) if isinstance(number_of_rows, Count) else value
        case _:
            return value


def counted_arguments(
    frame: Frame, bound: Mapping[str, Value], nodes: Mapping[str, cst.BaseExpression], names: Iterable[str]
) -> dict[str, Value]:
    """Arguments, of which these are numbers of rows or shapes."""
    told = {name: counted(frame, bound[name], nodes.get(name)) for name in names if name in bound}
    return {**bound, **told}
