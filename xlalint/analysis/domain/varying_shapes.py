"""What differs from one call to the next: which values carry a variation, and which operations end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeGuard

from ..record import replace
from .counts import fills_batches, takes_rest
from .kinds import LOST_RANKS, UNRANKED, leaves, rows_of, united
from .values import (
    NONE,
    Api,
    ApiObject,
    Array,
    Dependence,
    Dict,
    OneOf,
    Sequence,
    Slice,
    Static,
    Structure,
    Tensor,
    Unknown,
    Value,
    Variation,
)

if TYPE_CHECKING:
    from ..files.unit import Location

# The detail of a counter that goes through data in steps which need not come out even: `range(0, len(x), 32)`.
STEPS: Final = "steps"
# What is joined with itself in a loop, once and in the next iterations.
GROWS: Final = "grows"
JOINED: Final = frozenset(("joined", GROWS))
# What is smaller once: the last batch, and what has its size.
LAST: Final = "last batch"
# Begins the detail of one that is left out by default, which nobody means for good, or perhaps.
UNLESS: Final = "unless "
# An image that is resized, to another size each time.
RESIZED: Final = "resized"
# No variation of a shape: a layer that a symbolic tensor comes from, which Keras compiles no model with.
LAYER: Final = "layer"
# .. nor this: there are weights before it in a model of Keras 2, so that a gradient is taken through what follows.
BEHIND: Final = "behind weights"
OF_LAYERS: Final = (LAYER, BEHIND)
# .. nor this: another piece of the same length each time.
WINDOW: Final = "window"
# .. nor this: as many elements as fill whole batches, `x[:n // size * size]`.
EVEN: Final = "even"
# .. nor this: a tensor that was made of an array, of as many rows as the detail says, where they are known.
ROWS: Final = "rows"
# .. nor this: as many elements as a list lacks of a number, `[0] * (n - len(row))`.
PADDING: Final = "padding"
# A list that is of another length each time, and one that is only while the loop goes on that fills it.
FILLED: Final = "filled"
GROWN: Final = "grown"
# The detail of a list that a loop puts as many into each time.
COUNTED: Final = "counted"
# The detail of the number that a comprehension counts with, and of what it makes in such sizes: another one in each of
# its items, the same in each such list.
OF_ITEMS: Final = "items"
# The detail of arrays of different lengths that a loop goes through, each of which is as long as it is.
OF_ARRAYS: Final = "arrays"
_BATCH: Final = 32  # that Keras cuts arrays into, which are then no matter of their lengths
# As many elements as a condition on data holds for, which is asked again and again.
MASKED: Final = "masked"
# A model's symbolic input leaves a dimension open.
UNDECLARED: Final = "undeclared"
# What a file holds has its own size.
READ: Final = "read"
# .. nor this, of a tensor that holds a shape, or the first number in it: how many rows there are.
OF_SHAPE: Final = "of a shape"
# .. nor this, of a number that a record of a file holds: another one in each record.
OF_RECORD: Final = "of a record"
# .. nor this, of what a compiled function has returned, and is passed again; how the detail of that begins, which tells
# one result from another, and of what the function joins to it.
FED_BACK: Final = "fed back"
# .. nor this, of an element of a dataset that is brought to a size which is written: all elements have it.
FIXED: Final = "fixed"
# What makes the elements of one dataset differ in shape; padding them ends it.
UNEVEN: Final = frozenset((FIXED, "generator shape", "longest", MASKED, READ, RESIZED, "unpadded"))
# What makes a list longer or shorter, and the first dimension of what is made of it.
_OF_NO_SIZE: Final = frozenset(
    (*OF_LAYERS, WINDOW, EVEN, PADDING, ROWS, OF_SHAPE, OF_RECORD, FED_BACK, FIXED, UNRANKED, "batch", "counter")
)
# The detail of what is joined to what it is assigned to, and gets longer each time: `x = np.append(x, row)`.
ITSELF: Final = "itself"
LENGTHS: Final = frozenset((FILLED, GROWN, MASKED, "sized"))
_KEPT: Final = LENGTHS | {EVEN, LAST}  # .. and what else is true of each list that is as long
_DEEPEST: Final = 4
# In an index, new dimensions, and what stands for no single dimension of what is indexed.
NEW_AXES: Final = (Static(None), Api("tf.newaxis"), Api("np.newaxis"))
_NO_DIMENSION: Final = (Static(...), *NEW_AXES)
# Their result has the shape that an argument names, whatever shape goes in.
_RESHAPING: Final = frozenset(
    (
        "central_crop",
        "crop_images",
        "crop_to_bounding_box",
        "ensure_shape",
        "pad",
        "pad_images",
        "pad_to_bounding_box",
        "random_crop",
        "repeat_elements",
        "resize",
        "resize_bilinear",
        "resize_with_crop_or_pad",
        "resize_with_pad",
        "scale_and_translate",
        "slice",
        "stack",
        "stateless_random_crop",
        "strided_slice",
        "tile",
        "top_k",
    )
)
# Their result has lost a dimension of what goes in: the last one of `matmul(concat([x, h], -1), w)`.
_CONTRACTING: Final = frozenset(("dot", "einsum", "matmul", "matvec", "tensordot"))
_SPLITTING: Final = frozenset(("array_split", "split", "unstack"))
# Rules for the rank of a result (see `api_tables`) under which it has the dimensions of its arguments.
_KEEPING: Final = frozenset(("same", "all", "+1"))


def variations_of(value: Value | None, depth: int = 0) -> tuple[Variation, ...]:
    """Every variation inside a value."""
    match value:
        case Static() | Tensor() | Unknown() | Structure() | Array():
            return value.varies
        case ApiObject(payload=payload) if payload is not None:
            return variations_of(payload, depth + 1)
        case Sequence() | Dict() | OneOf() if depth < _DEEPEST:
            found = value.varies if isinstance(value, Sequence) else ()
            for item in _inside(value):
                found = united(found, variations_of(item, depth + 1))
            return found
        case _:
            return ()


def rows_noted(varies: tuple[Variation, ...]) -> tuple[str, ...]:
    """Of how many arrays it is said how many rows they have, of which a tensor is made; "" where that is not known."""
    return tuple({each.detail: None for each in varies if each.kind == ROWS})


def of_sizes(varies: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """Those of the variations that say that a size differs; not how large the batches of one dataset are."""
    return tuple(each for each in varies if each.kind not in _OF_NO_SIZE and (each.kind != "joined" or each.detail))


def is_counted(variation: Variation) -> bool:
    """Whether a list is as long each time, behind the loop that fills it."""
    return variation.kind == GROWN and variation.detail == COUNTED


def _inside(value: Sequence | Dict | OneOf) -> Iterator[Value]:
    match value:
        case OneOf(alternatives):
            yield from alternatives
        case Sequence(items=items, element=element):
            yield from items or ()
            if element is not None:
                yield element
        case Dict(entries, element):
            yield from entries.values()
            if element is not None:
                yield element


def varied(value: Value, variations: tuple[Variation, ...]) -> Value:
    """The value with these variations in all its tensors; what nobody knows of becomes tensors in some structure."""
    if not variations:
        return value

    def add(leaf: Value) -> Value:
        match leaf:
            case Tensor() | Structure() | Array():
                return replace(leaf, varies=united(leaf.varies, variations))
            case Unknown():
                return Structure(varies=variations)
            case _:
                return leaf

    return mapped(value, add)


def of_element(made: Value) -> tuple[bool, tuple[Variation, ...]]:
    """Of what a function makes of an element: whether all of it is a number or brought to a size that is written, and
    what varies of it."""
    held = [*leaves(made)]
    fixed = bool(held) and all(
        (isinstance(one, Tensor) and one.rank == 0)
        or (isinstance(one, Tensor | Structure) and any(each.kind == FIXED for each in one.varies))
        for one in held
    )
    return fixed, tuple(each for each in variations_of(made) if fixed or each.kind != FIXED)


def filtered(value: Value, keep: Callable[[Variation], bool]) -> Value:
    """The value with those of its variations only that `keep` says yes to."""

    def sift(leaf: Value) -> Value:
        match leaf:
            case (
                Tensor(varies=(_, *_))
                | Structure(varies=(_, *_))
                | Array(varies=(_, *_))
                | Static(varies=(_, *_))
                | Unknown(varies=(_, *_))
            ):
                return replace(leaf, varies=tuple(filter(keep, leaf.varies)))
            case _:
                return leaf

    return mapped(value, sift)


def without(value: Value, drop: Callable[[Variation], bool]) -> Value:
    """The value without those variations that `drop` says yes to, of lists as of what they hold."""
    match value:
        case Sequence(items=items, element=element):
            inner = None if items is None else tuple(without(item, drop) for item in items)
            held = None if element is None else without(element, drop)
            return replace(value, items=inner, element=held, varies=tuple(v for v in value.varies if not drop(v)))
        case Dict(entries, element):
            kept = {key: without(item, drop) for key, item in entries.items()}
            return Dict(kept, None if element is None else without(element, drop))
        case OneOf(alternatives):
            return OneOf(tuple(without(option, drop) for option in alternatives))
        case _:
            return filtered(value, lambda variation: not drop(variation))


def mapped(value: Value, function: Callable[[Value], Value]) -> Value:
    """The structure with `function` applied to each of its leaves."""
    match value:
        case Sequence(kind, items, element, steps=steps):
            inner = None if items is None else tuple(mapped(item, function) for item in items)
            return Sequence(kind, inner, None if element is None else mapped(element, function), steps=steps)
        case Dict(entries, element):
            kept = {key: mapped(item, function) for key, item in entries.items()}
            return Dict(kept, None if element is None else mapped(element, function))
        case OneOf(alternatives):
            return OneOf(tuple(mapped(option, function) for option in alternatives))
        case _:
            return function(value)


def carried_over(name: str, rank_rule: str, varies: tuple[Variation, ...]) -> tuple[Variation, ...]:
    """What remains of its arguments' variations in the result of a function. Parts that are joined again make what was
    split, as if one end were left out."""
    last = name.rpartition(".")[2]
    layers = tuple(variation for variation in varies if variation.kind in OF_LAYERS)  # of any shape
    if not varies or last in _RESHAPING:
        return layers
    varies = tuple(variation for variation in varies if variation.kind not in (ROWS, OF_SHAPE))  # see `host_sizes`
    if last in _CONTRACTING:
        varies = tuple(variation for variation in varies if not variation.detail.startswith(FED_BACK))
    if last in _SPLITTING:
        varies = tuple(each for each in varies if each.kind != "joined" and not each.detail.startswith(FED_BACK))
    if rank_rule.partition(":")[0] in _KEEPING:
        return varies
    return layers


def transposed(varies: tuple[Variation, ...], order: tuple[int, ...]) -> tuple[Variation, ...]:
    """The variations of dimensions that come in another order: the first is the one that `order` names first."""
    return tuple(
        replace(each, axis=order.index(each.axis)) if each.axis is not None and each.axis in order else each
        for each in varies
        if each.kind not in LOST_RANKS
    )


def after_index(varies: tuple[Variation, ...], index: tuple[Value, ...]) -> tuple[Variation, ...]:
    """What remains of a tensor's variations in a part of it: a dimension that is taken at one position, or from which a
    fixed piece is cut, varies no longer; nor does what an array of positions takes, which has their length. What is
    joined to a part that leaves out an end is a window that moves along."""
    if not varies or (len(index) == 1 and _is_of_fixed_positions(index[0])):
        return ()
    if any(isinstance(item, Slice) and _leaves_an_end(item) for item in index):
        varies = tuple(variation for variation in varies if variation.kind not in ("joined", FED_BACK))
    if index and index[0] != Slice(None, None, None):
        varies = tuple(variation for variation in varies if variation.kind != ROWS)
    if not (index and _takes_the_first(index[0])):
        varies = tuple(variation for variation in varies if variation.kind != OF_SHAPE)
    items = [item for item in index if item not in _NO_DIMENSION]
    if items and Static(...) in index:
        # Which dimension is meant behind it is not worth counting: not the one that the rows of a batch are counted by.
        before = [item for item in index[: index.index(Static(...))] if item not in NEW_AXES]
        if before and not (isinstance(before[0], Slice) and _follows_the_length(before[0])):
            return ()
        return tuple(_behind_new_axes(each, index) for each in varies if each.kind == LAST and each.axis == 0)
    fixed = {axis for axis, item in enumerate(items) if not (isinstance(item, Slice) and _follows_the_length(item))}
    return tuple(
        _behind_new_axes(variation, index)
        for variation in varies
        if (variation.axis not in fixed if variation.axis is not None else not fixed - {0})
    )


def _behind_new_axes(variation: Variation, index: tuple[Value, ...]) -> Variation:
    """A variation of a dimension, which new ones before it have moved: `x[None]`."""
    if variation.axis is None:
        return variation
    new = passed = 0
    for item in index:
        if item in NEW_AXES:
            new += 1
        elif item == Static(...) or passed == variation.axis:
            break
        else:
            passed += 1
    return replace(variation, axis=variation.axis + new) if new else variation


def _is_of_fixed_positions(item: Value) -> bool:
    match item:
        case Array():
            return item.dtype != "bool" and not item.varies
        case Sequence(kind="list"):
            return not item.varies
        case _:
            return False


def _takes_the_first(item: Value) -> bool:
    """`[0]`, `[:2]`."""
    return item == Static(0) or (isinstance(item, Slice) and item.start in (None, NONE, Static(0)))


def _follows_the_length(cut: Slice) -> bool:
    """Whether a slice is longer where the tensor is: `[:]`, `[1:]`, `[:-1]`."""
    lower = cut.start is None or _sign(cut.start) > 0
    upper = cut.stop is None or _sign(cut.stop) < 0
    return lower and upper


def _leaves_an_end(cut: Slice) -> bool:
    """`[1:]`, `[:-1]`."""
    return any(bound is not None and _sign(bound) for bound in (cut.start, cut.stop))


def told_apart(items: tuple[Value, ...], location: Location) -> tuple[Value, ...]:
    """The items as a loop on the host meets them one by one: Python numbers that differ vary, and arrays of different
    lengths, also as the parts of tuples of one length."""
    rows = [item.items for item in items if isinstance(item, Sequence) and item.kind == "tuple" and item.items]
    if rows and len(rows) == len(items) and len(set(map(len, rows))) == 1:
        columns = [told_apart(column, location) for column in zip(*rows, strict=True)]
        return tuple(Sequence("tuple", row) for row in zip(*columns, strict=True))
    lengths = {item.length for item in items if isinstance(item, Array) and isinstance(item.length, int)}
    if len(lengths) > 1 and any(length % _BATCH for length in lengths):
        sized = (Variation("sized", location, axis=0, shapes=len(lengths), detail=OF_ARRAYS),)
        return tuple(varied(item, sized) if isinstance(item, Array) else item for item in items)
    numbers = {item.constant for item in items if _is_number(item)}
    if len(numbers) < 2:
        return items
    varies = (Variation("counter", location, shapes=len(numbers)),)
    return tuple(replace(item, varies=varies) if _is_number(item) else item for item in items)


def as_item(value: Value, location: Location) -> Value:
    """What a comprehension meets of what it goes through at a place: its numbers differ from item to item."""

    def mark(variation: Variation) -> Variation:
        counts = variation.kind == "counter" and variation.location == location and not variation.detail
        return replace(variation, detail=OF_ITEMS) if counts else variation

    return _renamed(value, mark) if variations_of(value) else value


def one_by_one(value: Value) -> Value:
    """An item of a list, which a loop goes through: what differs from item to item varies."""

    def unmark(variation: Variation) -> Variation:
        return replace(variation, detail="") if variation.detail == OF_ITEMS else variation

    return _renamed(value, unmark) if variations_of(value) else value


def _renamed(value: Value, change: Callable[[Variation], Variation]) -> Value:
    """The value with other variations of what it holds; a list is as long as it was."""
    match value:
        case Sequence(items=items, element=element):
            inner = None if items is None else tuple(_renamed(item, change) for item in items)
            return replace(value, items=inner, element=None if element is None else _renamed(element, change))
        case Dict(entries, element):
            kept = {key: _renamed(item, change) for key, item in entries.items()}
            return Dict(kept, None if element is None else _renamed(element, change))
        case OneOf(alternatives):
            return OneOf(tuple(_renamed(option, change) for option in alternatives))
        case Tensor(varies=(_, *_)) | Structure(varies=(_, *_)) | Array(varies=(_, *_)) | Static(varies=(_, *_)):
            return replace(value, varies=tuple(map(change, value.varies)))
        case _:
            return value


def _is_number(value: Value) -> TypeGuard[Static]:
    return isinstance(value, Static) and type(value.constant) in (int, float)


def cut(value: Value, index: tuple[Value, ...], location: Location, *, looped: bool) -> Value:
    """What is cut from data on the host, with the variation of a piece that has another length each time: one of its
    bounds varies, or one by more than the other does. Else it is a window, of which the last one may be smaller.
    `looped`: a loop is around it, where a mask is another one each time."""
    found: tuple[Variation, ...] = ()
    for axis, item in enumerate(index):
        if isinstance(item, Array | Sequence) and axis == 0:
            found = (*found, *last_batches(item), *sizes_of(item))
        if isinstance(item, Sequence) and axis == 0:  # what `np.nonzero` gives, all of one length
            found = (*found, *(replace(each, axis=axis) for each in variations_of(item) if each.kind == MASKED))
        if isinstance(item, Array):
            found = (*found, *(each for each in item.varies if each.kind == MASKED))
            if looped and item.dtype == "bool":
                found = (*found, Variation(MASKED, location, axis))
        if looped and isinstance(item, Tensor) and item.is_mask and item.dependence is Dependence.VALUE:
            found = (*found, Variation(MASKED, location, axis))
        if not isinstance(item, Slice):
            continue
        count = None if item.stop is None else rows_of(item.stop)
        if axis == 0 and item.start is None and (fills_batches(count) or takes_rest(count)):
            found = (*found, Variation(EVEN, location, axis))
        start, stop = variations_of(item.start), variations_of(item.stop)
        lower, upper = ({each.location for each in bound} for bound in (start, stop))
        alone = tuple(each for each in (*start, *stop) if each.location in lower ^ upper)
        if alone and all(location.is_behind(each.location) for each in alone):
            found = (*found, Variation(LAST, location, axis, 2))
        elif alone and (lower <= upper or upper <= lower):
            found = (*found, Variation("cut", location, axis, alone[0].shapes))
        elif any(each.detail == STEPS for each in start):
            found = (*found, Variation("last batch", location, axis, 2))
        elif start:
            found = (*found, Variation(WINDOW, location, axis))
    return _noted(value, found)


def part_of_queue(value: Value, location: Location) -> Value:
    """A batch from the front of what gets shorter by it: the last one may be smaller."""
    return _noted(value, (Variation(LAST, location, axis=0, shapes=2),))


def _noted(value: Value, found: tuple[Variation, ...]) -> Value:
    match value:
        case Unknown() | Tensor() | Structure() | Array() | Sequence() if found:
            return replace(value, varies=united(value.varies, found))
        case _:
            return value


def last_batches(value: Value) -> tuple[Variation, ...]:
    """Why a list or an array has fewer elements once."""
    varies = value.varies if isinstance(value, Array | Sequence | Unknown | Tensor) else ()
    return tuple(variation for variation in varies if variation.kind == LAST and not variation.axis)


def lengths_of(value: Value) -> tuple[Variation, ...]:
    """What is true of each list that is as long as this."""
    varies = value.varies if isinstance(value, Array | Sequence | Unknown | Tensor) else ()
    return tuple(variation for variation in varies if variation.kind in _KEPT and not variation.axis)


def sizes_of(value: Value) -> tuple[Variation, ...]:
    """Why a list or an array has another number of elements each time."""
    varies = value.varies if isinstance(value, Array | Sequence | Unknown | Tensor) else ()
    return tuple(variation for variation in varies if variation.kind in LENGTHS and not variation.axis)


def sized_by(size: Value | None, location: Location) -> tuple[Variation, ...]:
    """Why what is made in a size has another one each time: a number in it is another one."""
    return (Variation("sized", location),) if of_sizes(variations_of(size)) else ()


def padded(row: tuple[Variation, ...], padding: tuple[Variation, ...]) -> tuple[Variation, ...] | None:
    """What varies of a row with padding behind it, which makes up for what the row lacks; None for another list."""
    if not any(each.kind == PADDING for each in padding):
        return None
    return tuple(each for each in (*row, *padding) if each.kind not in (*LENGTHS, PADDING))


def _sign(value: Value) -> int:
    match value:
        case Static(int() as number):
            return -1 if number < 0 else 1
        case _:
            return 0


def is_data(value: Value) -> bool:
    """Whether the value is a tensor or an array."""
    match value:
        case Tensor(dependence=dependence):
            return dependence is Dependence.VALUE
        case Structure() | Array():
            return True
        case _:
            return False
