"""Elements of `tf.data` pipelines that compiled code takes: only the host has them."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.values import ApiObject, Dict, Pipeline, Sequence, Structure, Tensor, Value
from ..domain.varying_shapes import mapped
from ..library.datasets import DATASET
from ..record import replace
from .contexts import ContextKind
from .events import TakeElements
from .frames import Frame
from .interface import Interpreter

_OPERATIONS: Final = {DATASET: "ScanDataset", "tf.data.Iterator": "IteratorGetNext"}


def report_elements(interpreter: Interpreter, frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """Say that compiled code takes elements of `value`. What a strategy runs on each device has its host beside it."""
    replica = frame.context.in_replica
    match value:
        case ApiObject(name, None) if name in _OPERATIONS and frame.context.kind is ContextKind.XLA and not replica:
            interpreter.emit(frame, TakeElements, node, operation=_OPERATIONS[name])


def as_taken(interpreter: Interpreter, dataset: ApiObject) -> Value | None:
    """The elements of a dataset as a program with a strategy takes them: whole, unless it distributes the dataset."""
    distributed = isinstance(dataset.facts, Pipeline) and dataset.facts.distributed
    if not interpreter.strategies or distributed or dataset.api != DATASET or dataset.payload is None:
        return dataset.payload
    return mapped(dataset.payload, _whole)


def _whole(leaf: Value) -> Value:
    return replace(leaf, whole=True) if isinstance(leaf, Tensor | Structure) else leaf


def is_whole(batch: Value | None) -> bool:
    """Whether some tensor in what a step is passed is a batch that is distributed among no replicas."""
    match batch:
        case Tensor(whole=whole) | Structure(whole=whole):
            return whole
        case Sequence(items=tuple(items)):
            return any(map(is_whole, items))
        case Dict(entries=entries):
            return any(map(is_whole, entries.values()))
        case _:
            return False
