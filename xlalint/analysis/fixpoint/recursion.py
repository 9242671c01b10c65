"""How deep abstract execution may nest, and the memory for that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Final, TypeVar

T = TypeVar("T")

# Abstract execution nests deeper than Python's default allows; every level costs no C stack.
_RECURSION_LIMIT: Final = 20_000
# Values that the frames of so many calls hold, less than half of what they take at most.
_ROOM: Final = 1 << 20


def run_deep(work: Callable[[], T]) -> T:
    """What a piece of work returns that nests as deep as the program does which it executes."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        result: T = _run_in_room(work)
        return result
    finally:
        sys.setrecursionlimit(limit)


def _run(work: Callable[[], T]) -> T:
    return work()


# Python has the system map memory for frames in pieces of 16 KB, and unmaps a piece when the first frame in it ends:
# calls from just below the end of one do both each time, and took a seventh of all time. A frame that asks for more
# gets a piece of the next power of two, and the frames of what it calls stand in the rest of that, which takes no
# memory before they do.
_run_in_room: Final = FunctionType(_run.__code__.replace(co_stacksize=_ROOM), globals())
