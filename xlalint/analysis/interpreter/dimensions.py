"""Bounded dynamic shapes that are passed on, and their dimensions: None while tracing, numbers in eager execution.

Who asks whether a dimension is None (`if n is None`, `n or 4`) knows it, and is told nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...syntax import nodes as cst
from ..domain.bounds import counted
from ..domain.values import STATIC, Dimension, OneOf, Sequence, Slice, Static, Structure, Tensor, Value
from ..files.unit import Location
from ..record import replace
from .contexts import NOT_TRACED
from .events import Consume, UseDimension
from .frames import Frame
from .interface import Interpreter
from .replicas import report_parted, report_parted_arguments

_WITH_DIMENSIONS: Final = frozenset((Static, Sequence, Slice))
_WITH_SHAPE: Final = frozenset((Tensor, OneOf, Sequence))


def with_dimensions(frame: Frame, tensor: Value, shape: Value) -> Value:
    """The shape of a tensor with those of its dimensions marked that are None here."""
    tensor = tensor.tensor if isinstance(tensor, Structure) else tensor
    if not isinstance(tensor, Tensor) or not isinstance(shape, Sequence) or frame.context.kind in NOT_TRACED:
        return shape
    origin = tensor.bounded or tensor.open
    if origin is None or origin.perhaps or origin.met or origin.axes is None or shape.varies:
        return shape  # nothing is sure of it
    if shape.items is None:
        return replace(shape, element=Static(dimension=Dimension(origin, open=tensor.bounded is None)))
    axes = counted(origin.axes, len(shape.items))
    items = (
        Static(dimension=Dimension(origin, axis, open=tensor.bounded is None)) if axis in axes else item
        for axis, item in enumerate(shape.items)
    )
    return replace(shape, items=tuple(items))


def dimension_at(shape: Sequence, item: Value | Slice) -> Value:
    """What a subscript takes of a shape of unknown rank."""
    match shape.element, item:
        case Static(dimension=Dimension(bounded=origin) as all), Static(int(axis)) if axis in (origin.axes or ()):
            return Static(dimension=replace(all, axis=axis))
        case _, Slice():
            return replace(shape, element=STATIC)
        case _:
            return STATIC


def read_at(part: Value, location: Location) -> Value:
    """A dimension as read in this subscript of a shape."""
    match part:
        case Static(dimension=Dimension(axis=int(), read=None) as dimension):
            return replace(part, dimension=replace(dimension, read=location))
        case _:
            return part


def ask_for_none(frame: Frame, value: Value) -> None:
    """Note that code asks whether a value is None, or true."""
    if isinstance(value, Static) and value.dimension is not None:
        frame.asked.add(value.dimension.bounded.location)


def report_operands(
    interpreter: Interpreter, frame: Frame, operands: tuple[Value, ...], node: cst.CSTNode, used_by: str
) -> None:
    """Say that an operator or a comparison takes a dimension, or what each replica has one of. A list that holds one
    may be joined to another."""
    report_parted(interpreter, frame, operands, node)
    for place, value in enumerate(operands):
        if type(value) is Static and value.dimension is not None:
            report_dimension(interpreter, frame, {str(place): value}, node, used_by)


def report_bounded(
    interpreter: Interpreter, frame: Frame, bound: Mapping[str, Value], node: cst.CSTNode, name: str
) -> None:
    """Say that a library function is passed a bounded dynamic shape, or a dimension of one, or what each replica has
    one of."""
    report_parted_arguments(interpreter, frame, name, bound.values(), node)
    report_dimension(interpreter, frame, bound, node, name)
    for value in bound.values():
        if type(value) not in _WITH_SHAPE or (isinstance(value, Tensor) and value.bounded is None):
            continue  # most arguments
        for part in _direct(value):
            if isinstance(part, Tensor) and part.bounded is not None:
                interpreter.emit(frame, Consume, node, tensor=part, consumer=name, node=node, arguments=bound)


def report_dimension(
    interpreter: Interpreter, frame: Frame, values: Mapping[str, Value], node: cst.CSTNode, used_by: str
) -> None:
    """Say what uses a dimension, by the names of the arguments: an operator, a comparison, a call."""
    if frame.context.kind in NOT_TRACED:
        return
    for argument, value in values.items():
        if type(value) not in _WITH_DIMENSIONS or (type(value) is Static and value.dimension is None):
            continue  # most arguments
        for dimension in _dimensions(value):
            if dimension.bounded.location not in frame.asked:
                interpreter.emit(frame, UseDimension, node, dimension=dimension, used_by=used_by, argument=argument)


def _dimensions(value: Value) -> Iterator[Dimension]:
    match value:
        case Static(dimension=Dimension(axis=int()) as dimension):
            yield dimension
        case Sequence(items=None, element=Static(dimension=Dimension() as dimension)):
            yield dimension
        case Sequence(items=tuple(items)):
            for item in items:
                yield from _dimensions(item)
        case Slice(start, stop, step):
            for part in (start, stop, step):
                if part is not None:
                    yield from _dimensions(part)


def _direct(value: Value) -> Iterator[Value]:
    """The value, and what a list or tuple of it holds."""
    match value:
        case OneOf(alternatives):
            for option in alternatives:
                yield from _direct(option)
        case Sequence(items=tuple(items)):
            for item in items:
                yield from item.options if isinstance(item, OneOf) else (item,)
        case Sequence(element=element) if element is not None:
            yield element
        case Slice():
            return
        case _:
            yield value
