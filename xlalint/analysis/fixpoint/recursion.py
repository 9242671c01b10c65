"""How deep abstract execution may nest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Abstract execution nests deeper than Python's default allows; every level costs no C stack.
_RECURSION_LIMIT: Final = 20_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """What an analysis needs around it: abstract execution nests as deep as the program does."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
