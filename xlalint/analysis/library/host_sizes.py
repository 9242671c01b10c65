"""Sizes and numbers that host code takes from what changes: arrays made with them, lists that were filled, chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ...syntax import nodes as cst
from ..domain.counts import Rows, fills_batches, is_multiple, named, plus, times
from ..domain.joins import element_of
from ..domain.kinds import rows_of, united
from ..domain.values import STATIC, ApiObject, Array, Sequence, Static, Structure, Tensor, Unknown, Value, Variation
from ..domain.varying_shapes import EVEN, LAST, OF_RECORD, READ, ROWS, filtered, variations_of, varied
from ..files.unit import Location
from ..record import replace
from .changing_numbers import changing, of_size
from .results import result_of

# The arguments that are a shape, or one dimension of it each, under the names that calls are bound by.
_SHAPE: Final = ("shape", "size", "dims", "*0")
_SECOND: Final = ("shape", "multiples", "repeats", "reps", "newshape", "*1")
_IMAGE: Final = ("size", "target_height", "target_width")
_THIRD: Final = ("num", "size", "shape", "*2")
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            *(f"np.{name}" for name in ("zeros", "ones", "empty", "full")),
            *(f"np.random.{name}" for name in ("random", "random_sample", "sample", "standard_normal")),
            *(f"tf.{name}" for name in ("zeros", "ones", "fill")),
            *(f"tf.random.{name}" for name in ("normal", "uniform", "truncated_normal")),
            *(f"keras.random.{name}" for name in ("normal", "uniform", "truncated_normal")),
            *(f"keras.ops.{name}" for name in ("zeros", "ones", "full")),
        ),
        _SHAPE,
    ),
    **dict.fromkeys(("np.random.normal", "np.random.uniform", "np.random.randint", "np.linspace"), _THIRD),
    "np.random.choice": ("size", "*1"),
    **dict.fromkeys(("tf.linspace", "keras.ops.linspace"), ("num",)),
    **dict.fromkeys(("np.tile", "np.repeat", "np.resize", "np.broadcast_to", "np.reshape"), _SECOND),
    **dict.fromkeys(("tf.tile", "tf.repeat", "tf.broadcast_to", "tf.reshape"), _SECOND),
    **dict.fromkeys(("np.eye", "np.identity", "tf.eye", "keras.ops.eye"), ("num_rows", "N", "n", "*0")),
    **dict.fromkeys(("np.random.rand", "np.random.randn"), ("*0", "*1", "*2", "*3")),
    **dict.fromkeys(("np.arange", "keras.ops.arange"), ("start", "stop", "*0", "*1")),
    **dict.fromkeys(("tf.image.resize", "tf.image.resize_with_crop_or_pad", "tf.image.resize_with_pad"), _IMAGE),
    "keras.ops.image.resize": ("size",),
    **dict.fromkeys(("tf.image.random_crop", "tf.image.stateless_random_crop"), ("size",)),
    **dict.fromkeys(("tf.image.crop_to_bounding_box", "tf.image.pad_to_bounding_box"), _IMAGE),
    "tf.range": ("start", "limit"),
    "tf.one_hot": ("depth",),
}
_PADDINGS: Final = ("pad_width", "paddings", "*1")
# What makes one array of a list.
_STACKING: Final = frozenset(
    (
        *(
            f"np.{name}"
            for name in ("array", "asarray", "copy", "stack", "vstack", "row_stack", "concatenate", "hstack")
        ),
        *(f"tf.{name}" for name in ("stack", "concat", "constant", "convert_to_tensor")),
        *(f"keras.ops.{name}" for name in ("stack", "concatenate", "convert_to_tensor")),
    )
)
# Functions of Python numbers that give Python numbers.
_OF_NUMBERS: Final = ("math.", "builtins.")
# Functions that give another Python number each time: those of NumPy where they are asked for no array.
_DRAWING: Final = frozenset(
    (
        *(f"random.{name}" for name in ("random", "randint", "randrange", "uniform", "gauss", "normalvariate")),
        *(f"time.{name}" for name in ("time", "perf_counter", "monotonic", "process_time")),
    )
)
_DRAWING_ARRAYS: Final[Mapping[str, int]] = {  # .. with the number of arguments that an array takes
    "np.random.rand": 1,
    "np.random.randn": 1,
    "np.random.random": 1,
    "np.random.normal": 3,
    "np.random.uniform": 3,
    "np.random.randint": 3,
}
_LISTS: Final = frozenset(("cut", EVEN, "filled", "grown", LAST, "masked", "sized"))  # what changes how long a list is
_RESHAPING: Final = frozenset(("np.reshape", "tf.reshape", "keras.ops.reshape"))
_COPYING: Final = frozenset(("np.array", "np.asarray", "np.copy"))
# What changes how long each item of a list is.
_ITEMS: Final = frozenset(("cut", "sized"))
PIECES: Final = "pieces"  # the detail of what is smaller in some of the pieces that an array is split into
# Functions of NumPy whose result is as long as what they are passed: `expand_dims`, where the new dimension is not the
# first.
_AS_LONG: Final = frozenset(
    f"np.{name}"
    for name in (
        "abs",
        "array",
        "asarray",
        "ascontiguousarray",
        "clip",
        "copy",
        "expand_dims",
        "float32",
        "random.permutation",
    )
)
# .. and of TensorFlow.
_AS_MANY: Final = frozenset(
    (
        *(f"tf.{name}" for name in ("cast", "constant", "convert_to_tensor", "expand_dims", "identity", "one_hot")),
        *(f"tf.image.{name}" for name in ("convert_image_dtype", "grayscale_to_rgb", "rgb_to_grayscale")),
        *(f"keras.ops.{name}" for name in ("cast", "convert_to_tensor", "expand_dims")),
    )
)
# What makes an array of a list on the way to something else.
_CONVERTING: Final = frozenset(
    ("np.expand_dims", *(f"{library}.{name}" for library in ("tf", "keras.ops") for name in ("cast", "expand_dims")))
)
_IN_ROWS: Final = frozenset(("np.concatenate", "np.vstack"))
_JOINING: Final = frozenset(("concatenate", "concat", "hstack", "vstack", "row_stack"))


def row_parameters(name: str) -> tuple[str, ...]:
    """The arguments of a function of NumPy that say how many rows there are in what it makes."""
    return _SIZES.get(name, ()) if name.startswith("np.") else ()


def sized(name: str, arguments: Mapping[str, Value], result: Value, location: Location, *, looped: bool) -> Value:
    """The result of a library's function on the host, with what varies of it because a number or a list does."""
    if name in _DRAWING or (name in _DRAWING_ARRAYS and _is_single(arguments, _DRAWING_ARRAYS[name])):
        return Static(varies=(Variation("drawn", location),)) if looped else STATIC
    if isinstance(result, Static) and not result.known and name.startswith(_OF_NUMBERS):
        found: tuple[Variation, ...] = ()
        for value in arguments.values():
            found = united(found, value.varies if isinstance(value, Static) else ())
        return replace(result, varies=found) if found else result
    if isinstance(result, Array) and (name in _AS_LONG or _keeps_shape(name)):
        given = next(iter(arguments.values()), None)
        if not _is_behind(name, arguments):
            result = replace(result, length=1)
        elif isinstance(given, Array):
            result = replace(result, length=given.length, row=given.row)
    if name in _AS_MANY and isinstance(result, Tensor) and _is_behind(name, arguments):
        result = _of_rows(next(iter(arguments.values()), None), result, location)
    if name in _CONVERTING and isinstance(result, Array | Tensor):
        given = next(iter(arguments.values()), None)
        if isinstance(given, Sequence):
            found = tuple(_of_list(given, looped))
            result = varied(result, found if _is_behind(name, arguments) else _behind_another(found))
    if name == "tf.ragged.constant" and isinstance(result, ApiObject):
        given = next(iter(arguments.values()), None)
        found = tuple(_of_list(given, looped)) if isinstance(given, Sequence) else ()
        return replace(result, payload=Structure(varies=found)) if found else result
    if name in _STACKING:
        stacked = next(iter(arguments.values()), None)
        if isinstance(stacked, Array) and name in _COPYING:
            return varied(result, stacked.varies)
        if not isinstance(stacked, Sequence):
            return result
        found = tuple(each for each in stacked.varies if each.kind in _LISTS)
        if stacked.items is None and name.rpartition(".")[2] not in _JOINING:  # one array has rows of one size
            result = filtered(result, lambda each: each.kind != READ)
        along = name.rpartition(".")[2] not in _JOINING and arguments.get("axis", Static(0)) == Static(0)
        if isinstance(result, Array) and along:
            written = len(stacked.items) if stacked.items and not stacked.varies else None
            result = replace(result, length=stacked.steps or written)
        if isinstance(result, Array) and _joins_rows(name, arguments, stacked):
            result = replace(result, length=_sum_of(stacked, location))
        if looped and name.rpartition(".")[2] not in _JOINING:  # rows that are stacked once are of one length
            found = united(found, _of_items(stacked))
        found = united(found, tuple(each for each in variations_of(stacked) if each.kind == OF_RECORD))
        return varied(result, found)
    if name in ("np.array_split", "np.split") and isinstance(result, Sequence):
        return _pieces(name, arguments, result, location)
    if name in _RESHAPING and (given := next(iter(arguments.values()), None)) is not None:
        result = varied(result, _reshaped(given, arguments))
        match result, _shape_in(arguments):
            case Array(), Sequence(items=(Static(int(first)), *_)) if first > 0:
                result = replace(result, length=first)
    if name in ("np.pad", "tf.pad") and isinstance(result, Array | Tensor):
        widths = _argument(arguments, *_PADDINGS)
        full = {axis for axis, pair in enumerate(_pairs(widths)) if _fills_up(pair, location)}
        result = filtered(result, lambda each: each.axis not in full)
        return varied(result, tuple(_behind_padding(widths, location, looped)))
    if name == "np.append" and isinstance(result, Array):
        return _appended(arguments, result, location)
    if name in ("np.repeat", "np.tile") and isinstance(result, Array):
        result = replace(result, length=_repeated(name, arguments))
    if name in _SIZES:
        if isinstance(result, Tensor):
            result = _of_written(name, arguments, result, location)
        return varied(result, tuple(_of_sizes(name, arguments, location, looped)))
    return result


