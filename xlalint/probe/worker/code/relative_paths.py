"""Modules that a program finds by folders of `sys.path` that are relative to the folder it is started in.

sys.path.append("../")                   the worker runs code in a folder of its own, where these lead nowhere
sys.path.append("src/networks")
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final


class _Finder:
    """Looks into the relative folders from each of those in which a program may be started; after all other finders."""

    def __init__(self) -> None:
        self.near: tuple[Path, ...] = ()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What `sys.meta_path` asks for."""
        if path is not None:  # a package knows its own folders
            return None
        said = [entry for entry in dict.fromkeys(sys.path) if entry and not os.path.isabs(entry)]
        folders = [Path(os.path.normpath(base / entry)) for entry in said for base in self.near]
        there = [str(folder) for folder in dict.fromkeys(folders) if folder.is_dir()]
        return PathFinder.find_spec(name, there) if there else None


_FINDER: Final = _Finder()


def look_from(near: Sequence[Path]) -> None:
    """Take these for the folders in which a program may be started, the likeliest first."""
    _FINDER.near = tuple(near)
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
