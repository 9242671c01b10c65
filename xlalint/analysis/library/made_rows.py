"""Tensors that are made with a constant number of rows, or taken to have it, and batches that have as many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from ...syntax import nodes as cst
from ..domain.values import Sequence, Setting, Static, Unknown, Value

_T = TypeVar("_T")
# What cuts a dataset into batches, with where it is told how large they are.
BATCHES: Final = {
    "tf.data.Dataset.batch": ("batch_size", "*0"),
    "tf.data.Dataset.padded_batch": ("batch_size", "*0"),
    "keras.utils.image_dataset_from_directory": ("batch_size",),
}
# What cuts arrays or pictures into batches, where somebody says how large: by the last words of the name.
_CUTTING: Final = frozenset(("fit", "flow", "flow_from_dataframe", "flow_from_directory"))
_SIZE: Final = ("batch_size",)
# What makes a tensor of a shape that it is told.
_MAKERS: Final = (
    *("tf.fill", "tf.ones", "tf.zeros", "keras.ops.ones", "keras.ops.zeros", "keras.ops.full", "np.ones", "np.zeros"),
    *(f"tf.random.{name}" for name in ("normal", "truncated_normal", "uniform")),
    *(f"tf.random.stateless_{name}" for name in ("normal", "truncated_normal", "uniform")),
    *(f"keras.random.{name}" for name in ("normal", "truncated_normal", "uniform", "randint")),
    *(f"keras.backend.{name}" for name in ("ones", "random_normal", "random_uniform", "zeros")),
    *(f"tf.random.Generator.{name}" for name in ("normal", "truncated_normal", "uniform")),
)
# What has, or makes, rows for the first number of a shape, with the parameters that may be that.
_SHAPED: Final = {
    **dict.fromkeys(_MAKERS, ("shape", "dims", "*0")),
    **dict.fromkeys(("tf.broadcast_to", "keras.ops.broadcast_to", "tf.constant"), ("shape",)),
    "tf.tile": ("multiples",),
    "keras.ops.tile": ("repeats",),
    "keras.backend.tile": ("n",),
}
# What takes a tensor for one of so many rows.
_TAKERS: Final = {
    **dict.fromkeys(("tf.reshape", "keras.backend.reshape", "tf.ensure_shape"), ("shape",)),
    "keras.ops.reshape": ("newshape",),
    **dict.fromkeys(("tf.unstack", "keras.ops.unstack"), ("num",)),
    "tf.split": ("num_or_size_splits",),
    "keras.ops.split": ("indices_or_sections",),
}
_RECURRENT: Final = frozenset(
    f"keras.layers.{name}" for name in ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN")
)
_NUMBERED: Final = {"tf.eye": ("num_rows",), "keras.ops.eye": ("N",)}
# What counts from a number, 0 where it is left out, to another.
_RANGES: Final = {
    "tf.range": ("start", "limit"),
    "keras.ops.arange": ("start", "stop"),
    "builtins.range": ("*0", "*1"),
}
_SHAPES: Final = {**_SHAPED, **_TAKERS, **_NUMBERED}


def rows_made(name: str, arguments: Mapping[str, Value]) -> int | Setting | None:
    """How many rows a call makes, or takes a tensor to have, as a number or a setting; None of what does neither, or
    nobody knows how many."""
    match _first(arguments, _parameters(name, arguments)):
        case Sequence(items=(rows, *_)):
            return number_of(rows)
        case rows:
            return number_of(rows)


def has_rows(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call makes, or takes, a number of rows that Python knows where the code is traced."""
    if name not in _SHAPES and name not in _RANGES:
        return False  # most calls
    if rows_made(name, arguments) is not None:
        return True
    match _first(arguments, _parameters(name, arguments)):
        case Sequence(items=(Static(dimension=None, varies=()) as rows, *_)):
            return not rows.known
        case Sequence(items=(Unknown(), *_)):
            return True
        case _:
            return False


def keeps_state(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call makes a layer that keeps a state for each row of a batch, from one batch to the next."""
    return name in _RECURRENT and arguments.get("stateful") == Static(True)


def takes_rows(name: str) -> bool:
    """Whether a call makes no rows of its own, but takes a tensor to have as many."""
    return name in _TAKERS


def counts_rows(name: str) -> bool:
    """Whether a call makes the numbers of rows."""
    return name in _RANGES


def _parameters(name: str, arguments: Mapping[str, Value]) -> tuple[str, ...]:
    """Which arguments of a call may tell the number of its rows."""
    if name not in _RANGES:
        return _SHAPES.get(name, ())
    start, end = _RANGES[name]
    return (start,) if end not in arguments else (end,) if arguments.get(start) == Static(0) else ()


def cuts_batches(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a call cuts data into batches of a size that it is told."""
    return name in BATCHES or (name.rpartition(".")[2] in _CUTTING and "batch_size" in arguments)


def batch_made(name: str, arguments: Mapping[str, Value]) -> int | Setting | None:
    """How many rows the batches have into which a call cuts a dataset, in the same way."""
    return number_of(size_passed(name, arguments))


def size_passed(name: str, arguments: Mapping[str, Value]) -> Value | None:
    """The size of the batches that a call which cuts a dataset is passed."""
    return _first(arguments, BATCHES.get(name, _SIZE))


def shape_of(name: str, nodes: Mapping[str, _T], arguments: Mapping[str, Value]) -> _T | None:
    """What a call is passed for the shape, or for the number, of its rows."""
    return _first(nodes, _parameters(name, arguments))


def first_of_shape(shape: cst.BaseExpression) -> cst.BaseExpression:
    """How the number of rows is written in what is passed for a shape, or for the number itself."""
    match shape:
        case cst.Tuple(elements=[cst.Element(value=rows), *_]) | cst.List(elements=[cst.Element(value=rows), *_]):
            return rows
        case _:
            return shape


def size_of(name: str, nodes: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression | None:
    """How the size of the batches is written in a call that cuts a dataset."""
    return _first(nodes, BATCHES.get(name, _SIZE))


def _first(given: Mapping[str, _T], names: Iterable[str]) -> _T | None:
    return next((given[name] for name in names if name in given), None)


def number_of(rows: Value | None) -> int | Setting | None:
    """A number of rows, as far as it is known."""
    match rows:
        case Static(setting=Setting() as setting):
            return setting
        case Static(bool()):
            return None
        case Static(int() as number) if number > 0:
            return number
        case _:
            return None
