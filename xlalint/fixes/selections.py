"""Selections by a mask as they are written, and what a piece of code names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..analysis.domain.values import Value
from ..analysis.files.unit import Location
from ..syntax import nodes as cst
from .known import dotted
from .syntax import assigned, plain, read


@dataclass(frozen=True, slots=True)
class Selection:
    """`values[mask]` at a place, as syntax and as far as both are known."""

    location: Location
    values: cst.BaseExpression
    mask: cst.BaseExpression
    value: Value | None
    mask_value: Value | None


def masked(
    node: cst.CSTNode, api: Callable[[cst.CSTNode], str | None]
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Values and mask of `x[mask]` or `tf.boolean_mask(x, mask)`."""
    match node:
        case cst.Subscript(value=values, slice=[cst.SubscriptElement(cst.Index(mask))]):
            return values, mask
        case cst.Call(
            func=function, args=[cst.Arg(value=values, keyword=None | cst.Name("tensor")), cst.Arg(value=mask)]
        ) if api(function) == "boolean_mask":
            return values, mask
        case _:
            return None


def gathered(node: cst.CSTNode, tf: str) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Values and condition of `tf.gather_nd(x, tf.where(c))` or `tf.gather(x, tf.where(c)[:, 0])`."""
    match node:
        case cst.Call(
            func=function, args=[cst.Arg(keyword=None, value=values), cst.Arg(keyword=None, value=positions)]
        ):
            pass
        case _:
            return None
    match dotted(function), positions:
        case name, cst.Call(func=where, args=[cst.Arg(keyword=None, value=mask)]) if name == f"{tf}.gather_nd":
            pass
        case name, cst.Subscript(
            value=cst.Call(func=where, args=[cst.Arg(keyword=None, value=mask)]),
            slice=[
                cst.SubscriptElement(cst.Slice(lower=None, upper=None, step=None)),
                cst.SubscriptElement(cst.Index(cst.Integer("0"))),
            ],
        ) if name == f"{tf}.gather":
            pass
        case _:
            return None
    return (values, mask) if dotted(where) == f"{tf}.where" else None


def flattened(location: Location, tf: str) -> tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression] | None:
    """`tf.reshape(tf.gather(x, positions), [-1])` of positions that have a name and no other use: all of it, `x`, and
    the condition."""
    around = [*location.unit.around(location.node)]
    match location.node, around[0]:
        case cst.Call(args=[cst.Arg(value=mask)]), cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))]):
            pass
        case _:
            return None
    scope = next((node.body for node in around if isinstance(node, cst.FunctionDef)), location.unit.tree)
    uses = [node for node in nodes(scope) if isinstance(node, cst.Name) and node.value == name]
    match [[*location.unit.around(use)][:4] for use in uses]:
        case [
            [cst.AssignTarget(), *_],
            [cst.Arg(), cst.Call(func=take, args=[first, _]), cst.Arg(), cst.Call(func=shape, args=[_, flat]) as whole],
        ] if dotted(take) == f"{tf}.gather" and dotted(shape) == f"{tf}.reshape" and plain(flat.value) == "[-1]":
            return whole, first.value, mask
        case _:
            return None


def call_of(chosen: Selection) -> cst.Call | None:
    """The call that is passed a selection and nothing else."""
    match [*chosen.location.unit.around(chosen.location.node)][:2]:
        case [cst.Arg(keyword=None), cst.Call(args=[_]) as call]:
            return call
        case _:
            return None


def parts(line: cst.CSTNode) -> Sequence[cst.CSTNode]:
    return line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def selected_name(statement: cst.CSTNode, node: cst.CSTNode) -> str | None:
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(name))], value=value) if value is node:
            return name
        case _:
            return None


def is_assignment(statement: cst.CSTNode, name: cst.Name) -> bool:
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(target))]):
            return target == name.value
        case _:
            return False


def is_body_of(scope: cst.CSTNode, block: Sequence[cst.CSTNode]) -> bool:
    """Whether statements are all that a function does by itself, so that they follow each other once."""
    return isinstance(scope, cst.IndentedBlock) and block[-1] in [part for line in scope.body for part in parts(line)]


def taken_before(block: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements read which others below give another value."""
    return {
        name for at, one in enumerate(block) for above in block[:at] for name in {*assigned([one])} & {*read(above)}
    }


def all_assigned(node: cst.CSTNode) -> Iterator[str]:
    """The names that a piece of code binds, parameters of functions in it included."""
    match node:
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
            yield from (name.value for name in nodes(target) if isinstance(name, cst.Name))
        case cst.Param(name=name) | cst.FunctionDef(name=name):
            yield name.value
    for child in node.children:
        yield from all_assigned(child)


def values_in(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of an expression but names of attributes and of keywords."""
    match node:
        case cst.Attribute(value=owner):
            yield owner
        case cst.Arg(value=value):
            yield value
        case _:
            yield from node.children


def nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in values_in(node):
        yield from nodes(child)
