"""What each replica of a strategy has one of: the code around the replicas has all of these as one object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import Sequence, Structure, Tensor, Value
from ..domain.varying_shapes import mapped
from ..files.unit import Location
from ..record import replace
from .frames import Frame
from .interface import Interpreter
from .setup_events import Setup

# What such an object has itself: the values, and the one of the first replica.
OWN: Final = frozenset(("_component_specs", "_get", "_primary", "_type_spec", "_values", "values"))
# Functions that take it as it is, by the beginnings of their names (measured).
_TAKING: Final = ("tf.distribute.", "tf.function", "tf.identity", "tf.nest.", "tf.print", "tf.tpu.")
_OF_TENSORS: Final = ("keras.", "tf.")
_CONVERTING: Final = ("predict_on_batch", "test_on_batch", "train_on_batch")  # methods that take it, too


class UsePerReplica(Setup):
    """Code around the replicas of a strategy uses what each of them has one of as if it were a tensor; place: the use.
    `parted`: where the strategy gave each replica its own."""

    parted: Location


def parted(value: Value, location: Location) -> Value:
    """A value of which each replica has one; a variable has a copy for each, which is used as one."""

    def of_replicas(leaf: Value) -> Value:
        plain = isinstance(leaf, Structure) or (isinstance(leaf, Tensor) and not leaf.variable)
        return replace(leaf, parted=location) if plain else leaf

    return mapped(value, of_replicas)


def own_part(value: Value) -> Value:
    """What one replica has of it."""
    return mapped(value, lambda leaf: replace(leaf, parted=None) if isinstance(leaf, Tensor | Structure) else leaf)


def report_parted(interpreter: Interpreter, frame: Frame, values: Iterable[Value], node: cst.CSTNode) -> None:
    """Say that a use of values takes for a tensor what each replica has one of."""
    if not interpreter.strategies or frame.context.in_replica or frame.context.pipeline or frame.module.is_test:
        return
    for value in values:
        for part in (*options(value), *(value.items or () if isinstance(value, Sequence) else ())):
            if isinstance(part, Tensor | Structure) and part.parted is not None:
                interpreter.emit(frame, UsePerReplica, node, order=interpreter.order_of(node), parted=part.parted)
                return


def report_parted_arguments(
    interpreter: Interpreter, frame: Frame, name: str, arguments: Iterable[Value], node: cst.CSTNode
) -> None:
    """Say the same of a function of a library, or of a method or a call of an object of its."""
    if name.startswith(_OF_TENSORS) and not name.startswith(_TAKING) and not name.endswith(_CONVERTING):
        report_parted(interpreter, frame, arguments, node)


def report_parted_read(interpreter: Interpreter, frame: Frame, reader: str, value: Value, node: cst.CSTNode) -> None:
    """Say the same of what Python reads or iterates; its truth says nothing, and methods are attributes first."""
    if reader != "bool" and not reader.startswith("."):
        report_parted(interpreter, frame, (value,), node)
