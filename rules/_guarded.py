"""What keeps code from running, or a program from ending: conditions around it, and who catches what it raises."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from xlalint.analysis.interpreter.setup_events import Setup
from xlalint.syntax import nodes as cst

from ._strategies import places_of

_ALL: Final = frozenset(("BaseException", "Exception"))


def is_conditional(event: Setup) -> bool:
    """Whether a condition, or an exception, decides that the program gets to a place, or to a call that leads there."""
    return any(_decides(outer, inner) for outer, inner in _around(event))


def is_caught(event: Setup, exceptions: Collection[str] | None) -> bool:
    """Whether a `try` around a place, or a call that leads there, catches one of these exceptions; of None, any."""
    return any(
        isinstance(outer, cst.Try)
        and inner is outer.body
        and any(_catches(each, exceptions) for each in outer.handlers)
        for outer, inner in _around(event)
    )


def catches_all(event: Setup) -> bool:
    """Whether a `try` around a place, or a call that leads there, catches whatever is raised."""
    return any(
        isinstance(outer, cst.Try) and inner is outer.body and any(_catches(each, ()) for each in outer.handlers)
        for outer, inner in _around(event)
    )


def asks_version(event: Setup) -> bool:
    """Whether a condition around a place, or around a call that leads there, is about the version of a library, or
    about what an object has."""
    return any(
        isinstance(outer, cst.If | cst.IfExp)
        and inner is not outer.test
        and any(map(_is_of_version, cst.within(outer.test)))
        for outer, inner in _around(event)
    )


def _is_of_version(node: cst.CSTNode) -> bool:
    match node:
        case cst.Attribute(attr=cst.Name("__version__" | "VERSION")):
            return True
        case cst.Call(func=cst.Name("hasattr" | "getattr")):
            return True
        case _:
            return False


def _around(event: Setup) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """What stands around a place and the calls that lead there, in their functions, each with the part of it that the
    place is in."""
    for place in places_of(event):
        inner = place.node
        for outer in place.unit.around(place.node):
            if isinstance(outer, cst.FunctionDef | cst.Lambda):
                break
            yield outer, inner
            inner = outer


def _decides(outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
    match outer:
        case cst.If(test=cst.Comparison(left=cst.Name("__name__"))):
            return False
        case cst.If(test=test) | cst.IfExp(test=test) | cst.While(test=test):
            return inner is not test
        case cst.BooleanOperation(left=left):
            return inner is not left
        case cst.ExceptHandler() | cst.MatchCase():
            return True
        case _:
            return False


def _catches(handler: cst.ExceptHandler, exceptions: Collection[str] | None) -> bool:
    if handler.type is None or exceptions is None:
        return True
    kinds = (
        [element.value for element in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
    )
    names = {kind.attr.value if isinstance(kind, cst.Attribute) else getattr(kind, "value", "") for kind in kinds}
    return not names.isdisjoint(_ALL | {*exceptions})
