"""What the message of an error tells of the inputs that are at fault: dtypes, ranks, sizes, names, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from xlalint.sources.specs import Form, Literal, Spec

from ..code.messages import message_of
from .numbers import SIZE
from .tensors import ObjectInput

_DTYPE_NAMES: Final = re.compile(
    r"\b(float16|float32|float64|double|half|int8|uint8|int32|int64|bool|string|complex64)\b"
)
_SYNONYMS: Final = {"double": "float64", "half": "float16", "float": "float32"}
_RANK: Final = re.compile(
    r"(\d)-?\s?D\b|rank[^\d\n]{0,24}(\d)\b|(\d)[- ]dimension|ndims?\D{0,12}(\d)|dimensions?\D{0,8}(\d)\b"
    # Of the shape that a tensor has, or that a permutation is for.
    r"|_size must contain (\d) elements|dim index (\d)|but got length (\d)|is a vector of size (\d)"
)
MOST_RANK: Final = 8  # of a tensor
_RANK_WORDS: Final = {"scalar": 0, "vector": 1, "matrix": 2, "0D": 0}
_WHERE: Final = re.compile(r"is not in the list of allowed values|\{\{[^}]*\}\}|\[Op:\w+\]|name: \S*|node \S+")
_COUNT: Final = re.compile(
    r"\b(\d|two|three|four|five)(?:\s+(?:or|to)\s+(\d))?\s+(?:\w+\s+)?(?:inputs?|tensors?|elements?|items?|arguments?)\b",
    re.I,
)
_COUNT_WORDS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}
# A Python number is asked for, and a tensor was there.
_PLAIN: Final = re.compile(
    r"Expected (?:int|float|bool)\w* (?:for argument|passed).*not <tf\.|cannot be interpreted as an"
)
_FRACTION: Final = re.compile(r"between 0 and 1|in (?:the )?(?:range|interval) [\[(]0,? ?1(?:\.0)?[\])]")
_UNPACK: Final = re.compile(r"values to unpack \(expected (?:at least )?(\d+)")
_NUMBER: Final = re.compile(r"(?<![\w.#])\d{1,4}(?![\w.])")
_SHAPE: Final = re.compile(r"[\[(](\d+(?:, ?\d+)*),?[\])]|\[\]")
_WHOLE: Final = re.compile(r"integral|close to an int|whole number")
_INCREASING: Final = re.compile(
    r"(?:not|be) (?:increasing|sorted|ascending)|in (?:ascending|sorted) order|segment ids must be"
)
_ENTRY: Final = re.compile(r"['\"](\w+)['\"]\s*:")
_QUOTED: Final = re.compile(r"['\"`]([A-Za-z_][\w./-]{0,40})['\"`]")
_ALLOWED: Final = re.compile(r"allowed values: ([\w, ]+)")
# An operation does not take the dtype of some of its arguments.
_REFUSED: Final = re.compile(r"Value for attr '(\w+)' of .*?signature=([^->]*)", re.S)
_BEYOND: Final = re.compile(
    r"out of (?:range|bound)|is not in \[|must be less|invalid ind|does not index into|values outside", re.I
)
_ATTRIBUTE: Final = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'")
_TEXT: Final = re.compile(r"\b(?:must be|should be|expected) (?:of type )?(?:an? )?`?str(?:ing)?\b(?! tensor)", re.I)
_NDIMS: Final = re.compile(r"expected (?:min_)?ndim=(\d), found ndim=(\d)")  # as Keras's layers say it
_EXPECTED: Final = re.compile(r"expected shape=\(([^)]*)\), found shape=")
_SQUEEZED: Final = re.compile(r"squeeze dim\[(\d+)\], expected a dimension of 1, got (\d+)")
_ONE_ELEMENT: Final = re.compile(r"truth value of an array|size-1 arrays|scalar arrays can be converted")
_ASKED: Final = re.compile(r"\b(?:must|expected|expects|should|requires?)\b", re.I)
_UNLIKE: Final = re.compile(r"incompatible|broadcast|must match|must be equal|mismatch", re.I)
_ENTRY_OF: Final = re.compile(r"(?<=[a-z])\[\d+\](?=[.: ])")  # of several tensors
_PRODUCT: Final = re.compile(r"Matrix size-incompatible: In\[0\]: \[\d[\d,]*?(\d+)\], In\[1\]: \[(\d+),")
_EQUAL: Final = re.compile(r"must be equal, but are (\d+) and (\d+)")
_SHORT: Final = re.compile(r"slice index (\d+) of dimension (\d) out of bounds")
_OF_RANK: Final = re.compile(r"must be (\d)-?D\W{0,3}\[(\d+(?:,\d+)*)?\]")
_SUBSCRIPT: Final = re.compile(r"not subscriptable|indices must be integers|Only integers, slices")
_CALLABLE: Final = re.compile(r"not callable|must be (?:a )?callable")
_OF_FUNCTIONS: Final = ("__name__", "__qualname__", "__code__", "__wrapped__")


@dataclass(frozen=True)
class ErrorClues:
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
    plain: bool  # a Python number is asked for
    fraction: bool  # a number between 0 and 1
    whole: bool  # whole numbers, of whatever dtype
    increasing: bool  # numbers in their order
    shapes: tuple[tuple[int, ...], ...]  # that it names
    beyond: bool  # an index is outside of what there is
    arguments: tuple[str, ...]  # of an operation that it is about
    fellows: tuple[str, ...] = ()  # attributes that are read together with the missing one
    modes: tuple[str, ...] = ()  # the words of which one is asked for
    said: Mapping[str, Form] = field(default_factory=dict)  # what the project says of missing settings
    ready: tuple[ObjectInput, ...] = ()  # what the project has that has the missing setting
    held: tuple[tuple[str, ...], ...] = ()  # keys of the dictionaries that the failing code has
    beside: frozenset[str] | None = None  # the keys that the dictionary has in which one is missed
    read: tuple[str, ...] = ()  # keys that the failing statement reads of something that has none
    of_object: bool = False  # it is about what an object is made of

    @property
    def of_text(self) -> bool:
        """Whether a string of Python's is asked for."""
        return _TEXT.search(self.text) is not None

    @property
    def of_function(self) -> bool:
        """Whether something to call is asked for."""
        name = "" if self.attribute is None else self.attribute[1]
        return _CALLABLE.search(self.text) is not None or name in _OF_FUNCTIONS

    @property
    def of_one_element(self) -> bool:
        """Whether a tensor has more elements than one."""
        return _ONE_ELEMENT.search(self.text) is not None

    @property
    def asks(self) -> bool:
        """Whether it says what there should be."""
        return _ASKED.search(self.text) is not None

    @property
    def of_length(self) -> bool:
        """Whether a list or a tuple has too few items."""
        return "list index out of range" in self.text or "tuple index out of range" in self.text

    @property
    def of_keys(self) -> bool:
        """Whether something is read by a key, or an index, that is none to be read so."""
        return _SUBSCRIPT.search(self.text) is not None

    def sizes_for(self, shape: Sequence[int]) -> tuple[int, ...] | None:
        """What a layer or operation wants in the place of a shape that it does not take, if it says so."""
        if (found := _SQUEEZED.search(self.text)) is not None:
            axis, size = int(found[1]), int(found[2])
            return (*shape[:axis], 1, *shape[axis + 1 :]) if shape[axis : axis + 1] == (size,) else None
        if (found := _OF_RANK.search(self.text)) is not None and _sizes(found[2] or "") == tuple(shape):
            return (SIZE,) * int(found[1])
        if (found := _SHORT.search(self.text)) is not None:
            index, axis = int(found[1]), int(found[2])
            return (
                (*shape[:axis], index + 1, *shape[axis + 1 :]) if axis < len(shape) and shape[axis] <= index else None
            )
        if (found := _NDIMS.search(self.text)) is not None and len(shape) == int(found[2]):
            return (SIZE,) * int(found[1])
        if (found := _EXPECTED.search(self.text)) is not None:
            wanted = [one.strip() for one in found[1].split(",") if one.strip()]
            if len(wanted) == len(shape):
                sizes = zip(wanted, shape, strict=True)
                return tuple(int(one) if one.isdigit() else size for one, size in sizes)
        return None

    @cached_property
    def sizes_apart(self) -> tuple[tuple[int, int], ...]:
        """The sizes of two tensors that an operation wants to be equal."""
        if (found := _PRODUCT.search(self.text) or _EQUAL.search(self.text)) is not None:
            return ((int(found[1]), int(found[2])),)
        shapes = tuple(map(_sizes, _SHAPE.findall(_ENTRY_OF.sub("", self.text))))
        if len(shapes) != 2 or _UNLIKE.search(self.text) is None:
            return ()
        first, second = shapes
        pairs = zip(reversed(first), reversed(second), strict=False)  # as they are broadcast
        return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1] and min(pair) > 1))

    @property
    def ranks_apart(self) -> int:
        """How many dimensions more a layer wants of what it gets, which may be computed from an input of another
        rank: an embedding of words has one more than these."""
        found = _NDIMS.search(self.text)
        return 0 if found is None else int(found[1]) - int(found[2])

    def is_certain_of(self, part: object) -> bool:
        """Whether it is about an input for certain: one of the rank that a layer does not take, a position in a list
        that is too short."""
        match part:
            case Spec():
                return self.sizes_for(part.shape()) not in (None, part.shape())
            case Literal(value=int() as value):
                return "list index out of range" in self.text and not isinstance(value, bool)
        return False

    @classmethod
    def of(cls, error: BaseException) -> ErrorClues:
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
            tuple(dict.fromkeys(_SYNONYMS.get(name, name) for name in _dtypes(text, message_of(error)))),
            tuple(dict.fromkeys(rank for rank in ranks if rank <= MOST_RANK)),
            tuple(dict.fromkeys(int(number) for number in _NUMBER.findall(text) if 0 < int(number) <= 4096)),
            tuple(dict.fromkeys(_QUOTED.findall(text))),
            tuple(count for found in _COUNT.findall(text) for word in found if word and (count := _number(word)) > 1),
            tuple(dict.fromkeys(_ENTRY.findall(text))) if re.search(r"\bdict", text) else (),
            _PLAIN.search(text) is not None,
            _FRACTION.search(text) is not None,
            _WHOLE.search(text) is not None,
            _INCREASING.search(text) is not None,
            tuple(dict.fromkeys(_sizes(found) for found in _SHAPE.findall(text))),
            _BEYOND.search(text) is not None,
            tuple(_refused(text)),
        )


def _dtypes(text: str, message: str) -> Iterator[str]:
    """The dtypes that a text names, first the usual ones of those that an operation takes, as the message says."""
    allowed = [name.strip() for found in _ALLOWED.findall(message) for name in found.split(",")]
    yield from (name for name in ("float", "int32", "int64", "double") if name in allowed)
    yield from _DTYPE_NAMES.findall(text)


def _refused(text: str) -> Iterator[str]:
    for attribute, signature in _REFUSED.findall(text):
        said = (one.strip().partition(":") for one in signature.split(","))
        yield from (name for name, _, dtype in said if dtype.strip() == attribute)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(",") if size)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNT_WORDS[word.lower()]
