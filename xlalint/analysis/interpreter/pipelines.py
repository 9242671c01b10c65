"""Elements of `tf.data` pipelines that compiled code takes: only the host has them."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Value
from ..library.datasets import DATASET
from .contexts import ContextKind
from .events import TakeElements
from .frames import Frame
from .interface import Interpreter

_OPERATIONS: Final = {DATASET: "ScanDataset", "tf.data.Iterator": "IteratorGetNext"}


def report_elements(interpreter: Interpreter, frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """Say that compiled code takes elements of `value`. What a strategy runs on each device has its host beside it."""
    replica = frame.context.scope is not None and frame.context.scope.replica
    match value:
        case ApiObject(name, None) if name in _OPERATIONS and frame.context.kind is ContextKind.XLA and not replica:
            interpreter.emit(frame, TakeElements, node, operation=_OPERATIONS[name])
