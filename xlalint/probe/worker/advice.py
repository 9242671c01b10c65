"""What an error of the eager call suggests: which inputs are at fault, and what to hand over instead."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, TypeAlias

import tensorflow as tf  # type: ignore[import-untyped]

from xlalint.probe.specs import SHORT, Form, Keyed, Literal, Many, Spec, spec

from .slots import IDENTITY, OBJECTS, SIZE, Choice, Slot, of_class, tensor
from .values import Made, altered

Assignment: TypeAlias = tuple[Choice, ...]
Way: TypeAlias = tuple[int | str, ...]  # to a part of an input: positions and keys

_IMAGE: Final = (2, 8, 8, 3)
_LARGEST: Final = 1 << 18  # elements of a tensor
# What Keras writes around the message of an error in a layer.
_KERAS: Final = re.compile(
    r"\AException encountered when calling [^\n]*\n\n(.*?)\n\n(?:Call arguments|Arguments) received", re.S
)
_DTYPES: Final = ("int32", "bool", "int64", "float64", "complex64", "string")
_DTYPE_NAMES: Final = re.compile(
    r"\b(float16|float32|float64|double|half|int8|uint8|int32|int64|bool|string|complex64)\b"
)
_SYNONYMS: Final = {"double": "float64", "half": "float16", "float": "float32"}
_RANK: Final = re.compile(
    r"(\d)-?\s?D\b|rank[^\d\n]{0,24}(\d)\b|(\d)[- ]dimension|ndims?\D{0,12}(\d)|dimensions?\D{0,8}(\d)\b"
)
_RANK_WORDS: Final = {"scalar": 0, "vector": 1, "matrix": 2, "0D": 0}
_WHERE: Final = re.compile(r"is not in the list of allowed values|\{\{[^}]*\}\}|\[Op:\w+\]|name: \S*|node \S+")
_COUNT: Final = re.compile(
    r"\b(\d|two|three|four|five)(?:\s+(?:or|to)\s+(\d))?\s+(?:\w+\s+)?(?:inputs?|tensors?|elements?|items?|arguments?)\b",
    re.I,
)
_COUNT_WORDS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}
_UNPACK: Final = re.compile(r"values to unpack \(expected (?:at least )?(\d+)")
_NUMBER: Final = re.compile(r"(?<![\w.#])\d{1,4}(?![\w.])")
_ENTRY: Final = re.compile(r"['\"](\w+)['\"]\s*:")
_QUOTED: Final = re.compile(r"['\"`]([A-Za-z_][\w./-]{0,40})['\"`]")
_ATTRIBUTE: Final = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'")
_INTEGER: Final = re.compile(r"integer|indices|index|slice|\bint\b|isn't allowed|iterable|cannot be interpreted")
_SHAPES: Final = re.compile(
    r"shape|rank|dim|axis|size|broadcast|incompatible|index|unpack|out of (?:range|bounds)", re.I
)
_TENSORS: Final = ("EagerTensor", "SymbolicTensor", "ResourceVariable", "ndarray")


@dataclass(frozen=True)
class Said:
    """What an error says, taken apart."""

    kind: str
    text: str
    key: str | None
    unpack: int | None
    attribute: tuple[str, str] | None  # of which type, and its name
    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    numbers: tuple[int, ...]
    words: tuple[str, ...]
    counts: tuple[int, ...]  # of things that are asked for
    keys: tuple[str, ...]  # of the dictionary that is asked for

    @classmethod
    def of(cls, error: BaseException) -> Said:
        """Read an error."""
        text = _WHERE.sub("", message_of(error)[:2000])
        unpack, attribute = _UNPACK.search(text), _ATTRIBUTE.search(text)
        key = text.strip() if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) else None
        ranks = [int(next(filter(None, found))) for found in _RANK.findall(text)]
        ranks += [rank for word, rank in _RANK_WORDS.items() if word in text]
        return cls(
            type(error).__name__,
            text,
            key,
            int(unpack[1]) if unpack else None,
            (attribute[1].rpartition(".")[2], attribute[2]) if attribute else None,
            tuple(dict.fromkeys(_SYNONYMS.get(name, name) for name in _DTYPE_NAMES.findall(text))),
            tuple(dict.fromkeys(rank for rank in ranks if rank < 6)),
            tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(text) if 0 < int(number) <= 4096)),
            tuple(dict.fromkeys(_QUOTED.findall(text))),
            tuple(count for found in _COUNT.findall(text) for word in found if word and (count := _number(word)) > 1),
            tuple(dict.fromkeys(_ENTRY.findall(text))) if re.search(r"\bdict", text) else (),
        )


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNT_WORDS[word.lower()]


def message_of(error: BaseException) -> str:
    """What an error says, without what Keras writes around it."""
    missing = isinstance(error, KeyError) and error.args  # whose text is written as Python would
    text = str(error.args[0] if missing else error)
    found = _KERAS.search(text)
    return found[1] if found else text


@dataclass
class Trial:
    """A call that failed. `objects`: what was handed over, by slot; `own`: whether a file is the user's."""

    slots: Sequence[Slot]
    assignment: Assignment
    objects: Mapping[int, Any]
    error: BaseException
    own: Callable[[str], bool]
    entry: Any  # the code object that was called


