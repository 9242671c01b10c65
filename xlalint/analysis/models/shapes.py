"""Calls that give the shape of a tensor, or a dimension of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.lost_ranks import lacks_rank, with_rank
from ..domain.values import NONE, Origin, Sequence, Static, Structure, Tensor, Value
from ..domain.varying_shapes import filtered, variations_of
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import FunctionModel, Interpreter, MethodModel
from ..record import replace


def _get_shape(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`x.get_shape()`: as `x.shape`."""
    return interpreter.attribute(frame, owner, "shape", node) if isinstance(owner, Tensor) else None


def _set_shape(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`x.set_shape(..)`: says what its dimensions are while tracing. TensorFlow refuses elements that are of another
    shape than a pipeline says."""
    for origin in _unknown_in(owner):
        frame.asked.add(origin.location)
    if isinstance(node, cst.Call) and lacks_rank(owner):
        _tell_rank(interpreter, frame, node)
        owner = with_rank(owner)
    match node, arguments.get(0, "shape"):
        case cst.Call(func=cst.Attribute(value=cst.Name() as place)), Sequence(items=tuple(items)):
            fixed: set[int | None] = {axis for axis, item in enumerate(items) if item != NONE}
            if len(fixed) == len(items):
                fixed.add(None)  # what varies in dimensions that nobody counts
            if any(each.axis in fixed for each in variations_of(owner)):
                said = filtered(owner, lambda each: each.axis not in fixed)
                interpreter.assign_quietly(
                    frame, place, replace(said, open=None) if isinstance(said, Tensor | Structure) else said
                )
    return None


def _tell_rank(interpreter: Interpreter, frame: Frame, node: cst.Call) -> None:
    """What `x.set_shape(..)` is a call of has a rank, and so have all that a loop around it takes `x` from."""
    told: list[cst.CSTNode] = [node.func]
    names = {part.value for part in cst.within(node.func) if isinstance(part, cst.Name)}
    loops = (around for around in frame.unit.around(node) if isinstance(around, cst.For))
    told += [loop.iter for loop in loops if not names.isdisjoint(cst.names_in(loop.target))]
    for name in (part for each in told for part in cst.within(each) if isinstance(part, cst.Name)):
        value = (frame.env or {}).get(name.value)
        if value is not None and lacks_rank(value):
            interpreter.assign_quietly(frame, name, with_rank(value))


def _unknown_in(value: Value) -> Iterator[Origin]:
    """What leaves dimensions of a tensor unknown."""
    if isinstance(value, Tensor) and value.bounded is not None:
        yield value.bounded
    if isinstance(value, Tensor | Structure) and value.open is not None:
        yield value.open


def _dimension_value(
    interpreter: Interpreter, frame: Frame, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`tf.compat.dimension_value(x.shape[0])`: the same."""
    given = arguments.get(0, "dimension")
    return given if isinstance(given, Static) else None


FUNCTIONS: Final[dict[str, FunctionModel]] = {"tf.compat.dimension_value": _dimension_value}
METHODS: Final[dict[str, MethodModel]] = {".get_shape": _get_shape, ".set_shape": _set_shape}
