"""Numbers that host code changes from time to time, and the dimensions that they decide."""

from __future__ import annotations

from ...syntax import nodes as cst
from ..domain.row_counts import rows_in
from ..domain.values import ApiObject, Array, Sequence, Static, Tensor, Value, Variation
from ..domain.varying_shapes import GROWN, LAST, OF_ITEMS, OF_RECORD, OF_SHAPE, READ, RESIZED, lengths_of
from ..files.unit import Location
from ..record import replace


def decided_by(number: Value | None, axis: int, location: Location) -> tuple[Variation, ...]:
    """What varies along a dimension because a loop changes the number that decides it; nothing where that stays the
    same, or is another one each time that a method runs, of which nobody sees how often."""
    found = changing(number, location, looped=False)
    return (of_size(found, axis, location),) if found is not None and _is_in_loop(found.location) else ()


def _is_in_loop(counted: Location) -> bool:
    """Whether the function of what counts does so in a loop."""
    for outside in (counted.node, *counted.unit.around(counted.node)):
        match outside:
            case cst.FunctionDef() | cst.Lambda():
                return False
            case cst.For() | cst.While() | cst.CompFor():
                return True
    return False


def changing(number: Value | None, location: Location, looped: bool) -> Variation | None:
    """What makes a number another one each time: not a loop that is over, in a function that runs once."""
    if isinstance(number, Tensor | Array):
        return next((each for each in number.varies if each.kind in (OF_SHAPE, OF_RECORD)), None)
    if not isinstance(number, Static):
        return None
    numbers = [each for each in number.varies if looped or not _is_over(each.location, location)]
    return min(numbers, key=lambda each: each.detail == OF_ITEMS, default=None)


def settled(value: Value, location: Location) -> Value:
    """What a function that runs once returns at a place: a loop that is over changes none of the numbers again."""
    match value:
        case Static(varies=(_, *_) as varies):
            return replace(value, varies=tuple(each for each in varies if not _is_over(each.location, location)))
        case Sequence("tuple", tuple(items)):
            return replace(value, items=tuple(settled(item, location) for item in items))
        case _:
            return value


def _is_over(counted: Location, location: Location) -> bool:
    """Whether the innermost loop around what counts does not reach another place of the same function."""
    if counted.unit is not location.unit:
        return False
    around = dict.fromkeys(location.unit.around(location.node))
    for outside in (counted.node, *counted.unit.around(counted.node)):
        match outside:
            case cst.FunctionDef() | cst.Lambda():
                return False
            case cst.For() | cst.While():
                function = counted.unit.function_around(outside)
                return outside not in around and (function is None or function in around)
    return False


def of_size(number: Variation, axis: int | None, location: Location) -> Variation:
    """A dimension that a number decides: one that is taken of a batch is smaller in the last one, as the batch is, how
    long a list is changes within the loop that fills it, and what a record says is as large as the record is."""
    if number.kind in (LAST, OF_SHAPE) or (number.kind == "number" and number.detail == LAST):
        return Variation(LAST, number.location, axis=axis, shapes=2)
    if number.kind == OF_RECORD:
        return Variation(READ, location)
    if number.kind == "number" and number.detail == RESIZED:
        return Variation(RESIZED, number.location, axis=axis)
    if number.kind == GROWN:
        return Variation(GROWN, number.location, axis=axis, shapes=number.shapes, detail=number.detail)
    detail = OF_ITEMS if number.detail == OF_ITEMS else ""
    return Variation("sized", location, axis=axis, shapes=number.shapes, detail=detail)


def as_many_as(iterable: Value, location: Location, looped: bool) -> tuple[Variation, ...]:
    """Why a list has another length each time that gets one thing for each of the numbers, or for each element of what
    has another length itself; `location`: where it gets them."""
    match iterable:
        case ApiObject("builtins.range", payload=number):
            number_of_them = changing(number, location, looped)
            made = () if number_of_them is None else (of_size(number_of_them, 0, location),)
            return rows_in(number) or made
        case _:
            return lengths_of(iterable)
