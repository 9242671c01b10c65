"""Variables that code assigns data to of which each replica of a strategy has other ones."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.operators import arithmetic_tensor
from ..domain.origins import PARAMETER
from ..domain.values import Dependence, Origin, Tensor
from ..files.unit import Location
from .events import Event
from .frames import Arguments, Frame
from .interface import Interpreter


class AssignOwnData(Event):
    """Traced code assigns what depends on data to a variable, and does not reduce it over the replicas of a strategy;
    place: the call. `target`: what names the variable; `created`: where it was, by the library function `maker`;
    `outside`: in no strategy's scope, so that it has no copies; `data`: where the data come from."""

    target: str
    created: Location
    maker: str
    outside: bool
    data: Origin


def report_own_data(
    interpreter: Interpreter, frame: Frame, variable: Tensor, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Say that code assigns such a value to a variable, in a program where strategies matter."""
    if not frame.context.becomes_graph or not (interpreter.strategies or interpreter.options.target is not None):
        return
    value = arguments.get(0, "value") or arguments.get(0, "delta")
    assigned = None if value is None else arithmetic_tensor(value)
    match node, variable.origin, assigned:
        case (
            cst.Call(func=cst.Attribute(value=target)),
            Origin(location=created, shared=str(maker)),
            Tensor(dependence=Dependence.VALUE, origin=Origin() as data),
        ) if maker and _is_of_replica(frame, data):
            interpreter.emit(
                frame,
                AssignOwnData,
                node,
                target=frame.unit.code(target),
                created=created,
                maker=maker,
                outside=variable.made is not None and variable.made.scope is None,
                data=data,
            )


def _is_of_replica(frame: Frame, data: Origin) -> bool:
    """Whether each replica has other data, as far as anybody sees: a parameter of what a strategy runs is a batch."""
    unit, node = data.location.unit, data.location.node
    own = frame.function is not None and unit.function_around(node) is frame.function.node
    return not data.shared or (data.shared == PARAMETER and frame.entered and own)
