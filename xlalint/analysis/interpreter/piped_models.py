"""Input pipelines that compute with weights: `tf.data` runs them on the host, apart from what XLA compiles."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Instance, Value
from ..library.weights import holds_weights
from .frames import Frame
from .interface import Interpreter
from .setup_events import ComputeInPipeline

_OF_KERAS: Final = ("layer", "model")
_BY_KERAS: Final = frozenset(("__call__", "build", "call"))


def report_piped_call(interpreter: Interpreter, frame: Frame, called: Value, node: cst.CSTNode) -> None:
    """Say that a function which `tf.data` maps calls a model, or a layer with weights; what these call is theirs."""
    if frame.context.mapped and not _is_in_model(frame) and holds_weights(called):
        _report(interpreter, frame, called, node)


def report_mapped(interpreter: Interpreter, frame: Frame, mapped: Value | None, node: cst.CSTNode) -> None:
    """The same of what is itself mapped: `dataset.map(model)`."""
    match mapped:
        case ApiObject() | Instance() if holds_weights(mapped):
            _report(interpreter, frame, mapped, node)


def report_piped_tape(interpreter: Interpreter, frame: Frame, node: cst.CSTNode) -> None:
    """Say that a function which `tf.data` maps takes gradients."""
    if frame.context.mapped:
        _report(interpreter, frame, None, node)


def _report(interpreter: Interpreter, frame: Frame, called: Value | None, node: cst.CSTNode) -> None:
    if not frame.module.is_test:
        interpreter.emit(frame, ComputeInPipeline, node, order=interpreter.order_of(node), called=called)


def _is_in_model(frame: Frame) -> bool:
    """Whether the code is that of a model or a layer which Keras has called."""
    function, owner = frame.function, frame.bound
    if function is None or function.name not in _BY_KERAS:
        return False
    return isinstance(owner, Instance) and any(map(owner.cls.is_keras, _OF_KERAS))
