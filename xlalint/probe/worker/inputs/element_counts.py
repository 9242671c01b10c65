"""Shapes with as many elements as a `reshape` asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import lcm, prod
from typing import Final

_RESHAPED: Final = re.compile(r"reshape is a tensor with (\d+) values, but the requested shape has ([1-9]\d*)")
_OF_MULTIPLES: Final = re.compile(
    r"reshape is a tensor with \d+ values, but the requested shape requires a multiple of (\d+)"
)
_LARGEST: Final = 1 << 16  # elements


def reshaped(shape: tuple[int, ...], text: str) -> Iterator[tuple[int, ...]]:
    """By the message of an error: with one axis shorter, which the code takes for one element, or longer; at last all
    in one axis."""
    if (multiple := _OF_MULTIPLES.search(text)) is not None:
        for axis in reversed(range(len(shape))):
            size = lcm(int(multiple[1]), others := prod(shape[:axis]) * prod(shape[axis + 1 :])) // others
            if shape[axis] % size and size * others <= _LARGEST:
                yield (*shape[:axis], size, *shape[axis + 1 :])
    if (found := _RESHAPED.search(text)) is None:
        return
    there, asked = int(found[1]), int(found[2])
    if asked > _LARGEST or there == 0:
        return
    for axis in range(len(shape)) if asked < there else reversed(range(len(shape))):
        size, rest = divmod(shape[axis] * asked, there)
        if size and not rest and size != shape[axis]:
            yield (*shape[:axis], size, *shape[axis + 1 :])
    if asked > there == prod(shape):
        yield (asked,)
