"""How a large project is analysed in parts: each part enters the functions of its share of the modules with an
interpreter of its own, and now and then all parts tell each other what they have learned, since who calls a function is
a matter of the whole project.

A part is a generator: it yields what it has to tell, and is sent what all have told. What the parts are depends on the
project alone, so that findings do not depend on how many processes run them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from .files import File

T = TypeVar("T")
Part: TypeAlias = Generator[Any, list[Any], T]

# Characters of source in a part. What several parts need is analysed by each: about a tenth of all with two of them,
# a third with four.
_TEXT_OF_A_PART: Final = 6_000_000


def shares(files: Sequence[File]) -> list[range]:
    """The positions of the files of each part: neighbours, which call each other most, with about as much text."""
    whole = sum(_weight(file) for file in files)
    count = -(-whole // _TEXT_OF_A_PART) or 1
    ends = [0] * count
    before = 0
    for position, file in enumerate(files):
        # The part that holds the middle of the file.
        middle = before + _weight(file) / 2
        ends[min(int(middle * count / whole), count - 1)] = position + 1
        before += _weight(file)
    return [range(max(ends[:part], default=0), end) for part, end in enumerate(ends) if end]


def _weight(file: File) -> int:
    return len(file.source.text) + 1


def run_together(parts: Sequence[Part[T]], exchange: Any = lambda told: told) -> list[T]:
    """The results of all parts, advanced in turn. `exchange` adds what the parts of other processes tell."""
    results: list[T] = []
    heard: list[Any] | None = None
    while not results:
        told: list[Any] = []
        for part in parts:
            try:
                told.append(next(part) if heard is None else part.send(heard))
            except StopIteration as end:
                results.append(end.value)
        heard = exchange(told) if not results else None
    return results
