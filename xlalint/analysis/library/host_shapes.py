"""Functions of the host whose results have another shape from call to call: what grows, what is resized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...syntax import nodes as cst
from ..domain.bounds import numbers_of
from ..domain.kinds import UNRANKED, leaves, options
from ..domain.values import NONE, Array, Sequence, Static, Tensor, Value, Variation
from ..domain.varying_shapes import (
    FED_BACK,
    FIXED,
    GROWS,
    ITSELF,
    MASKED,
    READ,
    RESIZED,
    UNDECLARED,
    last_batches,
    variations_of,
    varied,
)
from ..files.unit import Location
from ..record import replace

ANIMATED: Final = "animated"  # the detail of a rank that a picture may have more than one of
_JOINING: Final = frozenset(
    ("keras.ops.append", "keras.ops.concatenate", "np.append", "np.concatenate", "np.hstack", "np.vstack", "tf.concat")
)
_APPENDING: Final = frozenset(("keras.ops.append", "np.append"))  # whose first argument is the tensor, not a list
_STACKING: Final = frozenset(
    ("np.array", "np.asarray", "np.stack", "tf.constant", "tf.convert_to_tensor", "tf.stack", "keras.ops.stack")
)
# What a file holds has its own size.
_DECODING: Final = frozenset(
    (
        *(f"tf.{room}.decode_{form}" for room in ("io", "image") for form in ("bmp", "gif", "image", "jpeg", "png")),
        *("tf.audio.decode_wav", "tf.io.decode_raw"),
    )
)
# A picture that may be a GIF, which has one dimension more; and a tensor of any rank.
_ANIMATED: Final = frozenset(("tf.image.decode_image", "tf.io.decode_image"))
_RANKS_READ: Final = _ANIMATED | {"tf.io.parse_tensor"}
# What finds as many as a condition holds for, where it is passed nothing else.
_POSITIONS: Final = frozenset(("np.argwhere", "np.flatnonzero", "np.nonzero", "np.where", "tf.where"))
# What finds each value once, before what is as long as the tensor that it looks through.
_DISTINCT: Final = frozenset(("tf.unique", "tf.unique_with_counts"))
_GATHERING: Final = frozenset(("tf.gather", "tf.gather_nd"))
# What resizes, pads or crops a picture to a size.
_RESIZING: Final = frozenset(
    (
        *("tf.image.resize", "tf.image.resize_bilinear", "keras.ops.image.resize"),
        *("tf.image.resize_with_crop_or_pad", "tf.image.resize_with_pad"),
        *("tf.image.crop_to_bounding_box", "tf.image.pad_to_bounding_box"),
    )
)


# .. or makes anything of a size.
_FIXING: Final = frozenset(
    (
        *_RESIZING,
        *("tf.reshape", "tf.ensure_shape", "tf.broadcast_to", "tf.image.random_crop", "tf.one_hot"),
        *("keras.ops.reshape", "keras.ops.broadcast_to", "keras.ops.one_hot"),
    )
)
_WRITTEN: Final = ("size", "shape", "newshape", "target_height", "target_width", "depth", "num_classes")


def shaped(
    name: str,
    arguments: Mapping[str, Value],
    result: Value,
    location: Location,
    fed: bool,
    *,
    traced: bool,
    looped: bool,
) -> Value:
    """The result of a library's function with the variation that it begins, if it does. `traced`: the call is traced
    into a graph; `looped`: a Python loop is around it; `fed`: a dataset calls it with each of its elements."""
    if name in _JOINING and traced:
        return varied(result, tuple(_joined_to_feedback(arguments, location)))
    if name in _JOINING and looped and not traced and not fed:
        return varied(result, (_joined(name, arguments, location),))
    if name in _RESIZING and not traced and _size_varies(arguments):
        return varied(result, (Variation(RESIZED, location, axis=None),))
    if fed and name in _FIXING and isinstance(result, Tensor) and _is_written(arguments):
        return varied(result, (Variation(FIXED, location),))
    if fed and not traced and name in _RANKS_READ:
        result = varied(result, tuple(_lost_rank(name, arguments, location)))
    if name in _DECODING and (looped or fed) and not traced:
        return varied(result, (Variation(READ, location),))
    if name == "tf.sparse.to_dense" and not traced:
        return varied(result, variations_of(next(iter(arguments.values()), None)))
    if (looped or fed) and not traced:
        result = _masked(name, arguments, result, location)
    if name in _STACKING and not traced:
        rows = next(iter(arguments.values()), NONE)
        return varied(result, last_batches(rows) if isinstance(rows, Sequence) else ())
    if name == "keras.Input" and _is_open(arguments):
        return varied(result, (Variation(UNDECLARED, location),))
    return result


def _lost_rank(name: str, arguments: Mapping[str, Value], location: Location) -> Iterator[Variation]:
    """What is read has the rank that it is found to have at run time, where nothing says otherwise."""
    if name not in _ANIMATED:
        yield Variation(UNRANKED, location)
    elif arguments.get("expand_animations", arguments.get("*3")) in (None, Static(True)):
        yield Variation(UNRANKED, location, detail=ANIMATED)


def _joined_to_feedback(arguments: Mapping[str, Value], location: Location) -> Iterator[Variation]:
    """What gets longer with each call of a compiled function, since something is joined to what the call before has
    returned: not along the last dimension, which is a layer's as often as not."""
    for value in arguments.values():
        if not isinstance(value, Sequence) or value.items is None or len(value.items) < 2:
            continue
        axis, *_ = numbers_of(arguments.get("axis")) or (0,)
        ranks = {item.rank for item in value.items if isinstance(item, Tensor)}
        if axis == -1 or axis + 1 in ranks:
            continue
        marks = (each for item in value.items for each in variations_of(item) if each.kind == FED_BACK)
        yield from {each.detail: Variation(GROWS, location, axis, detail=each.detail) for each in marks}.values()


