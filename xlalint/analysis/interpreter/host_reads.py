"""Reads of tensors by libraries of the host and by text, constants made of tensors, and numbers read of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Ordered
from string import Formatter
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import as_tensor, is_told, of_the_trace, options
from ..domain.values import Array, Dependence, Dict, Origin, Sequence, Slice, Static, Structure, Tensor, Value
from ..library.optimizers import OPTIMIZES
from .contexts import ContextKind
from .events import HostRead, MixNumber
from .frames import Act, Arguments, Frame
from .interface import Interpreter

_CONVERSION: Final = re.compile(r"%(?:\((\w*)\))?[#0\- +]*(?:\*|\d*)(?:\.(?:\*|\d*))?[hlL]?([a-zA-Z%])")
_AS_THEY_ARE: Final = frozenset("sra")  # the conversions that take anything
MAKE_CONSTANTS: Final = frozenset(("tf.constant", "tf.constant_initializer"))


def report_host_read(
    interpreter: Interpreter, frame: Frame, name: str, bound: Mapping[str, Value], node: cst.CSTNode
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


def report_position(interpreter: Interpreter, frame: Frame, index: Ordered[Value], node: cst.CSTNode) -> None:
    """Say that NumPy asks a tensor for a position in an array."""
    for item in index:
        if (asked := next((part for part in parts_of_index(item) if of_the_trace(part)), None)) is not None:
            reader = "array slice" if isinstance(item, Slice) else "array index"
            interpreter.emit(frame, HostRead, node, value=asked, reader=reader)
            return


def report_stored(interpreter: Interpreter, frame: Frame, array: Array, value: Value, node: cst.CSTNode) -> None:
    """Say that NumPy stores a tensor in an array of numbers: one of which the dtype is known holds no objects."""
    stored = next((tensor for part in _given(value) if (tensor := of_the_trace(part)) is not None), None)
    if array.dtype is None or stored is None:
        note_read(interpreter, frame, (value,), node, "array")
    else:
        report_host_read(interpreter, frame, "array", {"value": stored}, node)


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


def report_text(
    interpreter: Interpreter, frame: Frame, values: Iterable[Value], node: cst.CSTNode, numbers: Iterable[Value] = ()
) -> None:
    """Text is made of values. Of a tensor during tracing it shows the name; of the `numbers` among them it wants the
    value, which no trace has."""
    if (tensor := _first_tensor(numbers)) is not None:
        report_formatted(interpreter, frame, tensor, node)
    else:
        note_read(interpreter, frame, values, node, "text")


def report_formatted(interpreter: Interpreter, frame: Frame, tensor: Value, node: cst.CSTNode) -> None:
    """Say that a tensor is formatted as a number, which no trace has."""
    if frame.context.kind is ContextKind.OPEN:
        frame.summary.host_only = True  # eagerly it works
    interpreter.emit(frame, HostRead, node, value=tensor, reader="format")


def note_read(
    interpreter: Interpreter, frame: Frame, values: Iterable[Value], node: cst.CSTNode, reader: str = ""
) -> None:
    """Remember that code on the host reads what it is passed, where there is a tensor among it."""
    values = tuple(values)
    if reader == "text":
        _show_objects(interpreter, frame, values, node)
    if (tensor := _first_tensor(values)) is not None:
        interpreter.note_done(frame, Act.READ, node, reader, tensor)


def _show_objects(interpreter: Interpreter, frame: Frame, values: Ordered[Value], node: cst.CSTNode) -> None:
    """Have the objects say how they look, of which text is made: a meter reads its mean for that."""
    for shown in (option for value in values for part in _given(value) for option in options(part)):
        if interpreter.special(frame, shown, "__str__", (), node) is None:
            interpreter.special(frame, shown, "__repr__", (), node)


def numbers_in_format(form: str, given: Value) -> Iterator[Value]:
    """What `form % given` formats as numbers."""
    wanted = [match for match in _CONVERSION.finditer(form) if match[2] != "%"]
    by_name = given.entries if isinstance(given, Dict) else {}
    items = given.items if isinstance(given, Sequence) and given.items is not None else (given,)
    for position, match in enumerate(wanted):
        value = by_name.get(match[1]) if match[1] else items[position] if position < len(items) else None
        if match[2] not in _AS_THEY_ARE and value is not None:
            yield value


def numbers_in_text(form: str, positional: Ordered[Value], keywords: Mapping[str, Value]) -> Iterator[Value]:
    """What `form.format(..)` formats by a specification."""
    try:
        fields = [(name, spec) for _, name, spec, how in Formatter().parse(form) if name is not None and not how]
    except ValueError:
        return
    for position, (name, spec) in enumerate(fields):
        key = name or str(position)
        value = keywords.get(key)
        if key.isdecimal() and int(key) < len(positional):
            value = positional[int(key)]
        if spec and value is not None:
            yield value


def report_filled_in(
    interpreter: Interpreter, frame: Frame, form: Value, method: str, arguments: Arguments, node: cst.CSTNode
) -> None:
    """Say what `form.format(..)` reads; other methods of text take no tensors."""
    if method != "format":
        return
    text = form.constant if isinstance(form, Static) and isinstance(form.constant, str) else ""
    report_text(
        interpreter,
        frame,
        arguments.all_values(),
        node,
        numbers_in_text(text, arguments.positional, arguments.keywords),
    )


def report_elsewhere(interpreter: Interpreter, frame: Frame, node: cst.BaseExpression) -> None:
    """Say that code calls something outside of the project that is not known: of all that has `numpy()`, tensors mostly
    do."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("numpy")), args=[]):
            interpreter.note_done(frame, Act.READ, node, ".numpy")
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in OPTIMIZES:
            interpreter.note_done(frame, Act.OPTIMIZE, node)
            interpreter.note_done(frame, Act.ELSEWHERE, node)
        case _:
            interpreter.note_done(frame, Act.ELSEWHERE, node)


def _first_tensor(values: Iterable[Value]) -> Tensor | None:
    parts = (part for value in values for part in _given(value))
    return next((tensor for part in parts if (tensor := as_tensor(part, Dependence.STATIC)) is not None), None)


def parts_of_index(item: Value | Slice) -> tuple[Value, ...]:
    """What a position is made of."""
    match item:
        case Slice(start, stop, step):
            return tuple(part for part in (start, stop, step) if part is not None)
        case _:
            return (item,)


def _given(value: Value) -> tuple[Value, ...]:
    """The value, or what a list or tuple of it holds."""
    match value:
        case Sequence(items=tuple(items)):
            return items
        case Sequence(element=element) if element is not None:
            return (element,)
        case Dict(entries, element):
            return (*entries.values(), *(() if element is None else (element,)))
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
