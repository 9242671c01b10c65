"""Along which axes a shape is a bounded dynamic one, through arithmetic and subscripts.

Axes count from the first, 0; from the last, -1, where a transposition has turned them and the rank is not known. None:
they are not known; an empty set: the shape is static again. Where ranks are not known, what broadcasts is taken to have
one rank, and what is multiplied to be matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from ..record import replace
from .kinds import leaves
from .values import Api, Origin, Sequence, Slice, Static, Structure, Tensor, Value

if TYPE_CHECKING:
    from ..files.unit import Location

Axes: TypeAlias = frozenset[int]
FIRST: Final[Axes] = frozenset((0,))


def product_of(dimensions: Iterable[Value]) -> int | None:
    """How many elements some dimensions make; None where one is not a known number."""
    product = 1
    for dimension in dimensions:
        match dimension:
            case Static(int() as size) if size >= 0:
                product *= size
            case _:
                return None
    return product


def numbers_of(value: Value | None) -> tuple[int, ...] | None:
    """The axes that an argument names; None where that is not known, or nothing is given."""
    match value:
        case Static(bool()):
            return None
        case Static(int() as one):
            return (one,)
        case Static(list() | tuple() as several) if all(isinstance(one, int) for one in several):
            return tuple(several)
        case Sequence(items=tuple(items)):
            found = [item.constant for item in items if isinstance(item, Static) and isinstance(item.constant, int)]
            return tuple(found) if len(found) == len(items) else None
        case _:
            return None


def counted(axes: Iterable[int], rank: int | None) -> Axes:
    """The axes of a shape of this rank, from the first where it is known."""
    return frozenset(axis if axis >= 0 or rank is None else axis + rank for axis in axes)


def of_all(values: Iterable[Value | None]) -> Axes | None:
    """The axes of all that broadcast together; not known where those of one are not."""
    found = [leaf for value in values for leaf in leaves(value) if isinstance(leaf, Tensor)]
    highest = max((tensor.rank for tensor in found if tensor.rank is not None), default=None)
    together: Axes = frozenset()
    for tensor in found:
        if tensor.bounded is not None and tensor.bounded.axes is None:
            return None
        if tensor.bounded is not None and tensor.bounded.axes is not None:
            new = highest - tensor.rank if highest is not None and tensor.rank is not None else 0
            together |= frozenset(axis + new if axis >= 0 else axis for axis in tensor.bounded.axes)
    return counted(together, highest)


def along(origin: Origin, axes: Axes | None) -> Origin | None:
    """A bounded dynamic shape along these axes, if there are any."""
    if axes is None or axes:
        return origin if origin.axes == axes else replace(origin, axes=axes)
    return None


def behind_new_axis(origin: Origin | None) -> Origin | None:
    """The bounded dynamic shape of several tensors of that shape, one behind the other along a new first axis."""
    if origin is None or origin.axes is None:
        return origin
    return along(origin, frozenset(axis + 1 if axis >= 0 else axis for axis in origin.axes))


def resized(origin: Origin, change: int | None) -> Origin:
    """A bounded dynamic shape whose bound becomes smaller, -1, or larger, 1; None: perhaps one of the two."""
    known = change is not None and origin.extent in (0, change)
    extent = origin.extent if change == 0 else change if known else None
    return origin if extent == origin.extent else replace(origin, extent=extent)


def larger(first: Origin | None, second: Origin | None) -> int:
    """Which of two bounded dynamic shapes has the larger bound: 1, or -1 for the second; 0 where that is not known."""
    if first is None or second is None or first.extent is None or second.extent is None:
        return 0
    if first.location != second.location or first.axes != second.axes or first.axes is None:
        return 0
    return (first.extent > second.extent) - (first.extent < second.extent)


def chosen_bound(first: Origin | None, second: Origin | None, joined: Origin | None) -> Origin | None:
    """The bounded dynamic shape that XLA's conditional gives one of two tensors: as large as the larger one."""
    if joined is None or first is None or second is None:
        return joined
    which = larger(first, second)
    return replace(joined, extent=(first if which > 0 else second).extent) if which else joined


def met_by(origin: Origin, values: Iterable[Value | None]) -> Origin:
    """The bounded dynamic shape of what is computed of all these, one of which may have a static shape."""
    found = (leaf for value in values for leaf in leaves(value) if isinstance(leaf, Tensor))
    met = any(tensor.bounded is None and tensor.rank != 0 for tensor in found)
    return replace(origin, met=True) if met and not origin.met else origin


def broadcast(tensors: Iterable[Tensor]) -> Origin | None:
    """The bounded dynamic shape of what is computed of these element by element."""
    given = tuple(tensors)
    origin = next((tensor.bounded for tensor in given if tensor.bounded is not None), None)
    return origin and along(met_by(origin, given), of_all(given))