def _keeps_shape(name: str) -> bool:
    """Whether a function of NumPy gives an array of the shape of its first argument."""
    rule = result_of(name).split("/") if name.startswith("np.") and name != "np.searchsorted" else []
    return rule[1:2] == ["same"]


def _is_behind(name: str, arguments: Mapping[str, Value]) -> bool:
    """Whether a function leaves the first dimension where it is: a new one that `expand_dims` makes is behind it."""
    return not name.endswith("expand_dims") or arguments.get("axis", arguments.get("*1", Static(0))) != Static(0)


def _of_list(given: Sequence, looped: bool) -> Iterator[Variation]:
    """What varies of an array because it does of the list that it is made of, or of the rows in it."""
    yield from (each for each in given.varies if each.kind in _LISTS)
    if looped:
        yield from _of_items(given)


def _of_rows(given: Value | None, made: Tensor, location: Location) -> Tensor:
    """A tensor that is made of an array, or of a list of which nobody knows how long it is, and has as many rows."""
    mark: tuple[Variation, ...] = ()
    match given:
        case Array(length=length) | Sequence(items=None, steps=length) if not fills_batches(length):
            detail = str(length) if isinstance(length, int) and length else ""
            mark = (Variation(ROWS, location, axis=0, detail=detail),)
        case Tensor(varies=varies):
            mark = tuple(each for each in varies if each.kind == ROWS)
    return replace(made, varies=united(made.varies, mark)) if mark else made


