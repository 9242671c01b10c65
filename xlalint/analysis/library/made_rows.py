"""Tensors that are made with a constant number of rows, and batches that have as many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from ...syntax import nodes as cst
from ..domain.values import Sequence, Setting, Static, Value

_T = TypeVar("_T")
# What cuts a dataset into batches, with where it is told how large they are.
BATCHES: Final = {
    "tf.data.Dataset.batch": ("batch_size", "*0"),
    "tf.data.Dataset.padded_batch": ("batch_size", "*0"),
    "keras.utils.image_dataset_from_directory": ("batch_size",),
}
# What makes a tensor of a shape that it is told.
_MAKERS: Final = frozenset(
    (
        *("tf.fill", "tf.ones", "tf.zeros", "keras.ops.ones", "keras.ops.zeros", "keras.ops.full"),
        *(f"tf.random.{name}" for name in ("normal", "truncated_normal", "uniform")),
        *(f"tf.random.stateless_{name}" for name in ("normal", "truncated_normal", "uniform")),
        *(f"keras.random.{name}" for name in ("normal", "truncated_normal", "uniform", "randint")),
        *(f"keras.backend.random_{name}" for name in ("normal", "uniform")),
        *(f"tf.random.Generator.{name}" for name in ("normal", "truncated_normal", "uniform")),
    )
)
_SHAPES: Final = ("shape", "dims", "*0")


def rows_made(name: str, arguments: Mapping[str, Value]) -> int | Setting | None:
    """How many rows a call makes, as a number or a setting; None of what makes no tensor, or one row, or nobody knows
    how many."""
    match _first(arguments, _SHAPES) if name in _MAKERS else None:
        case Sequence(items=(rows, *_)):
            return number_of(rows)
        case _:
            return None


def batch_made(name: str, arguments: Mapping[str, Value]) -> int | Setting | None:
    """How many rows the batches have into which a call cuts a dataset, in the same way."""
    return number_of(_first(arguments, BATCHES[name]))


def first_of_shape(nodes: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression | None:
    """How the number of rows is written in a call that makes a tensor, if that is in the call itself."""
    match _first(nodes, _SHAPES):
        case cst.Tuple(elements=[cst.Element(value=rows), *_]) | cst.List(elements=[cst.Element(value=rows), *_]):
            return rows
        case _:
            return None


def size_of(name: str, nodes: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression | None:
    """How the size of the batches is written in a call that cuts a dataset."""
    return _first(nodes, BATCHES[name])


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
