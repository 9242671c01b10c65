"""Generators that come to no end: a loop that nothing leaves yields for as long as somebody asks."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.values import FunctionValue, Value


def never_ends(generator: Value | None) -> bool:
    """Whether a function yields for ever: `while True: ..`."""
    match generator:
        case FunctionValue(function) if isinstance(function.node, cst.FunctionDef):
            return any(map(_is_endless, function.node.body.body))
        case _:
            return False


def _is_endless(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.While(test=cst.Name(value="True") | cst.Integer(value="1"), body=body):
            return not _leaves(body)
        case _:
            return False


def _leaves(node: cst.CSTNode, *, nested: bool = False) -> bool:
    """Whether code leaves the loop around it; `nested`: it stands in another one, which `break` leaves instead."""
    match node:
        case cst.Return():
            return True
        case cst.Break():
            return not nested
        case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
            return False
        case _:
            inside = nested or isinstance(node, cst.For | cst.While)
            return any(_leaves(child, nested=inside) for child in node.children)