def _of_written(name: str, arguments: Mapping[str, Value], made: Tensor, location: Location) -> Tensor:
    """A new tensor whose number of rows is written where it is made."""
    match next((arguments[parameter] for parameter in _SIZES[name] if parameter in arguments), None):
        case Sequence(items=(Static(int() as rows), _, *_)) | Static((int() as rows, _, *_)) if rows > 1:
            return replace(made, varies=united(made.varies, (Variation(ROWS, location, axis=0, detail=str(rows)),)))
        case _:
            return made


def _appended(arguments: Mapping[str, Value], made: Array, location: Location) -> Array:
    """`np.append(x, y, axis=0)`, which needs no axis for rows of numbers."""
    given = _argument(arguments, "arr", "*0"), _argument(arguments, "values", "*1")
    flat = all(isinstance(each, Array) and each.row == 1 for each in given)
    if flat or _argument(arguments, "axis", "*2") == Static(0):
        arrays = Sequence("tuple", tuple(each for each in given if each is not None))
        return replace(made, length=_sum_of(arrays, location))
    return made


def _joins_rows(name: str, arguments: Mapping[str, Value], joined: Sequence) -> bool:
    """Whether a function puts arrays behind each other: `hstack` does so if they are rows of numbers."""
    if name == "np.hstack":
        return all(isinstance(each, Array) and each.row == 1 for each in joined.items or (joined.element,))
    return name in _IN_ROWS and arguments.get("axis", Static(0)) == Static(0)


