"""What a loss returns that Keras is passed: one number for the whole batch, or one for each element. Calls of losses of
the project's own."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.kinds import options
from ..domain.values import UNKNOWN, ApiObject, Function, Instance, Reduction, Tensor
from ..library.strategies import making_of
from .contexts import Trained
from .events import Event
from .frames import Arguments, Frame, Summary
from .interface import Interpreter

_LOSS: Final = "keras.losses.Loss"


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
    losses of its own, where its constructor does not say how."""
    init = owner.cls.find("__init__")
    if init is None or any(_may_say_how(call) for call in cst.within(init.node.body) if isinstance(call, cst.Call)):
        return
    owner_of_keras = ApiObject(_LOSS, made=making_of(owner))
    interpreter.report_setup(frame, f"{_LOSS}.__call__", owner_of_keras, *arguments.by_name(), UNKNOWN, node)


def _may_say_how(call: cst.Call) -> bool:
    """Whether `super().__init__(..)` passes on more than a name."""
    match call.func:
        case cst.Attribute(attr=cst.Name("__init__")):
            return any(arg.keyword is None or arg.keyword.value != "name" for arg in call.args)
        case _:
            return False
