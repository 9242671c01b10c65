"""Folders of caches, known by the tag of bford.info/cachedir: nobody else's files are taken for a cache."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from .text import UnreadableSource, read_own

_NAME: Final = "CACHEDIR.TAG"
_SIGNATURE: Final = b"Signature: 8a477f597d28d172789f06886806bc55\n"
_FILES: Final = {
    ".gitignore": b"# Written by xlalint; may be deleted at any time.\n*\n",
    _NAME: _SIGNATURE + b"# The cache of xlalint; may be deleted at any time.\n",
}


def holds_something_else(folder: Path) -> bool:
    """Whether files lie in a folder that is no cache. What cannot be looked into is none either, and stays as it is."""
    for name, content in _FILES.items():  # earlier versions wrote the first alone
        with contextlib.suppress(UnreadableSource):
            if read_own(folder / name, 4096).startswith(_SIGNATURE if name == _NAME else content):
                return False
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def is_cache(folder: Path) -> bool:
    """Whether a folder, and no link to one, bears the mark of a cache of ours."""
    try:
        return not folder.is_symlink() and read_own(folder / _NAME, 4096) == _FILES[_NAME]
    except UnreadableSource:
        return False


def make_cache(folder: Path) -> None:
    """Make a folder for a cache, where it is not one already. Raises OSError, also where it holds something else."""
    if (folder / _NAME).is_file():
        return
    if holds_something_else(folder):
        raise FileExistsError(f"{folder} holds something else")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _FILES.items():
        (folder / name).write_bytes(content)