def _repeated(name: str, arguments: Mapping[str, Value]) -> Rows | None:
    """How many rows an array has that is repeated along the first dimension."""
    given = _argument(arguments, "a", "A", "*0")
    flat = isinstance(given, Array) and given.row == 1
    match name, _argument(arguments, "repeats", "reps", "*1"):
        case "np.tile", Sequence(items=(count, *others)) if flat is not bool(others):
            pass
        case "np.tile" | "np.repeat", Static() as count if flat or _argument(arguments, "axis", "*2") == Static(0):
            pass
        case _:
            return None
    length, often = given.length if isinstance(given, Array) else None, rows_of(count)
    return None if length is None or often is None else times(length, often)


def _argument(arguments: Mapping[str, Value], *names: str) -> Value | None:
    return next((arguments[name] for name in names if name in arguments), None)


def _sum_of(arrays: Sequence, location: Location) -> Rows | None:
    """How long arrays are that are put behind each other; where nobody knows how many they are, as often as that."""
    if arrays.items is None and isinstance(arrays.element, Array) and arrays.element.length is not None:
        often = arrays.steps or named(f"arrays in {location.unit.code(location.node)}")
        return times(arrays.element.length, often)
    total: Rows | None = 0 if arrays.items else None
    for array in arrays.items or ():
        length = array.length if isinstance(array, Array) else None
        total = None if total is None or length is None else plus(total, length)
    return total


def _shape_in(arguments: Mapping[str, Value]) -> Value | None:
    return _argument(arguments, *_SECOND)


def _reshaped(given: Value, arguments: Mapping[str, Value]) -> tuple[Variation, ...]:
    """What varies of an array whose elements are put into another shape: the dimension that is left open."""
    varies = given.varies if isinstance(given, Array | Tensor | Sequence | Unknown) else ()
    match _shape_in(arguments):
        case Sequence(items=tuple(items)) if Static(-1) in items:
            axis = items.index(Static(-1))
        case Static(-1):
            axis = 0
        case _:
            return ()
    return tuple(replace(each, axis=axis) for each in varies if each.kind in _LISTS)


