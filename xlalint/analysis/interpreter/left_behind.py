"""Tensors of a trace that compiled code leaves in an attribute, and host code takes for its result."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import is_of_trace
from ..domain.values import Api, Instance
from .events import UseKept
from .frames import Frame
from .interface import Interpreter

_OF_TENSORS: Final = frozenset(("numpy", "item", "tolist"))
_READERS: Final = frozenset(("bool", "float", "int", "max", "min", "round", "sum"))
_LIBRARIES: Final = ("tf.", "np.", "keras.", "math.")


def report_left(interpreter: Interpreter, frame: Frame, owner: Instance, name: str, node: cst.BaseExpression) -> None:
    """Say that host code uses what an attribute holds, where compiled code alone assigns tensors to it."""
    if frame.context.pipeline or not is_of_trace(owner.attributes[name]):
        return
    kept = interpreter.writes.left_by_trace(owner, name)
    if kept is None or not _is_used(interpreter, frame, node):
        return
    location, context = kept
    target = frame.unit.code(node)
    interpreter.emit_on_host(frame, UseKept, node, context, target=target, kept=location)


def _is_used(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether code asks for the value, which a tensor of a trace has not: measured of each of these."""
    inner: cst.CSTNode = node
    for outside in frame.unit.around(node):
        match outside:
            case cst.Attribute(attr=cst.Name(value=name)):
                return name in _OF_TENSORS
            case cst.Subscript(value=value):
                return value is inner
            case cst.BinaryOperation() | cst.UnaryOperation():
                return True
            case cst.Arg():
                inner = outside
            case cst.Call(func=cst.Name(value=name)) if name in _READERS:
                return True
            case cst.Call(func=(cst.Name() | cst.Attribute()) as called):
                function = interpreter.evaluate(frame, called)
                return isinstance(function, Api) and function.name.startswith(_LIBRARIES)
            case _:
                return False
    return False
