"""The lines of files as reports show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from .text import UnreadableSource, decode, read_bytes, split_lines


def line_reader(overlay: Mapping[str, bytes]) -> Callable[[str], list[str]]:
    """A function from a path as reports show it to the file's lines; `overlay` stands in for files on the disk."""

    @lru_cache(maxsize=32)  # findings come by file
    def lines(path: str) -> list[str]:
        try:
            return split_lines(decode(overlay[path] if path in overlay else read_bytes(Path(path))))
        except UnreadableSource:  # reported as such; there is nothing to show
            return []

    return lines