def changes(trial: Trial) -> Iterator[Assignment]:
    """The assignments to try next, the most promising first."""
    said = Said.of(trial.error)
    faults = _culprits(trial, said)
    classes = _classes(trial, said)
    ranked: list[tuple[int, int, Assignment]] = []
    for position, (slot, way) in enumerate(faults):
        part = _part(trial.assignment[slot], way)
        for rank, other in enumerate(_others(part, trial.slots[slot] if not way else None, said, classes)):
            made = _with(trial.assignment, slot, way, other)
            ranked.append((rank + 2 * position, position, made))
    together = list(_together(trial, said))
    ranked += [(3 + 2 * rank, len(faults), made) for rank, made in enumerate(together)]
    ranked.sort(key=lambda one: one[:2])
    for _, _, made in ranked:
        if made != trial.assignment:
            yield made


# -- which inputs -----------------------------------------------------------------------------------------------------


def _culprits(trial: Trial, said: Said) -> list[tuple[int, Way]]:
    """The parts of the inputs that the failing line is about, those first that it names itself."""
    by_identity: dict[int, tuple[int, Way]] = {}
    for slot, value in trial.objects.items():
        for way, part in _parts(trial.assignment[slot], value):
            if part is not None and not isinstance(part, bool):
                by_identity.setdefault(id(part), (slot, way))
    by_name = {slot.name: position for position, slot in enumerate(trial.slots)}
    found: dict[tuple[int, Way], None] = {}
    words = {_bare(word) for word in re.findall(r"\w{3,}", said.text)}
    for frame in _frames(trial.error.__traceback__):
        # Where TensorFlow names an argument of its own, that is the one.
        for name, value in frame.f_locals.items():
            if len(name) > 2 and id(value) in by_identity and _bare(name) in words:
                found.setdefault(by_identity[id(value)])
    for frame, line in reversed(_own_frames(trial.error.__traceback__, trial.own)):
        direct, slice_ = _names(frame.f_code.co_filename, frame.f_code.co_firstlineno, line)
        values = frame.f_locals
        for name in (*direct, *slice_):
            if name in values and id(values[name]) in by_identity:
                found.setdefault(by_identity[id(values[name])])
            elif frame.f_code is trial.entry and name in by_name:
                found.setdefault((by_name[name], ()))
    for word in (*said.words, *re.findall(r"\w+", said.text)):
        if word in by_name:
            found.setdefault((by_name[word], ()))
    ways: dict[tuple[int, Way], None] = {}
    # A part of a structure is at fault as well where the structure is.
    for slot, way in found:
        ways.setdefault((slot, way))
        for inner, _ in _parts(_part(trial.assignment[slot], way), None):
            ways.setdefault((slot, (*way, *inner)))
    for position in sorted(range(len(trial.slots)), key=lambda position: trial.slots[position].group):
        for inner, _ in _parts(trial.assignment[position], None):
            ways.setdefault((position, inner))
    return [(position, way) for position, way in ways if not trial.slots[position].fixed]


