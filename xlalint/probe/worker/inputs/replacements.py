"""What to try in place of inputs at fault, by what the error says."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any, Final

from xlalint.probe.avoided import ENDED
from xlalint.sources.specs import SHORT, Form, Keyed, Literal, Many, Spec, spec

from ..backends import backend
from .called_objects import IDENTITY, LAST, LOGITS, as_model, giving, is_of_any, with_outputs
from .configurations import classes_with, modes_of, read_in_file, read_with, said_in
from .culprits import FailedCall, culprits_of, frames_of, switches_of, user_frames_of
from .dictionaries import TEXT, TYPES, asks_for_key, guess_of, instead_of_keyed, known_first, with_fewer
from .dictionary_keys import keys_beside, keys_held, keys_read
from .element_counts import reshaped
from .error_clues import MOST_RANK, ErrorClues
from .lists import instead_of_many, sizes_of
from .numbers import SIZE
from .own_settings import ready_with
from .parts import Assignment, PartPath, part_at, with_part
from .settings import CalledSettings, is_of_tensors, is_settings, settings
from .slots import OBJECTS, OF_LIBRARIES, Choice, Slot, of_class, tensor
from .spec_changes import LARGEST, as_float, is_other, less, of_dtype, of_equal_sizes, of_rank
from .tensors import ComposedInput, ObjectInput, map_specs

_IMAGE: Final = (2, 8, 8, 3)
_LARGE_IMAGE: Final = (256, 256, 3)
_SWITCHED: Final = 3  # how much less likely a switch is at fault than the input that an error is about
_OF_DEFAULTS: Final = 6  # how much less likely an input is at fault that has its default
_CERTAIN: Final = -1  # before what may be at fault
_DTYPES: Final = ("int32", "bool", "int64", "float64", "complex64", "string")
_INTEGER: Final = re.compile(r"integer|indices|index|slice|\bint\b|isn't allowed|iterable|cannot be interpreted")
_SHAPES: Final = re.compile(
    r"shape|rank|dim|axis|size|broadcast|incompatible|index|unpack|out of (?:range|bounds)", re.I
)
_SAME_RANK: Final = re.compile(r"same (?:number of dimensions|rank)|\branks?\b.*\bmatch|equal ranks?", re.I)
_TOO_FEW: Final = re.compile(r"too (?:small|few|short)|not enough|at least|must be (?:greater|larger)", re.I)
_JOINED: Final = re.compile(r"'NoneType' and 'str'|'str' and 'NoneType'|can only concatenate str")
_BETWEEN: Final = re.compile(r"minval < maxval, got (-?\d+) >= (-?\d+)")
_MANY: Final = 4096
_OF_ALL: Final = 6  # of the likeliest other inputs, those that all items of a list get
_POSITIVE: Final = re.compile(
    r"must be (?:>=? ?0|non-?negative|positive|greater than (?:or equal to )?(?:0|zero))", re.I
)
_OF_SHAPES: Final = re.compile(r"\b(?:to a|pass a|valid|a) `?shape\b", re.I)
_OF_STRINGS: Final = {name for name in (*dir(str), *dir(bytes)) if not name.startswith("_") and name not in dir(tuple)}
_OF_TENSORS: Final = ("shape", "dtype", "get_shape", "rank", "ndim", "device", "numpy", "set_shape")
_TENSORS: Final = ("EagerTensor", "SymbolicTensor", "ResourceVariable", "ArrayImpl", "ndarray")
_FUNCTION: Final = "function"  # what Python calls those that are made up
_MADE: Final = ("EagerTensor", "ArrayImpl")  # what a tensor among the inputs is


def changes(failed: FailedCall) -> Iterator[tuple[Assignment, bool]]:
    """The assignments to try next, the most promising first; and of each whether the error asks for it for certain."""
    clues = ErrorClues.of(failed.error)
    if modes := modes_of(failed):
        clues = replace(clues, modes=modes)
    if clues.attribute is not None:
        clues = replace(clues, fellows=read_with(failed, clues.attribute[1]))
    if missed := _missed(clues):
        clues = replace(clues, said=said_in(failed.roots, (*clues.fellows, missed)))
        clues = replace(clues, ready=() if is_of_tensors(missed) else ready_with(failed, missed))
    if any(isinstance(one, Keyed) for one in failed.assignment):
        clues = replace(clues, held=keys_held(failed))
    if clues.key is not None:
        clues = replace(clues, beside=keys_beside(failed, clues.key))
    if clues.of_keys:
        clues = replace(clues, read=keys_read(failed))
    faults = culprits_of(failed, clues)
    classes = _classes(failed, clues)
    ranked: list[tuple[int, int, Assignment]] = []
    for position, (slot, path) in enumerate(faults):
        part = part_at(failed.assignment[slot], path)
        clues = replace(clues, of_object=failed.slots[slot].group == "init")
        equal = tuple(of_equal_sizes(part, clues.sizes_apart)) if isinstance(part, Spec) else ()
        for rank, other in enumerate(_others(part, failed.slots[slot] if not path else None, clues, classes)):
            made = with_part(failed.assignment, slot, path, other)
            certain = rank == 0 and isinstance(part, Many) and sizes_of(part) in clues.shapes
            certain = certain or (rank == 0 and clues.is_certain_of(part))
            of_modes = isinstance(other, Literal) and other.value in clues.modes
            certain = certain or (of_modes and _is_wrong_key(part, failed.error))
            longer = clues.of_length and isinstance(part, Many)
            certain = certain or (rank == 0 and slot == faults[0][0] and (longer or asks_for_key(part, clues)))
            named = failed.slots[slot].name in clues.text or (clues.attribute or ("",))[0] == "NoneType"
            unlikely = _OF_DEFAULTS * (part is None and not named)
            behind = 0 if other in equal else 2 * position  # whichever of the inputs has a size
            likely = _CERTAIN if certain else rank + behind + unlikely
            all_of = _all_alike(failed.assignment, slot, path, other) if rank < _OF_ALL else None
            ranked += [(likely, position, one) for one in (made, all_of) if one is not None]
            if all_of is not None and (certain or _is_of_dtype(part, other)):
                ranked[-2:] = reversed(ranked[-2:])
    ranked += [(_SWITCHED, len(faults), made) for made in _switched(failed)]
    together = list(_together(failed, clues))
    ranked += [(3 + 2 * rank, len(faults), made) for rank, made in enumerate(together)]
    ranked.sort(key=lambda one: one[:2])
    for rank, _, made in ranked:
        if made != failed.assignment:
            yield made, rank == _CERTAIN


def _all_alike(assignment: Assignment, slot: int, path: PartPath, other: Choice) -> Assignment | None:
    """With another input for each item of a list of which one is at fault, where these are all the same."""
    around = part_at(assignment[slot], path[:-1]) if path else None
    if not isinstance(around, Many) or len(around.items) < 2 or len(set(around.items)) > 1:
        return None
    if not isinstance(other, Form):
        return None
    return with_part(assignment, slot, path[:-1], Many(around.kind, (other,) * len(around.items)))


def _missed(clues: ErrorClues) -> str | None:
    """The name of the setting that is not there."""
    return clues.attribute[1] if clues.attribute is not None else clues.key


# -- what instead -----------------------------------------------------------------------------------------------------


def _others(part: Choice, slot: Slot | None, clues: ErrorClues, classes: Sequence[Choice]) -> Iterator[Choice]:
    """What may stand in the place of an input, or of a part of one, the likeliest first."""
    if clues.read and not isinstance(part, Keyed | ObjectInput):
        held = part if isinstance(part, Spec) and not clues.of_object else None
        yield Keyed(tuple((key, held or guess_of(key)) for key in clues.read))
    if isinstance(part, Spec):
        yield from _instead_of_tensor(part, slot, clues, classes)
    elif isinstance(part, Many):
        yield from instead_of_many(part, slot, clues)
    elif isinstance(part, Keyed):
        yield from clues.ready if slot is not None and clues.key is not None else ()
        yield from instead_of_keyed(part, slot, clues)
    elif is_settings(part):
        yield from classes
        yield from _instead_of_settings(part, clues)
    else:
        yield from _instead_of_value(part, slot, clues, classes)


def _instead_of_tensor(part: Spec, slot: Slot | None, clues: ErrorClues, classes: Sequence[Choice]) -> Iterator[Choice]:
    shape, rank = part.shape(), len(part.dims)
    if clues.text == ENDED:  # libraries check the ranks of images least of all
        yield spec(part.dtype, *_IMAGE)
    if (sizes := clues.sizes_for(shape)) is not None:
        yield spec(part.dtype, *sizes, style=part.style)
    elif clues.ranks_apart and 0 <= rank + clues.ranks_apart <= MOST_RANK:
        yield of_rank(part, rank + clues.ranks_apart)
    yield from of_equal_sizes(part, clues.sizes_apart)
    if clues.attribute is not None and clues.attribute[0] in _TENSORS:
        if clues.attribute[1] in ("items", "keys", "values", "get", "pop", "copy", "update"):
            yield Keyed(())
        elif clues.attribute[1] in ("assign", "assign_add", "trainable", "read_value", "handle", "name"):
            yield replace(part, style="variable")
        elif clues.attribute[1] in ("indices", "dense_shape", "values"):
            yield replace(part, style="sparse")
        elif clues.attribute[1] in ("row_splits", "flat_values", "bounding_shape", "to_tensor", "nested_row_splits"):
            yield replace(part, style="ragged")
    if clues.attribute is not None and clues.attribute[1] in _OF_STRINGS and part.dtype != "string":
        yield replace(part, dtype="string", style="")
        yield from (Literal(word) for word in ("same", "relu", "sum"))
    if clues.of_text:
        yield Literal("same")
    if clues.text.startswith("Value for attr 'T"):  # its dtype is refused, and the others are named
        yield from (replace(part, dtype=dtype) for dtype in clues.dtypes[:2] if dtype != part.dtype)
    if rank and clues.of_one_element:
        yield from dict.fromkeys(spec(part.dtype, *sizes, style=part.style) for sizes in (shape[1:], ()))
    if _SAME_RANK.search(clues.text):
        ranks = dict.fromkeys(map(len, clues.shapes))
        yield from (of_rank(part, other) for other in ranks if other != rank)
        for apart in {abs(one - other) for one in ranks for other in ranks} - {0}:  # it may come here changed
            yield from (of_rank(part, other) for other in (rank - apart, rank + apart) if 0 <= other <= MOST_RANK)
    if clues.beyond and part.style != "flags" and part.dtype not in ("bool", "string"):
        yield replace(part, style="flags")
    if clues.increasing and part.style != "sorted":
        yield replace(part, style="sorted")
    if clues.whole and not part.style:
        yield replace(part, style="flags")
    if _POSITIVE.search(clues.text) and part.dtype.startswith("float") and not part.style:
        yield from (replace(part, style=style) for style in ("unit", "sorted"))
    if clues.fraction:
        yield replace(part, style="unit") if part.dtype.startswith("float") else Literal(0.5)
    if clues.asks:
        yield from (of_rank(part, other) for other in clues.ranks if other != rank)
    if clues.plain:
        yield from (Literal(SIZE), Literal(0.5), Literal(1))
    yield from classes
    yield from map(Literal, clues.modes)
    yield from _as_settings(clues, *_MADE)
    for count in range(len(clues.keys), 0, -1):  # all that it names may be too much
        yield Keyed(tuple((key, part) for key in clues.keys[:count]))
    if clues.of_function:
        yield IDENTITY
    if "SparseTensor" in clues.text and part.style != "sparse":
        yield replace(part, style="sparse")
    if "RaggedTensor" in clues.text and part.style != "ragged":
        yield replace(part, style="ragged")
    if part.style:
        yield replace(part, style="")
    if clues.unpack is not None:
        yield tensor(clues.unpack, part.dtype)
        yield Many("list", (part,) * clues.unpack)
    if "Only integers, slices" in clues.text or "NoneType" in clues.text:
        words = [word for word in clues.words if word not in TYPES]
        named = [Keyed(((word, guess_of(word) if clues.of_object else part),)) for word in words]
        yield from named
        yield from (Many("list", (one, one)) for one in named)  # it may be an element that is indexed by name
    yield from (Many("list", (part,) * count) for count in clues.counts)
    if re.search(r"\b(?:list|tuple|sequence)\b|subscriptable", clues.text):
        yield Many("list", (part, part))
        yield Many("list", (part, part, part))
    yield from (replace(part, dtype=dtype) for dtype in clues.dtypes if dtype != part.dtype)
    if clues.kind in ("TypeError", "ValueError") and _INTEGER.search(clues.text):
        yield from (Literal(2), Literal(4), Literal(1))
        yield from (Many("tuple", (Literal(size),) * count) for size in (SIZE, 2) for count in (2, 3))
    if "ositive definite" in clues.text or "Cholesky" in clues.text or "not invertible" in clues.text:
        yield spec(part.dtype, SIZE, SIZE, style="definite")
    yield from (of_rank(part, other) for other in clues.ranks if other != rank)
    if rank >= 3 and re.search(r"\b(?:height|width)\b.*must", clues.text):
        yield spec(part.dtype, *shape[:-3], *_LARGE_IMAGE)
    if _SHAPES.search(clues.text) or clues.kind in ("InvalidArgumentError", "IndexError", "AssertionError"):
        yield from _reshaped(part, clues)
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    yield from (Literal(2), Literal(4))
    yield from (replace(part, dtype=dtype) for dtype in _DTYPES if dtype != part.dtype)
    yield from (tensor(other, part.dtype) for other in (1, 2, 3, 0, 4) if other != rank)
    if len(shape) == 4:
        yield spec(part.dtype, *_IMAGE)
    yield from (Many("list", (part,) * count) for count in (2, 3))
    yield from (
        Literal(2),
        Literal(0.5),
        Literal(True),
        Literal(None),
        Many("tuple", (Literal(4), Literal(4))),
        IDENTITY,
    )


def _reshaped(part: Spec, clues: ErrorClues) -> Iterator[Choice]:
    """Other ranks and sizes, first with the sizes that the error names."""
    shape, rank = part.shape(), len(part.dims)
    if shape in clues.shapes:
        yield from (spec(part.dtype, *other, style=part.style) for other in clues.shapes if is_other(other, shape))
    yield from (spec(part.dtype, *other, style=part.style) for other in reshaped(shape, clues.text))
    if (found := _BETWEEN.search(clues.text)) is not None:  # of an image too small to cut something out of it
        more = int(found[1]) - int(found[2]) + 1
        for axis in range(rank - 2, -1, -1):
            larger = (*shape[:axis], *(size + more for size in shape[axis : axis + 2]), *shape[axis + 2 :])
            if prod(larger) <= 4 * LARGEST:
                yield spec(part.dtype, *larger, style=part.style)
    other_ranks = [tensor(other, part.dtype) for other in (rank + 1, rank - 1) if 0 <= other <= 5]
    if re.search(r"\bn?dims?\b|rank|out of bounds|ndim", clues.text):
        yield from other_ranks
    for number in clues.numbers:
        for axis in range(rank - 1, -1, -1):
            if shape[axis] != number and number * prod(shape) <= LARGEST * shape[axis]:
                yield spec(part.dtype, *shape[:axis], number, *shape[axis + 1 :], style=part.style)
    yield from other_ranks
    yield spec(part.dtype, *_IMAGE)
    if rank:
        yield spec(part.dtype, *shape[:-1], 1)
        if 2**rank * prod(shape) <= LARGEST:
            yield spec(part.dtype, *(2 * size for size in shape))


def _instead_of_value(
    part: Choice, slot: Slot | None, clues: ErrorClues, classes: Sequence[Choice]
) -> Iterator[Choice]:
    """Instead of a Python value, an object, or nothing at all."""
    tensors = (
        tensor(),
        tensor(3),
        tensor(1),
        tensor(4),
        spec("float32", *_IMAGE),
        tensor(2, "int32"),
        tensor(1, "int32"),
    )
    if clues.fraction and isinstance(part, Literal):
        yield Literal(0.5)
    if isinstance(part, Literal) and "index out of range" in clues.text:
        yield from (Literal(number) for number in (1, 0) if part != Literal(number))
    if clues.unpack is not None and part in (IDENTITY, LAST, LOGITS):
        yield giving(Many("tuple", (tensor(),) * clues.unpack))
    if clues.unpack is not None and (several := with_outputs(part, clues.unpack)) is not None:
        yield several
    if part == IDENTITY:
        yield from (LOGITS, LAST) if "subscriptable" in clues.text or "indices" in clues.text else (LAST, LOGITS)
    wants_tensor = clues.attribute is not None and clues.attribute[1] in _OF_TENSORS
    if clues.attribute is not None and (model := as_model(part, clues.attribute[1])) is not None:
        yield model
    if not wants_tensor:
        yield from classes
        yield from _as_settings(clues, *_kinds_of(part, clues))
    yield from (Literal(word) for word in clues.modes if part != Literal(word))
    if clues.of_function:
        yield IDENTITY
    of_string = clues.attribute is not None and clues.attribute[1] in _OF_STRINGS
    if clues.of_text or of_string or (part in (None, Literal(None)) and _JOINED.search(clues.text)):
        yield Literal(TEXT)
    if _OF_SHAPES.search(clues.text) and "invalid dimension" not in clues.text:
        yield from (Many("tuple", tuple(map(Literal, sizes))) for sizes in (_IMAGE[1:], (SIZE, SIZE), (SIZE,)))
    if re.search(r"not iterable|has no len", clues.text) and isinstance(part, Literal):
        yield from (Many(kind, (part,) * 2) for kind in ("list", "tuple"))
    if "not subscriptable" in clues.text:
        yield from (Many("tuple", (Literal(SIZE),) * count) for count in (3, 2, 4))
    for word, made in OBJECTS.items():
        if re.search(rf"\b(?:an?|be|valid)\s+(?:\w+\s+){{0,2}}{word}\b", clues.text, re.I):
            yield made
    if part is None and slot is not None:  # what is known of it, if anything is
        yield from slot.choices[1:2]
    if wants_tensor or "None values not supported" in clues.text or "NoneType" in clues.text:
        yield from tensors
    if isinstance(part, Literal) and isinstance(part.value, str):
        yield from (Literal(word) for word in clues.words if word != part.value and word not in SHORT)
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    value = part.value if isinstance(part, Literal) else None
    if slot is None and value == SIZE:  # the first guess of a setting, which may be of any kind
        yield from (Literal(None), Literal(0.5), IDENTITY, Literal(True), Literal("relu"))
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (Literal(number) for number in clues.numbers if number != value)
        few = (_MANY,) if _TOO_FEW.search(clues.text) else ()
        yield from (Literal(number) for number in (*few, 1, 2, 4, 3, 0, 8) if number != value)
        yield from (Many(kind, (part,) * 2) for kind in ("tuple", "list") if isinstance(part, Literal))
    if isinstance(part, ObjectInput):
        yield from (map_specs(part, partial(of_dtype, dtype=dtype)) for dtype in clues.dtypes)
        yield from (map_specs(part, partial(of_rank, rank=rank)) for rank in (*clues.ranks, 3, 1))
    yield from tensors
    yield from (Literal(2), Literal(0.5), Literal(True), Literal("same"), Literal(None), IDENTITY)
    yield from (Many(kind, (Literal(4), Literal(4))) for kind in ("list", "tuple"))
    yield Many("list", (tensor(), tensor()))


def _kinds_of(part: Choice, clues: ErrorClues) -> Iterator[str]:
    """What Python calls the class of a value, or of an object of a library's that stands for one of the project's."""
    if isinstance(part, ObjectInput):
        yield from (_FUNCTION,) if part in (IDENTITY, LAST, LOGITS) else ()
        yield from (clues.attribute[0],) if clues.attribute is not None and is_of_any(part, clues.attribute[0]) else ()
    else:
        yield type(part.value).__name__ if isinstance(part, Literal) else "NoneType"


def _as_settings(clues: ErrorClues, *kinds: str) -> Iterator[Choice]:
    """Settings instead of an input of some kinds that misses an attribute which no sort of tensor has."""
    if clues.attribute is not None and clues.attribute[0] in kinds and not is_of_tensors(clues.attribute[1]):
        unknown = {name: guess_of(name) for name in (*clues.fellows, clues.attribute[1])}
        called = clues.attribute[0] == _FUNCTION
        yield from (settings(one, called=called) for one in known_first(unknown, clues))
        yield from clues.ready


def _instead_of_settings(part: ComposedInput, clues: ErrorClues) -> Iterator[Choice]:
    """More settings, where one is missed, or such as can be called."""
    missed, known = _missed(clues), dict(part.entries)
    called = part.made is CalledSettings
    if clues.of_function and not called:
        yield settings(known, called=True)
    if missed is not None and missed not in known:
        unknown = {name: guess_of(name) for name in (*clues.fellows, missed)}
        yield from (settings({**one, **known}, called=called) for one in known_first(unknown, clues))


def _is_of_dtype(part: Choice, other: Choice) -> bool:
    """Whether a tensor becomes one of another dtype: the items of a list have one together."""
    return isinstance(part, Spec) and isinstance(other, Spec) and part.dims == other.dims


def _is_wrong_key(part: Choice, error: BaseException) -> bool:
    """Whether an input is the key that a dictionary does not have."""
    return isinstance(error, KeyError) and isinstance(part, Literal) and error.args[:1] == (part.value,)


def _switched(failed: FailedCall) -> Iterator[Assignment]:
    """With the switches set otherwise that the failing line depends on."""
    for position in switches_of(failed):
        values = [
            one for one in failed.slots[position].choices if isinstance(one, Literal) and one.value in (True, False)
        ]
        for value in values if all(isinstance(one.value, bool) for one in values) else ():
            yield (*failed.assignment[:position], value, *failed.assignment[position + 1 :])


def _together(failed: FailedCall, clues: ErrorClues) -> Iterator[Assignment]:
    """All tensors changed alike: what is combined often has one dtype, and in the call one rank."""
    free = [position for position, slot in enumerate(failed.slots) if not slot.fixed]
    for position in free if clues.of_one_element else ():
        yield from (with_part(failed.assignment, position, (), one) for one in with_fewer(failed.assignment[position]))
    floats = [name for name in clues.dtypes if name.startswith("float")]
    if any(isinstance(failed.assignment[position], ObjectInput) for position in free):
        # What objects are made of, too: a library may have a dtype of its own for all it makes.
        for dtype in floats:
            yield _alike(failed.assignment, free, partial(as_float, dtype=dtype))
    specs = [
        position
        for position, choice in enumerate(failed.assignment)
        if isinstance(choice, Spec) and not failed.slots[position].fixed
    ]
    if len(specs) < 2:
        return
    if clues.of_one_element:
        yield from (_alike(failed.assignment, specs, partial(less, ranks=ranks)) for ranks in (1, MOST_RANK))
    for rank in dict.fromkeys((*clues.ranks, 3, 4, 1)):
        yield _alike(failed.assignment, specs, partial(of_rank, rank=rank))
    for dtype in dict.fromkeys((*clues.dtypes, "int32", "bool", "float64")):
        yield _alike(failed.assignment, specs, partial(of_dtype, dtype=dtype))
    yield _alike(failed.assignment, specs, lambda one: spec(one.dtype, *_IMAGE))


def _alike(assignment: Assignment, chosen: Container[int], change: Callable[[Spec], Spec]) -> Assignment:
    return tuple(map_specs(one, change) if position in chosen else one for position, one in enumerate(assignment))


def _classes(failed: FailedCall, clues: ErrorClues) -> tuple[Choice, ...]:
    """Objects of classes that the failing module knows: with the attribute that was missed, or of the class that the
    error names."""
    frames = [frame for frame, _ in reversed(user_frames_of(failed.error.__traceback__, failed.own))]
    named = set(re.findall(r"\b[A-Z]\w+", clues.text))
    asked = [
        value
        for frame in frames_of(failed.error.__traceback__)
        for name in named & frame.f_globals.keys()
        if inspect.isclass(value := frame.f_globals[name]) and not issubclass(value, BaseException)
    ]
    found: dict[Choice, None] = {}
    for cls in _configurations(failed, clues):
        found.update(dict.fromkeys(one for one in of_class(cls) if one is not None))
    for frame in frames if not found else ():
        known: list[Any] = [value for value in frame.f_globals.values() if inspect.isclass(value)]
        for cls in known:
            fits = clues.attribute is not None or any(issubclass(cls, base) for base in asked)
            if fits and cls.__module__ in sys.modules and not issubclass(cls, backend.MODULES):
                for choice in of_class(cls):
                    missed = clues.attribute
                    if isinstance(choice, ObjectInput) and (missed is None or _has(choice, missed[1])):
                        found.setdefault(choice)
        if found:
            break
    if clues.attribute is not None and not found and not is_of_tensors(clues.attribute[1]):
        return tuple(one for one in OF_LIBRARIES if _has(one, clues.attribute[1]))
    return tuple(found)


def _configurations(failed: FailedCall, clues: ErrorClues) -> Iterator[type]:
    """Classes of the project whose objects have what was missed, by no tensor or structure."""
    if clues.attribute is not None and not is_of_tensors(clues.attribute[1]):
        found = classes_with(failed.roots, clues.attribute[1], read_in_file(failed, clues.attribute[1]))
        yield from (cls for cls in found if not issubclass(cls, backend.MODULES))


@lru_cache(maxsize=1024)
def _has(choice: ObjectInput, attribute: str) -> bool:
    try:
        return hasattr(choice.make(), attribute)
    except Exception:
        return False  # it cannot be made like this
