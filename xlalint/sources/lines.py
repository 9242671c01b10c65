"""The lines of files as reports show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from .text import UnreadableSource, decode, is_notebook, read_bytes, split_lines


def line_reader(overlay: Mapping[str, bytes]) -> Callable[[str, int | None], list[str]]:
    """A function from a path as reports show it, and a notebook's cell, to the lines; `overlay` stands in for files on
    the disk."""

    @lru_cache(maxsize=32)  # findings come by file
    def lines(path: str, cell: int | None) -> list[str]:
        try:
            return split_lines(texts(path)[cell])
        except UnreadableSource:  # reported as such; there is nothing to show
            return []
        except KeyError:  # the notebook has changed since it was read
            return []

    @lru_cache(maxsize=4)
    def texts(path: str) -> dict[int | None, str]:
        data = overlay[path] if path in overlay else read_bytes(Path(path))
        if not is_notebook(Path(path)):
            return {None: decode(data)}
        from .notebooks import cells_of

        return {cell.number: cell.written for cell in cells_of(data)}

    return lines