def _bare(name: str) -> str:
    """A name as an op's attribute has it: `Tnumsegments` is the dtype of `num_segments`."""
    return name.removeprefix("T").replace("_", "").lower()


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _own_frames(trace: TracebackType | None, own: Callable[[str], bool]) -> list[tuple[FrameType, int]]:
    """The frames of the user's code, outermost first, each with the failing line."""
    found = []
    while trace is not None:
        if own(trace.tb_frame.f_code.co_filename):
            found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _parts(form: Choice, value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """An input and all of its parts, with the objects that they became."""
    yield way, value
    if isinstance(form, Many):
        for position, item in enumerate(form.items):
            yield from _parts(item, value[position] if value is not None else None, (*way, position))
    elif isinstance(form, Keyed):
        for key, item in form.entries:
            yield from _parts(item, value[key] if value is not None else None, (*way, key))


def _part(form: Choice, way: Way) -> Choice:
    for step in way:
        if isinstance(form, Many):
            form = form.items[int(step)]
        elif isinstance(form, Keyed):
            form = dict(form.entries)[str(step)]
    return form


def _with(assignment: Assignment, slot: int, way: Way, part: Choice) -> Assignment:
    return (*assignment[:slot], _replaced(assignment[slot], way, part), *assignment[slot + 1 :])


def _replaced(form: Choice, way: Way, part: Choice) -> Choice:
    if not way:
        return part
    if part is None or isinstance(part, Made):
        return form  # a structure holds what the grammar can write
    if isinstance(form, Many):
        items = list(form.items)
        inner = _replaced(items[int(way[0])], way[1:], part)
        assert isinstance(inner, Spec | Literal | Many | Keyed)
        items[int(way[0])] = inner
        return Many(form.kind, tuple(items))
    assert isinstance(form, Keyed)
    entries = dict(form.entries)
    inner = _replaced(entries[str(way[0])], way[1:], part)
    assert isinstance(inner, Spec | Literal | Many | Keyed)
    return Keyed(tuple({**entries, str(way[0]): inner}.items()))


@lru_cache(maxsize=4096)
def _names(path: str, first_line: int, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names in the statement at a line, and those that these come from within the function around it."""
    tree = _tree(path)
    function = next((node for node in _functions(tree) if _first_line(node) == first_line), None)
    if function is None:
        return (), ()
    statement = min(
        (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node.lineno <= line <= _last(node)),
        key=lambda node: _last(node) - node.lineno,
        default=None,
    )
    if statement is None:
        return (), ()
    direct = dict.fromkeys(_loaded(statement))
    sources: dict[str, dict[str, None]] = {}
    for node in ast.walk(function):
        for name, value in _bound(node):
            sources.setdefault(name, {}).update(dict.fromkeys(_loaded(value)))
    reached = dict(direct)
    pending = list(direct)
    while pending:
        for name in sources.get(pending.pop(0), ()):
            if name not in reached:
                reached[name] = None
                pending.append(name)
    return tuple(direct), tuple(name for name in reached if name not in direct)


@lru_cache(maxsize=64)
def _tree(path: str) -> ast.AST:
    try:
        return ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=64)
def _functions(tree: ast.AST) -> tuple[ast.FunctionDef, ...]:
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _last(node: ast.stmt) -> int:
    # Of a compound statement only the head is meant.
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno


def _loaded(node: ast.AST) -> Iterator[str]:
    """The names that are read, and the attributes of `self`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id
        elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
            yield inner.attr.lstrip("_")


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement binds, each with what it is made of."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        value: ast.AST = node.value
    elif isinstance(node, ast.For | ast.comprehension):
        targets, value = [node.target], node.iter
    else:
        return
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name):
                yield inner.id, value


# -- what instead -----------------------------------------------------------------------------------------------------


def _others(part: Choice, slot: Slot | None, said: Said, classes: Sequence[Choice]) -> Iterator[Choice]:
    """What may stand in the place of an input, or of a part of one, the likeliest first."""
    if isinstance(part, Spec):
        yield from _instead_of_tensor(part, slot, said, classes)
    elif isinstance(part, Many):
        yield from _instead_of_many(part, slot, said)
    elif isinstance(part, Keyed):
        yield from _instead_of_keyed(part, slot, said)
    else:
        yield from _instead_of_value(part, slot, said, classes)


def _instead_of_tensor(part: Spec, slot: Slot | None, said: Said, classes: Sequence[Choice]) -> Iterator[Choice]:
    shape, rank = part.shape(), len(part.dims)
    if said.attribute is not None and said.attribute[0] in _TENSORS:
        if said.attribute[1] in ("items", "keys", "values", "get", "pop", "copy", "update"):
            yield Keyed(())
        elif said.attribute[1] in ("assign", "assign_add", "trainable", "read_value", "handle", "name"):
            yield replace(part, style="variable")
        elif said.attribute[1] in ("indices", "dense_shape", "values"):
            yield replace(part, style="sparse")
        elif said.attribute[1] in ("row_splits", "flat_values", "bounding_shape", "to_tensor", "nested_row_splits"):
            yield replace(part, style="ragged")
        elif said.attribute[1] in ("split", "lower", "startswith", "endswith", "format"):
            yield from (Literal(word) for word in ("same", "relu", "sum"))
    yield from classes
    for count in range(len(said.keys), 0, -1):  # all that it names may be too much
        yield Keyed(tuple((key, part) for key in said.keys[:count]))
    if "not callable" in said.text:
        yield IDENTITY
    if "SparseTensor" in said.text and part.style != "sparse":
        yield replace(part, style="sparse")
    if "RaggedTensor" in said.text and part.style != "ragged":
        yield replace(part, style="ragged")
    if (
        re.search(r"out of (?:range|bound)|is not in \[|must be less|invalid ind", said.text, re.I)
        and part.style != "flags"
        and "int" in part.dtype
    ):
        yield replace(part, style="flags")
    if part.style:
        yield replace(part, style="")
    if said.unpack is not None:
        yield tensor(said.unpack, part.dtype)
        yield Many("list", (part,) * said.unpack)
    if "Only integers, slices" in said.text or "NoneType" in said.text:
        yield from (Keyed(((word, part),)) for word in said.words if word not in ("None", "NoneType", "int"))
    yield from (Many("list", (part,) * count) for count in said.counts)
    if re.search(r"\b(?:list|tuple|sequence)\b|subscriptable", said.text):
        yield Many("list", (part, part))
        yield Many("list", (part, part, part))
    yield from (replace(part, dtype=dtype) for dtype in said.dtypes if dtype != part.dtype)
    if said.kind in ("TypeError", "ValueError") and _INTEGER.search(said.text):
        yield from (Literal(2), Literal(4), Literal(1))
        yield from (Many("tuple", (Literal(2),) * count) for count in (2, 3))
    if "ositive definite" in said.text or "Cholesky" in said.text or "not invertible" in said.text:
        yield spec(part.dtype, SIZE, SIZE, style="definite")
    yield from (tensor(other, part.dtype) for other in said.ranks if other != rank)
    if _SHAPES.search(said.text) or said.kind in ("InvalidArgumentError", "IndexError", "AssertionError"):
        yield from _reshaped(part, said)
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


def _reshaped(part: Spec, said: Said) -> Iterator[Choice]:
    """Other ranks and sizes, first with the sizes that the error names."""
    shape, rank = part.shape(), len(part.dims)
    other_ranks = [tensor(other, part.dtype) for other in (rank + 1, rank - 1) if 0 <= other <= 5]
    if re.search(r"\bn?dims?\b|rank|out of bounds|ndim", said.text):
        yield from other_ranks
    for number in said.numbers:
        for axis in range(rank - 1, -1, -1):
            if shape[axis] != number and number * prod(shape) <= _LARGEST * shape[axis]:
                yield spec(part.dtype, *shape[:axis], number, *shape[axis + 1 :], style=part.style)
    yield from other_ranks
    yield spec(part.dtype, *_IMAGE)
    if rank:
        yield spec(part.dtype, *shape[:-1], 1)
        yield spec(part.dtype, *(2 * size for size in shape))


def _instead_of_many(part: Many, slot: Slot | None, said: Said) -> Iterator[Choice]:
    first: Form = part.items[0] if part.items else tensor()
    for count in said.counts:
        if count != len(part.items):
            yield Many(part.kind, (*part.items, *(first,) * count)[:count])
    if said.unpack is not None and said.unpack != len(part.items):
        yield Many(part.kind, (*part.items, *(first,) * said.unpack)[: said.unpack])
    if said.kind in ("IndexError", "ValueError", "AssertionError", "TypeError") and len(part.items) < 6:
        yield Many(part.kind, (*part.items, first))
    if part.items:
        yield Many("tuple" if part.kind == "list" else "list", part.items)
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    yield from (first, tensor(), Literal(2))
    if len(part.items) < 6:
        yield Many(part.kind, (*part.items, first))
    if part.items:
        yield Many(part.kind, part.items[:-1])


def _instead_of_keyed(part: Keyed, slot: Slot | None, said: Said) -> Iterator[Choice]:
    known = dict(part.entries)
    keys = [said.key] if said.key is not None else [word for word in said.words if word not in known][:3]
    for key in keys:
        if key not in known:
            yield Keyed((*part.entries, (key, tensor())))
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    yield tensor()


def _instead_of_value(part: Choice, slot: Slot | None, said: Said, classes: Sequence[Choice]) -> Iterator[Choice]:
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
    wants_tensor = said.attribute is not None and said.attribute[1] in ("shape", "dtype", "get_shape", "rank", "ndim")
    if not wants_tensor:
        yield from classes
    if "not callable" in said.text:
        yield IDENTITY
    for word, made in OBJECTS.items():
        if re.search(rf"\b(?:an?|be|valid)\s+(?:\w+\s+){{0,2}}{word}\b", said.text, re.I):
            yield made
    if wants_tensor or "None values not supported" in said.text or "NoneType" in said.text:
        yield from tensors
    if isinstance(part, Literal) and isinstance(part.value, str):
        yield from (Literal(word) for word in said.words if word != part.value and word not in SHORT)
    if slot is not None:
        yield from (choice for choice in slot.choices if choice != part)
    value = part.value if isinstance(part, Literal) else None
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (Literal(number) for number in said.numbers if number != value)
        yield from (Literal(number) for number in (1, 2, 4, 3, 0, 8) if number != value)
        yield from (Many(kind, (part,) * 2) for kind in ("tuple", "list") if isinstance(part, Literal))
    if isinstance(part, Made):
        yield from (altered(part, partial(_of_dtype, dtype=dtype)) for dtype in said.dtypes)
        yield from (altered(part, partial(_of_rank, rank=rank)) for rank in (*said.ranks, 3, 1))
    yield from tensors
    yield from (Literal(2), Literal(0.5), Literal(True), Literal("same"), Literal(None), IDENTITY)
    yield from (Many(kind, (Literal(4), Literal(4))) for kind in ("list", "tuple"))
    yield Many("list", (tensor(), tensor()))


def _together(trial: Trial, said: Said) -> Iterator[Assignment]:
    """All tensors changed alike: what is combined often has one dtype, and in the call one rank."""
    free = [position for position, slot in enumerate(trial.slots) if not slot.fixed]
    floats = [name for name in said.dtypes if name.startswith("float")]
    if any(isinstance(trial.assignment[position], Made) for position in free):
        # What objects are made of, too: a library may have a dtype of its own for all it makes.
        for dtype in floats:
            yield _alike(trial.assignment, free, partial(_as_float, dtype=dtype))
    specs = [
        position
        for position, choice in enumerate(trial.assignment)
        if isinstance(choice, Spec) and not trial.slots[position].fixed
    ]
    if len(specs) < 2:
        return
    for rank in dict.fromkeys((*said.ranks, 3, 4, 1)):
        yield _alike(trial.assignment, specs, partial(_of_rank, rank=rank))
    for dtype in dict.fromkeys((*said.dtypes, "int32", "bool", "float64")):
        yield _alike(trial.assignment, specs, partial(_of_dtype, dtype=dtype))
    yield _alike(trial.assignment, specs, lambda one: spec(one.dtype, *_IMAGE))


def _alike(assignment: Assignment, chosen: Container[int], change: Callable[[Spec], Spec]) -> Assignment:
    return tuple(altered(one, change) if position in chosen else one for position, one in enumerate(assignment))


def _of_dtype(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype)


def _of_rank(one: Spec, rank: int) -> Spec:
    return tensor(rank, one.dtype)


def _as_float(one: Spec, dtype: str) -> Spec:
    return replace(one, dtype=dtype) if one.dtype.startswith("float") else one


def _classes(trial: Trial, said: Said) -> tuple[Choice, ...]:
    """Objects of classes that the failing module knows: with the attribute that was missed, or of the class that the
    error names."""
    frames = [frame for frame, _ in reversed(_own_frames(trial.error.__traceback__, trial.own))]
    named = set(re.findall(r"\b[A-Z]\w+", said.text))
    asked = [
        value
        for frame in _frames(trial.error.__traceback__)
        for name in named & frame.f_globals.keys()
        if inspect.isclass(value := frame.f_globals[name]) and not issubclass(value, BaseException)
    ]
    found: dict[Choice, None] = {}
    for frame in frames:
        known: list[Any] = [value for value in frame.f_globals.values() if inspect.isclass(value)]
        for cls in known:
            fits = said.attribute is not None or any(issubclass(cls, base) for base in asked)
            if fits and cls.__module__ in sys.modules and not issubclass(cls, tf.Module):
                for choice in of_class(cls):
                    missed = said.attribute
                    if isinstance(choice, Made) and (missed is None or _has(choice, missed[1])):
                        found.setdefault(choice)
        if found:
            break
    return tuple(found)


@lru_cache(maxsize=1024)
def _has(choice: Made, attribute: str) -> bool:
    try:
        return hasattr(choice.make(), attribute)
    except Exception:
        return False  # it cannot be made like this
