"""Numbers and shapes in which the number of rows of a batch is: another one for the last."""

from __future__ import annotations

from ..record import replace
from .values import Static, Tensor, Value, Variation
from .varying_shapes import LAST, OF_SHAPE


def rows_in(number: Value | None) -> tuple[Variation, ...]:
    """What makes a list shorter once that has as many elements as a number says: those of the last batch."""
    varies = number.varies if isinstance(number, Static) else ()
    found = (each for each in varies if each.kind == "number" and each.detail == LAST)
    return tuple(Variation(LAST, each.location, axis=0, shapes=2) for each in found)


def number_of_rows(tensor: Tensor | None) -> tuple[Variation, ...]:
    """Why a Python number that is read from a tensor is another one once: it is how many rows the last batch has."""
    varies = () if tensor is None else tensor.varies
    return tuple(replace(each, kind="number", detail=LAST) for each in varies if each.kind == OF_SHAPE)


def number_along(size: Static, axis: int) -> Static:
    """A number in a shape of unknown rank, as the size along an axis: counted from the last, it is not that of a
    batch."""
    return replace(
        size,
        varies=tuple(
            each
            for each in size.varies
            if each.axis is None or each.axis == axis or (axis < 0 and (each.detail != LAST or each.axis))
        ),
    )


def numbers_behind(size: Static, start: Value | None) -> Static:
    """The numbers in a shape from an axis on."""
    match start:
        case None | Static(None | 0):
            return size
        case Static(int() as first):
            moved = (each if each.axis is None else replace(each, axis=each.axis - first) for each in size.varies)
            return replace(size, varies=tuple(each for each in moved if first > 0 and (each.axis or 0) >= 0))
        case _:
            return size


def in_shape(varies: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """What is true of the shape of a tensor, as a tensor: how many rows the last batch has."""
    return tuple(replace(each, kind=OF_SHAPE, axis=None) for each in varies if each.kind == LAST and not each.axis)