def multiplied(left: Value | None, right: Value | None, turned: tuple[bool, bool] = (False, False)) -> Axes | None:
    """Of a product of matrices, perhaps of many: the rows of the left one and the columns of the right one."""
    found: Axes = frozenset()
    for place, side in enumerate((left, right)):
        axes, rank = of_all([side]), _rank(side)
        if axes is None or rank < 2:
            return None
        outer = rank - 2 + (place != turned[place])  # its axis that the product has, too
        for axis in counted(axes, rank):
            found |= {rank - 2 + place} if axis == outer else {axis} if axis < rank - 2 else set()
    return found


def product(left: Value, right: Value, tensors: Iterable[Tensor]) -> Origin | None:
    """The bounded dynamic shape of `left @ right`."""
    origin = next((tensor.bounded for tensor in tensors if tensor.bounded is not None), None)
    return origin and along(origin, multiplied(left, right))


def indexed(base: Tensor, index: tuple[Value, ...]) -> Origin | None:
    """What a subscript without masks leaves of the bounded dynamic shape of a tensor."""
    origin = base.bounded
    if origin is None:
        return None
    if len(index) == 1 and base.rank == 1 and not _keeps(index[0]):
        return None
    if origin.axes is None:
        return origin
    cuts = [_cut(item) for item in meeting(base, index)]
    return along(
        resized(origin, min(cuts, key=_BY_CUT.index, default=0)), _left(counted(origin.axes, base.rank), index)
    )


def cut_by(base: Tensor, index: tuple[Value, ...], location: Location) -> Origin | None:
    """The bounded dynamic shape that a subscript gives the part of a tensor whose ends a loop makes, or chance: XLA has
    no length for it, even where both ends move (measured). None where it is not known along which axes."""
    place, axes = 0, set[int]()
    for number, item in enumerate(index):
        if _is_ellipsis(item):
            place = (base.rank or 0) - sum(not _is_new(other) for other in index[number + 1 :])
        elif not _is_new(item):
            if isinstance(item, Slice) and any(map(_moves, (item.start, item.stop))):
                axes.add(place)
            place += 1
    left = _left(frozenset(axes), index) if axes else None
    return Origin(location, "`{code}` has a bounded dynamic shape", axes=left) if left else None


def _moves(end: Value | None) -> bool:
    return isinstance(end, Tensor) and end.carried


# From what certainly makes a bound smaller to what leaves it.
_BY_CUT: Final = (-1, None, 0)


def _cut(item: Value) -> int | None:
    """What an item of a subscript makes of a bound: -1, 0, or None where that is not known. XLA knows the bound of an
    end that is a constant when it compiles, and of none that counts what was selected (measured)."""
    match item:
        case Slice(start=start, stop=stop):
            return min(_ends_at(start), _ends_at(stop), key=_BY_CUT.index)
        case _:
            return 0


def _ends_at(end: Value | None) -> int | None:
    match end:
        case None | Static(None | 0):
            return 0
        case Static():
            return -1
        case Tensor(carried=False, origin=None | Origin(axes=None)) | Structure(carried=False):
            return -1
        case _:
            return None


def _left(axes: Axes, index: tuple[Value, ...]) -> Axes | None:
    """The axes of the result; None where an item may be more than a number or a slice."""
    met: dict[int, int | None] = {}  # by axis of the tensor that of the result
    place = made = 0
    for item in index:
        if _is_ellipsis(item):
            break
        if _is_new(item):
            made += 1
        elif isinstance(item, Slice):
            met[place] = made
            place, made = place + 1, made + 1
        elif isinstance(item, Static) or (isinstance(item, Tensor) and item.rank == 0):
            met[place] = None
            place += 1
        else:
            return None
    moved = (met.get(axis, axis - place + made) if axis >= 0 else axis for axis in axes)
    return frozenset(axis for axis in moved if axis is not None)


def meeting(base: Tensor, index: tuple[Value, ...]) -> Iterator[Value]:
    """The items of a subscript that meet a bounded axis of the tensor; the first item where the axes are not known."""
    known = base.bounded.axes if base.bounded is not None else None
    axes = FIRST if known is None else counted(known, base.rank)
    place = 0
    for number, item in enumerate(index):
        if _is_ellipsis(item):
            place = (base.rank or 0) - sum(not _is_new(other) for other in index[number + 1 :])
        elif not _is_new(item):
            if place in axes:
                yield item
            place += 1


def _rank(value: Value | None) -> int:
    return value.rank if isinstance(value, Tensor) and value.rank is not None else 2


def _keeps(item: Value) -> bool:
    return isinstance(item, Slice) or _is_new(item) or _is_ellipsis(item)


def _is_new(item: Value) -> bool:
    return item in (Static(None), Api("tf.newaxis"), Api("np.newaxis"))


def _is_ellipsis(item: Value) -> bool:
    return isinstance(item, Static) and item.constant is Ellipsis
