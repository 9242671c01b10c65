"""What the rules about weights that a trace makes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import Event
from xlalint.analysis.library.keras_classes import WEIGHTED
from xlalint.fixes.quoted import path_to
from xlalint.syntax import nodes as cst

UNTRAINED: Final = "each trace draws other weights, which no training changes and no file holds"
_CREATED: Final = WEIGHTED | {"Variable"}
OUTSIDE: Final = "create it in `__init__` or `build`"


def is_named(event: Event) -> bool:
    """Whether a class is named as such: what else is called may be an object of it."""
    called = event.location.node
    while isinstance(called, cst.Call | cst.Attribute):
        called = called.func if isinstance(called, cst.Call) else called.value
    return isinstance(called, cst.Name) and called.value in event.location.unit.file.outline.bindings


def is_conditional(event: Event) -> bool:
    """Some condition around the call, or around a call that leads to it, may let it run once; a decorator may, too."""
    locations, trail = [event.location], event.trail
    while trail is not None:
        if trail.wrapped:
            return True
        locations.append(trail.location)
        trail = trail.parent
    return any(map(_under_condition, locations))


def _under_condition(location: Location) -> bool:
    path = path_to(location.unit.tree, location.node)
    functions = [at for at, node in enumerate(path[:-1]) if isinstance(node, cst.FunctionDef)]
    inside = path[functions[-1] :] if functions else []
    return any(map(partial(_may_guard, inside), inside))


def _may_guard(around: Sequence[cst.CSTNode], node: cst.CSTNode) -> bool:
    """Whether a condition may let code run once. One that compares settings, or asks whether a layer is trained, is the
    same in each call; and where each of its sides creates something, it keeps no call from that."""
    match node:
        case cst.If(test=test):
            return not (_is_of_settings(test, around[0]) or _creates(node))
        case _:
            return isinstance(node, cst.IfExp | cst.BooleanOperation | cst.Try | cst.TryStar)


def _is_of_settings(test: cst.BaseExpression, function: cst.CSTNode) -> bool:
    match test:
        case cst.Name(value="training"):
            return True
        case cst.Comparison(
            left=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Integer() | cst.Float())],
        ):
            ordered = isinstance(operator, cst.GreaterThan | cst.GreaterThanEqual | cst.LessThan | cst.LessThanEqual)
            return ordered and name not in _assigned(function)
        case cst.Comparison(
            left=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
            comparisons=[cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual(), comparator=cst.SimpleString())],
        ):
            return name not in _assigned(function)
        case _:
            return False


def _creates(node: cst.CSTNode) -> bool:
    """Whether code creates a variable, or a layer that has some, on whichever side of its conditions it runs."""
    match node:
        case cst.If(body=body, orelse=orelse):
            return orelse is not None and _creates(body) and _creates(orelse)
        case cst.FunctionDef() | cst.Lambda() | cst.IfExp() | cst.BooleanOperation() | cst.Try() | cst.TryStar():
            return False
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))) if name in _CREATED:
            return True
        case _:
            return any(map(_creates, node.children))


def _assigned(node: cst.CSTNode) -> Iterator[str]:
    """The attributes that code gives values to."""
    match node:
        case cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name))):
            yield name
        case cst.AugAssign(target=cst.Attribute(attr=cst.Name(value=name))):
            yield name
    for child in node.children:
        yield from _assigned(child)
