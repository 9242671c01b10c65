"""The tensors of a measured call: `f32[2, 3]` in an expression, with other values in every value set.

Each kind has a dtype and a way to fill it that suits what such arguments are used for. In all sets the shape is the
same, and nothing else: what is recompiled from one set to the next is recompiled because of values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

VALUE_SETS: Final = 3
MOST_ATTEMPTS: Final = 20
DROPPED: Final = 2  # rows that a mask of the kind `kept` leaves out

Array = np.ndarray[Any, Any]
Fill = Callable[[tuple[int, ...], int, np.random.Generator], Array]


def _signed(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    signs: Array = random.choice([-1.0, 1.0], shape)
    return signs * random.uniform(0.25, 2.0, shape)


def _complex(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return _signed(shape, number, random) + 1j * _signed(shape, number, random)


def _positive(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.uniform(0.25, 2.0, shape)


def _unit(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.uniform(0.05, 0.95, shape)


def _distribution(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    weights = random.uniform(0.1, 1.0, shape)
    return np.divide(weights, weights.sum(axis=-1, keepdims=True)) if shape else weights


def _small(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.integers(1, 4, shape) if shape else np.array(1 + number % 3)


def _index(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.integers(0, 3, shape) if shape else np.array(number % 3)


def _ascending(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return np.sort(_index(shape, number, random), axis=-1)


def _outside(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.integers(100, 1000, shape) if number else random.integers(0, 2, shape)


def _permutation(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return random.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)


def _definite(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    factor = random.uniform(-1.0, 1.0, shape)
    return factor @ np.swapaxes(factor, -1, -2) + 2.0 * np.eye(shape[-1])


def _mask(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    count = int(np.prod(shape))
    if count == 1:
        return np.full(shape, number % 2 == 0)
    chosen = np.arange(count) < (count // 2, count - 1, max(1, count // 2 - 1))[number]
    return random.permutation(chosen).reshape(shape)


def _kept(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    chosen = np.arange(int(np.prod(shape))) >= DROPPED
    return random.permutation(chosen).reshape(shape)


def _words(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return np.array(["one", "two", "three four"], object)[_index(shape, number, random)]


def _digits(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return np.array(["1", "20", "3"], object)[_index(shape, number, random)]


def _blank(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    return np.full(shape, "", object)


def _not_a_number(shape: tuple[int, ...], number: int, random: np.random.Generator) -> Array:
    values = _positive(shape, number, random)
    values[(0,) * len(shape)] = values[(0,) * len(shape)] if number == 0 else np.nan
    return values


# What may be written before the brackets: the dtype, and how the values are made.
KINDS: Final[dict[str, tuple[str, Fill]]] = {
    "f16": ("float16", _signed),
    "bf16": ("bfloat16", _signed),
    "f32": ("float32", _signed),
    "f64": ("float64", _signed),
    "c64": ("complex64", _complex),
    "c128": ("complex128", _complex),
    "i8": ("int8", _small),
    "i16": ("int16", _small),
    "i32": ("int32", _small),
    "i64": ("int64", _small),
    "u8": ("uint8", _small),
    "u16": ("uint16", _small),
    "u32": ("uint32", _small),
    "u64": ("uint64", _small),
    "bool": ("bool", _mask),
    "kept": ("bool", _kept),  # all but two are true
    "str": ("string", _words),
    "digits": ("string", _digits),  # strings that are numbers
    "blank": ("string", _blank),  # serialized messages without any field: alike in all sets
    "positive": ("float32", _positive),
    "unit": ("float32", _unit),  # between 0 and 1
    "dist": ("float32", _distribution),  # the last dimension sums to 1
    "spd": ("float32", _definite),  # symmetric positive definite matrices
    "nan": ("float32", _not_a_number),  # one element is not a number in all sets but the first
    "index": ("int32", _index),  # 0, 1 or 2
    "index64": ("int64", _index),
    "sorted": ("int32", _ascending),  # ascending indices
    "outside": ("int32", _outside),  # out of every range in all sets but the first
    "perm": ("int32", _permutation),
}
PICK: Final = "pick"  # `pick[2, 3, 4]`: int32, the value of each set in turn


@dataclass(frozen=True)
class Sample:
    """One tensor argument: its text, dtype and the array of each value set."""

    text: str
    dtype: str
    arrays: tuple[Array, ...]

    @property
    def floating(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def complex(self) -> bool:
        return self.dtype.startswith("complex")


def sample(kind: str, subscript: Any, position: int) -> Sample:
    """The sample that `kind[subscript]` means as argument number `position`."""
    text = f"{kind}[{_plain(subscript)}]"
    if kind == PICK:
        picked = [np.array(subscript[number % len(subscript)], np.int32) for number in range(VALUE_SETS)]
        return Sample(text, "int32", tuple(picked))
    dtype, fill = KINDS[kind]
    shape = subscript if isinstance(subscript, tuple) else (subscript,)
    made: list[Array] = []
    for number in range(VALUE_SETS):
        for attempt in range(MOST_ATTEMPTS):  # few elements of few values are soon the same
            values = fill(shape, number, np.random.default_rng([position, number + VALUE_SETS * attempt]))
            if not any(np.array_equal(values, other) for other in made):
                break
        made.append(values)
    return Sample(text, dtype, tuple(made))


def _plain(subscript: Any) -> str:
    return ", ".join(map(str, subscript)) or "()" if isinstance(subscript, tuple) else str(subscript)
