"""What Keras's loops take of what they are passed: arrays, datasets, generators, and objects that return batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import rounds_up
from ..domain.kinds import options, rows_of
from ..domain.values import (
    NONE,
    ApiObject,
    Array,
    Dict,
    Instance,
    OneOf,
    Sequence,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..domain.varying_shapes import LAST, ROWS, STEPS, filtered
from ..interpreter.frames import Arguments, Frame
from ..interpreter.interface import Interpreter
from ..library.datasets import is_dataset
from ..record import replace

_DATA: Final = ("x", "generator")
_OLD: Final = "fit_generator"  # which nothing but Keras has
_OF_LOOPS: Final = frozenset(("epochs", "initial_epoch", "steps_per_epoch", "validation_data", "validation_steps"))


def taken_for_model(interpreter: Interpreter, model: Value, method: str, arguments: Arguments) -> tuple[Value, ...]:
    """What a call may run. With a target, what nobody knows is a model where the arguments are those of Keras's loops,
    and a pipeline of TensorFlow's or Keras's is passed."""
    found = tuple(options(model))
    if interpreter.options.target is None or not all(isinstance(option, Unknown) for option in found):
        return found
    asked = method == _OLD or not _OF_LOOPS.isdisjoint(arguments.keywords)
    passed = [option for name in _DATA if (value := arguments.get(0, name)) is not None for option in options(value)]
    return (ApiObject("keras.Model"),) if asked and any(map(is_dataset, passed)) else found


def beside_inputs(datasets: list[Value]) -> Iterator[Value]:
    """What elements hold beside the inputs, which are texts where a layer takes them that Keras does not compile."""
    for dataset in datasets:
        match dataset:
            case ApiObject(payload=Sequence("tuple", (_, *others))):
                yield from others


def elements_of(datasets: list[Value]) -> list[Value]:
    """The elements of datasets, as far as they are known."""
    return [dataset.payload for dataset in datasets if isinstance(dataset, ApiObject) and dataset.payload is not None]


def batch_of_object(interpreter: Interpreter, frame: Frame, batches: Instance, node: cst.Call) -> Value | None:
    """What an object of the project returns for an index, as Keras asks it: `keras.utils.Sequence`, `PyDataset`."""
    count = interpreter.special(frame, batches, "__len__", (), node)
    if count is None:
        return None
    index = interpreter.counter(frame, node, detail=STEPS if rounds_up(rows_of(count)) else "")
    around, frame.looped = frame.looped, True  # Keras's own loop, in which sizes may differ
    batch = interpreter.special(frame, batches, "__getitem__", (index,), node)
    frame.looped = around
    return batch


def whole_batches(dataset: Value) -> Value:
    """What a step takes of a dataset where somebody says how many batches: these are the whole ones."""
    match dataset:
        case ApiObject(payload=payload) if payload is not None:
            kept = filtered(payload, lambda variation: variation.kind != LAST)
            return replace(dataset, payload=kept)
        case _:
            return dataset


def as_arrays(value: Value | None, targets: Value | None, many: bool) -> Value | None:
    """The inputs of a model. Where targets belong to them, or the size of batches, which no dataset has, what nobody
    knows are arrays; of tensors nobody notes how many there are, but the targets are as many. `many`: a call that says
    how they are to be cut has more than a few."""
    if targets is None or targets == NONE:
        return Array(varies=value.varies) if many and isinstance(value, Unknown) else value
    match _first_input(value), targets:
        case Unknown() as inputs, _:
            return Array(varies=inputs.varies)
        case ApiObject(), _:  # of another library, and as long as an array: `HDF5Matrix`, a frame of pandas
            return Array()
        case OneOf(alternatives), _:
            arrays = tuple(as_arrays(option, targets, many) or option for option in alternatives if option != NONE)
            return arrays[0] if len(arrays) == 1 else OneOf(arrays)
        case Tensor(varies=varies), _ if any(each.kind == ROWS for each in varies):
            return value
        case Tensor() | Structure(), Array():
            return targets
        case Tensor() | Structure(), Unknown() if many:
            return Array()
        case _:
            return value


def _first_input(value: Value | None) -> Value | None:
    """The first of several inputs, which all have as many rows."""
    match value:
        case Sequence(items=(first, *_)) if not isinstance(first, Static):
            return _first_input(first) if isinstance(first, Dict) else first
        case Dict(entries, element):
            return next(iter(entries.values()), element)
        case _:
            return value
