"""Losses of the project's own: how each reduces, as it is told when created; and what a model is compiled with."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, FunctionValue, Instance, Value
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter, MethodModel
from ..interpreter.losses import note_reduction
from ..library.keras_classes import kind_of
from .held_models import pass_on

_LOSS: Final = "loss"


def _initialised(
    interpreter: Interpreter, frame: Frame, owner: Value, arguments: Arguments, node: cst.BaseExpression
) -> Value | None:
    """`super().__init__(reduction="sum")`."""
    if isinstance(owner, ApiObject) and kind_of(owner.api) == _LOSS and isinstance(frame.bound, Instance):
        note_reduction(frame.bound, arguments)
    return None


def compiled_with(interpreter: Interpreter, model: Instance, loss: Value | None) -> None:
    """Keras keeps the loss that a model is compiled with in an attribute: the model's steps may call it there."""
    if isinstance(loss, FunctionValue | ApiObject | Instance) and model.cls.find(_LOSS) is None:
        for owner in dict.fromkeys((interpreter.canonical_instance(model.cls), model)):
            interpreter.writes.assign(owner, owner.attributes, _LOSS, loss)
    pass_on(interpreter, model)


METHODS: Final[dict[str, MethodModel]] = {".__init__": _initialised}
