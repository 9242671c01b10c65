"""What a loss returns that Keras is passed: one number for the whole batch, or one for each element."""

from __future__ import annotations

from ..domain.kinds import options
from ..domain.values import Function, Reduction, Tensor
from .contexts import Trained
from .events import Event
from .frames import Frame, Summary
from .interface import Interpreter


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
