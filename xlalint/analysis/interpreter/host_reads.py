"""Reads of tensors by libraries of the host, constants that are made of tensors, and numbers that are read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import as_tensor, is_told, of_the_trace
from ..domain.values import Dependence, Origin, Sequence, Structure, Tensor, Value
from .contexts import ContextKind
from .events import HostRead, MixNumber
from .frames import Frame
from .interface import Interpreter

MAKE_CONSTANTS: Final = frozenset(("tf.constant", "tf.constant_initializer"))


def report_host_read(
    interpreter: Interpreter, frame: Frame, name: str, bound: Mapping[str, Value], node: cst.BaseExpression
) -> None:
    """Say that a library of the host reads a tensor."""
    compiled = frame.context.kind is ContextKind.XLA
    parts = [part for value in bound.values() for part in _given(value) if is_told(part, compiled)]
    read = next((tensor for part in parts if (tensor := as_tensor(part, Dependence.STATIC)) is not None), None)
    if read is not None:
        if frame.context.kind is ContextKind.OPEN:
            frame.summary.host_only = True  # nobody compiles what NumPy computes
        interpreter.emit(frame, HostRead, node, value=read, reader=name)
    for value in bound.values():
        interpreter.doubt_tensor(frame, value)


def report_constant(interpreter: Interpreter, frame: Frame, name: str, value: Value, node: cst.BaseExpression) -> None:
    """Say that a constant is made of a tensor, which no trace can: of one that was computed before, it can, and of what
    the code has asked whether it is a tensor, and is none."""
    if isinstance(value, Structure) and value.several:
        return
    given = value.tensor if isinstance(value, Structure) else value
    if (tensor := of_the_trace(given)) is not None:
        if frame.context.kind is ContextKind.OPEN:
            frame.summary.host_only = True  # eagerly it works
        interpreter.emit(frame, HostRead, node, value=tensor, reader=name)


def _given(value: Value) -> tuple[Value, ...]:
    """The value, or what a list or tuple of it holds."""
    match value:
        case Sequence(items=tuple(items)):
            return items
        case Sequence(element=element) if element is not None:
            return (element,)
        case _:
            return (value,)


def mix_number(interpreter: Interpreter, frame: Frame, node: cst.CSTNode, left: Value, right: Value) -> None:
    """An operator takes both sides: a Python number fits any tensor, the int32 tensor that AutoGraph makes of `int(t)`
    only another one."""
    divides = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide)
    for number, other in ((left, right), (right, left)):
        match number, other:
            case Tensor(dtype="int", number=Origin(location=location)), Tensor(dtype=dtype, number=None) if (
                dtype == "float" or (divides and dtype is None)
            ):
                interpreter.emit(frame, MixNumber, node, left=left, right=right, number=location)
            case _:
                pass
