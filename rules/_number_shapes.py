"""Shapes that are a single number: eager execution takes them, and tracing does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xlalint.analysis.domain.values import Static, Tensor, Value
from xlalint.analysis.files.unit import Location
from xlalint.analysis.interpreter.events import ApiCall
from xlalint.fixes.names import Names
from xlalint.fixes.rewrite import NodeEdit, Rewrite, Side

# Calls that were measured to work eagerly and to fail in every trace, each with its parameter for the shape. Others
# fail in both (`tf.broadcast_to`, `tf.tile`, `tf.random.normal`) or in none (`tf.zeros`, `keras.ops.reshape`).
NUMBER_SHAPES: Final[Mapping[str, str]] = {
    "keras.backend.reshape": "shape",
    "tf.constant": "shape",
    "tf.fill": "dims",
    "tf.reshape": "shape",
}
RANK_0: Final = "works eagerly and fails in every `tf.function`, where a shape has rank 1"
AS_LIST: Final = "a list: `tf.reshape(x, [-1])`"


def is_number(event: ApiCall) -> bool:
    """Whether the shape of such a call is a number, or a tensor of rank 0."""
    return _is_number(event.arguments.get(NUMBER_SHAPES[event.api]))


def _is_number(shape: Value | None) -> bool:
    match shape:
        case Static(constant=number):
            return shape.known and type(number) is int
        case Tensor(rank=rank):
            return rank == 0
        case _:
            return False


def in_list(event: ApiCall, names: Names) -> Rewrite | None:
    """The number as a list of one."""
    node = event.argument_nodes.get(NUMBER_SHAPES[event.api])
    if node is None or node is event.node:
        return None
    place = Location(event.location.unit, node)
    return Rewrite("Write the shape as a list", (NodeEdit(place, "[", Side.BEFORE), NodeEdit(place, "]", Side.AFTER)))
