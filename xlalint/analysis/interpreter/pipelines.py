"""Elements of `tf.data` pipelines that compiled code takes: only the host has them."""

from __future__ import annotations

from typing import Final

from ...syntax import nodes as cst
from ..domain.bounds import FIRST
from ..domain.values import ApiObject, Dict, Origin, Pipeline, Sequence, Structure, Tensor, Value
from ..domain.varying_shapes import LAST, mapped
from ..files.unit import Location
from ..library.datasets import DATASET
from ..record import replace
from .contexts import NOT_TRACED, ContextKind
from .events import TakeElements
from .frames import Frame
from .interface import Interpreter
from .replicas import parted

_OPERATIONS: Final = {DATASET: "ScanDataset", "tf.data.Iterator": "IteratorGetNext"}
OF_BATCHES: Final = "the last of these batches may have fewer rows"


def report_elements(interpreter: Interpreter, frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """Say that compiled code takes elements of `value`. What a strategy runs on each device has its host beside it."""
    replica = frame.context.in_replica
    match value:
        case ApiObject(name, None) if name in _OPERATIONS and frame.context.kind is ContextKind.XLA and not replica:
            interpreter.emit(frame, TakeElements, node, operation=_OPERATIONS[name])


def as_taken(interpreter: Interpreter, frame: Frame, dataset: ApiObject, node: cst.CSTNode) -> Value | None:
    """The elements of a dataset as a program with a strategy takes them: whole, or, where a strategy distributes the
    dataset, parted. A graph that takes them itself does not know how many rows a batch has, if the last one may have
    fewer."""
    elements = dataset.payload
    if elements is not None and frame.context.kind not in NOT_TRACED and not frame.context.eager:
        elements = mapped(elements, _open) if dataset.api in _OPERATIONS else elements
    if not interpreter.strategies or dataset.api != DATASET or elements is None:
        return elements
    distributed = isinstance(dataset.facts, Pipeline) and dataset.facts.distributed
    return parted(elements, Location(frame.unit, node)) if distributed else mapped(elements, _whole)


def _open(leaf: Value) -> Value:
    if isinstance(leaf, Tensor | Structure):
        for variation in leaf.varies:
            if variation.kind == LAST and variation.axis == 0:
                return replace(leaf, open=Origin(variation.location, OF_BATCHES, axes=FIRST))
    return leaf


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