def _of_items(rows: Sequence) -> tuple[Variation, ...]:
    """What varies of an array because it does of each of its rows, behind the new dimension."""
    # Of several lists that fill an array each is as long as the others, whatever makes them longer.
    kinds = _LISTS if rows.items is not None and len(rows.items) == 1 else _ITEMS
    found = (each for each in variations_of(element_of(rows)) if each.kind in kinds)
    return _behind_another(found)


def _behind_another(found: Iterable[Variation]) -> tuple[Variation, ...]:
    """What varies, behind a new dimension."""
    return tuple(each if each.axis is None else replace(each, axis=each.axis + 1) for each in found)


def _pieces(name: str, arguments: Mapping[str, Value], pieces: Sequence, location: Location) -> Value:
    """`np.array_split(x, n)`: some pieces are longer by one, unless the number is known to come out even. `np.split` at
    the numbers of a range, or at places that are computed, leaves another piece behind the last one."""
    match arguments.get("ary", arguments.get("*0")), arguments.get("indices_or_sections", arguments.get("*1")):
        case Array(length=length), Static() as count if is_multiple(length, rows_of(count)):
            return pieces
        case _, Sequence() | Static() if name == "np.split":
            return pieces
        case _:
            piece = Array(varies=(Variation(LAST, location, axis=0, shapes=2, detail=PIECES),))
            return replace(pieces, items=None, element=piece)


def _of_sizes(name: str, arguments: Mapping[str, Value], location: Location, looped: bool) -> Iterator[Variation]:
    """The dimensions of a new array that a varying number decides."""
    given = [arguments[parameter] for parameter in _SIZES[name] if parameter in arguments]
    for position, value in enumerate(given):
        match value:
            case Static() | Tensor() | Array() if number := changing(value, location, looped):
                yield of_size(number, position, location)
            case Sequence(items=tuple(items)):
                for axis, item in enumerate(items):
                    if number := changing(item, location, looped):
                        yield of_size(number, axis, location)
                return
            case Sequence(items=None, element=element) if number := changing(element, location, looped):
                yield of_size(number, None, location)


def _behind_padding(widths: Value | None, location: Location, looped: bool) -> Iterator[Variation]:
    """The dimensions that `np.pad(row, (0, longest - len(row)))` brings to a length that is another one each time."""
    for axis, pair in enumerate(_pairs(widths)):
        for width in pair.items or () if isinstance(pair, Sequence) and not _fills_up(pair, location) else ():
            number = changing(width, location, looped)
            if number is not None and number.kind == "number":
                yield of_size(number, axis, location)


def _pairs(widths: Value | None) -> tuple[Value, ...]:
    """By axis, how much is put before and behind it."""
    match widths:
        case Sequence(items=tuple(items)) if items:
            return (widths,) if any(isinstance(item, Static) for item in items) else items
        case _:
            return ()


def _fills_up(pair: Value, location: Location) -> bool:
    """Whether nothing changes how much is put somewhere but how long it is: `np.pad(row, (0, 8 - len(row)))`."""
    causes = variations_of(pair)
    match location.node:
        case cst.Call(args=[cst.Arg(value=padded), *_]) if causes:
            return all(_is_length_of(each.location.node, padded) for each in causes)
        case _:
            return False


def _is_length_of(node: cst.CSTNode, measured: cst.BaseExpression) -> bool:
    """Whether it is `len(x)` or `x.shape[0]` of what is called so."""
    match node:
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(value=one)]):
            return one.deep_equals(measured)
        case cst.Subscript(value=cst.Attribute(value=one, attr=cst.Name("shape"))):
            return one.deep_equals(measured)
        case _:
            return False


def _is_single(arguments: Mapping[str, Value], count: int) -> bool:
    """Whether a function of NumPy is asked for one number."""
    return len(arguments) < count and "size" not in arguments
