"""What a loss returns that Keras is passed: one number for the whole batch, or one for each element. Calls of losses of
the project's own."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.joins import join
from ..domain.kinds import options
from ..domain.values import UNKNOWN, ApiObject, Function, Instance, Reduction, Static, Tensor
from ..library.reductions import averages
from ..library.strategies import making_of
from .contexts import Trained
from .events import Event
from .frames import Arguments, Frame, Summary
from .interface import Interpreter

_LOSS: Final = "keras.losses.Loss"
_REDUCTION: Final = "reduction"


class ReturnLoss(Event):
    """A loss that Keras takes the gradient of returns one number, the sum or the mean of all elements; place: the
    function."""

    function: Function
    reduction: Reduction


def report_loss(interpreter: Interpreter, frame: Frame, summary: Summary) -> None:
    """Say that a loss, or what it calls, returns one number, in a program where strategies matter."""
    if summary.function is None or frame.context.trained is not Trained.LOSS:
        return
    if not (interpreter.strategies or interpreter.options.target is not None):
        return
    for option in options(summary.value):
        if isinstance(option, Tensor) and option.reduction is not None:
            interpreter.emit(
                frame, ReturnLoss, summary.function.node, function=summary.function, reduction=option.reduction
            )


def report_own_loss(
    interpreter: Interpreter, frame: Frame, owner: Instance, arguments: Arguments, node: cst.BaseExpression
) -> None:
    """Say that code calls an object of a loss of the project's: Keras reduces what its `call` returns, as it does with
    losses of its own."""
    reduction = owner.attributes.get(_REDUCTION)
    if reduction is not None and averages(reduction):
        owner_of_keras = ApiObject(_LOSS, made=making_of(owner))
        interpreter.report_setup(frame, f"{_LOSS}.__call__", owner_of_keras, *arguments.by_name(), UNKNOWN, node)


def note_reduction(created: Instance, arguments: Arguments) -> None:
    """Remember what Keras's constructor of a loss is told, which several calls may create that nobody tells apart."""
    told = arguments.get(0, _REDUCTION) or (
        Static("auto") if arguments.rest is None is arguments.rest_keywords else UNKNOWN
    )
    known = created.attributes.get(_REDUCTION, told)
    created.attributes[_REDUCTION] = join(known, told)