def _masked(name: str, arguments: Mapping[str, Value], result: Value, location: Location) -> Value:
    """The result of a function that keeps as many elements as there happen to be."""
    axis: int | None = None if name.startswith("np.") else 0  # those of NumPy give a tuple of arrays
    match result:
        case Sequence(items=(found, *others)) if name in _DISTINCT:
            return replace(result, items=(varied(found, (Variation(MASKED, location, axis),)), *others))
        case Tensor(bounded=bounded) if name == "tf.boolean_mask" and (
            bounded is not None or isinstance(arguments.get("mask"), Array)
        ):
            (axis, *_) = numbers_of(arguments.get("axis")) or (0,)
        case _ if name in _POSITIONS and len(arguments) == 1:
            pass
        case Tensor() if name in _GATHERING:
            given = numbers_of(arguments.get("axis")) if "axis" in arguments else (0,)
            axis = given[0] if given else None
            chosen = variations_of(arguments.get("indices"))
            mine = (each for each in chosen if each.kind == MASKED and each.axis == 0)
            return varied(result, tuple(replace(each, axis=axis) for each in mine))
        case _:
            return result
    return varied(result, (Variation(MASKED, location, axis),))


def _is_written(arguments: Mapping[str, Value]) -> bool:
    """Whether the size that a function makes something of is one of the program's, with no dimension left open."""
    sizes = [leaf for name in _WRITTEN if name in arguments for leaf in leaves(arguments[name])]
    numbers = [leaf.constant for leaf in sizes if isinstance(leaf, Static)]
    left = any(one in (None, -1) or (isinstance(one, tuple | list) and {None, -1} & {*one}) for one in numbers)
    return bool(sizes) and not left and not any(isinstance(leaf, Tensor) or variations_of(leaf) for leaf in sizes)


def _is_open(arguments: Mapping[str, Value]) -> bool:
    """Whether a symbolic input leaves a dimension besides the batch's open."""
    match arguments.get("shape"), arguments.get("batch_shape"):
        case Sequence(items=tuple(items)), _:
            return NONE in items
        case _, Sequence(items=(_, *items)):
            return NONE in items
        case _:
            return False


def _joined(name: str, arguments: Mapping[str, Value], location: Location) -> Variation:
    """What is joined in a loop with the outcome of the iteration before grows; not `x = tf.concat(x, 0)`, which puts
    the tensors of a list side by side, and leaves a tensor as it is."""
    for value in arguments.values():
        joined = (one for one in options(value) if name in _APPENDING or isinstance(one, Sequence))
        if any(variation.location == location for one in joined for variation in variations_of(one)):
            return Variation(GROWS, location, _axis_of(arguments))
    own = ITSELF if _is_assigned_to_part(name, location) else ""
    return Variation("joined", location, _axis_of(arguments), detail=own)


def _axis_of(arguments: Mapping[str, Value]) -> int | None:
    """The dimension along which tensors are joined, where it is written, and counted from the first."""
    match numbers_of(arguments.get("axis")):
        case (int(axis),) if axis >= 0:
            return axis
        case _:
            return None


def _is_assigned_to_part(name_of: str, location: Location) -> bool:
    """Whether a result is assigned to what is a part of it."""
    match next(iter(location.unit.around(location.node)), None), location.node:
        case cst.Assign(targets=[cst.AssignTarget(target=target)]), cst.Call(args=[cst.Arg(value=first), *_]):
            name = location.unit.code(target)
            whole = None if name_of in _APPENDING else first
            parts = (
                part
                for part in cst.within(location.node)
                if isinstance(part, cst.Name | cst.Attribute) and part is not whole
            )
            return any(location.unit.code(part) == name for part in parts)
        case _:
            return False


def _size_varies(arguments: Mapping[str, Value]) -> bool:
    if arguments.get("preserve_aspect_ratio", Static(False)) == Static(True):
        return True
    sizes = (arguments.get(name, NONE) for name in ("size", "target_height", "target_width"))
    return any(isinstance(leaf, Tensor) for size in sizes for leaf in leaves(size))
