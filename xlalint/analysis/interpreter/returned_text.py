"""Strings that a compiled function returns: `tf.function` makes constants of them, which XLA cannot hand out."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.kinds import holds_text
from ..domain.values import Dict, FunctionValue, Sequence, Static, Value
from .events import Event
from .frames import Compilation, Frame
from .interface import Interpreter


class ReturnText(Event):
    """A function that XLA compiles returns strings; place: what it returns."""


def report_returned_text(interpreter: Interpreter, frame: Frame, value: FunctionValue) -> None:
    """Say where a compiled function has returned strings, Python's or tensors of them."""
    if not (isinstance(value.compiled, Compilation) and value.compiled.jit and _holds_text(frame.summary.value)):
        return
    node = value.function.node
    if isinstance(node, cst.Lambda):
        interpreter.emit(frame, ReturnText, node.body)
        return
    for given in _returned(node.body):
        interpreter.emit(frame, ReturnText, given)


def _holds_text(value: Value | None) -> bool:
    match value:
        case Static(constant=str()):
            return value.known
        case Sequence(items=items, element=element):
            return any(map(_holds_text, (*(items or ()), element)))
        case Dict(entries, element):
            return any(map(_holds_text, (*entries.values(), element)))
        case _:
            return holds_text(value)


def _returned(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a body returns, the functions in it apart."""
    if isinstance(node, cst.Return):
        return [node.value] if node.value is not None else []
    if isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef):
        return []
    return [found for child in node.children for found in _returned(child)]
