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
_OWN: Final = frozenset(("_component_specs", "_get", "_primary", "_type_spec", "_values", "values"))
_NOT_OF_DICTS: Final = frozenset(("dtype", "numpy", "shape"))  # what a tensor has, and a structure of them has not
# Functions that take it as it is, by the beginnings of their names (measured).
_TAKING: Final = (
    *("tf.distribute.", "tf.function", "tf.identity", "tf.nest.", "tf.print", "tf.tpu."),
    *("tf.Session.", "tf.InteractiveSession.", "tf.compat.v1.Session.", "tf.compat.v1.InteractiveSession."),
)
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


def parted_results(value: Value, location: Location) -> Value:
    """What a strategy's `run` returns of what the step does; of what form the results are that nobody knows is open."""
    return mapped(value, lambda leaf: leaf if isinstance(leaf, Structure) else parted(leaf, location))


def perhaps_parted(value: Value) -> Value:
    """A value that may be another one where it is used, the value of a name of the code around a function, say: whether
    each replica has one is not known any more."""
    parts = (isinstance(option, Tensor | Structure) and option.parted is not None for option in options(value))
    return own_part(value) if any(parts) else value


def own_part(value: Value) -> Value:
    """What one replica has of it."""
    return mapped(value, lambda leaf: replace(leaf, parted=None) if isinstance(leaf, Tensor | Structure) else leaf)


def report_parted(interpreter: Interpreter, frame: Frame, values: Iterable[Value], node: cst.CSTNode) -> None:
    """Say that a use of values takes for a tensor what each replica has one of, or a structure of such."""
    if not interpreter.strategies or frame.context.in_replica or frame.context.pipeline or frame.module.is_test:
        return
    for part in (option for value in values for option in options(value)):
        if isinstance(part, Tensor | Structure) and part.parted is not None:
            interpreter.emit(frame, UsePerReplica, node, order=interpreter.order_of(node), parted=part.parted)
            return


def report_parted_owner(
    interpreter: Interpreter, frame: Frame, owner: Value, node: cst.CSTNode, attribute: str = ""
) -> None:
    """Say the same of what is indexed, iterated or asked for an attribute, which a structure may be, too."""
    if attribute not in _OWN and (not isinstance(owner, Structure) or attribute in _NOT_OF_DICTS):
        report_parted(interpreter, frame, (owner,), node)


def report_parted_arguments(
    interpreter: Interpreter, frame: Frame, name: str, arguments: Iterable[Value], node: cst.CSTNode
) -> None:
    """Say the same of what a function of a library is passed, also in a list, or a method or a call of its objects."""
    if (
        interpreter.strategies
        and name.startswith(_OF_TENSORS)
        and not name.startswith(_TAKING)
        and not name.endswith(_CONVERTING)
    ):
        for value in arguments:
            held = value.items or () if isinstance(value, Sequence) else ()
            report_parted(interpreter, frame, (value, *held), node)


def report_parted_read(interpreter: Interpreter, frame: Frame, reader: str, value: Value, node: cst.CSTNode) -> None:
    """Say the same of what Python reads; its truth says nothing, and methods are attributes first."""
    if reader == "len":
        report_parted_owner(interpreter, frame, value, node)
    elif reader != "bool" and not reader.startswith("."):
        report_parted(interpreter, frame, (value,), node)
