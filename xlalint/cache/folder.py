"""A folder of files by key, in which only what was written here counts.

A repository may come with a cache that hides findings or has fixes of its own. So what is kept is sealed with what
nobody else can know: which file of this machine says that the folder was made here, and since when.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from ..sources.cachedir import make_cache
from ..sources.text import UnreadableSource, read_own
from ..sources.write import write_atomically

_OWN: Final = re.compile(r"[0-9a-f]+\.json")  # whatever else lies there is somebody else's
_LARGEST: Final = 1_000_000_000  # bytes of a file
_MARK: Final = "made-here"
_SEAL: Final = 32  # characters


class Folder:
    """Files by key in a folder of a cache, `name`, or else in the cache itself; those that were used last are kept."""

    def __init__(self, cache: Path, kept: int, name: str = "") -> None:
        self._cache, self._folder, self._kept = cache, cache / name, kept

    def load(self, key: str) -> bytes | None:
        """What is kept under a key, as it was stored here."""
        file = self._file(key)
        data = read_sealed(file)
        if data is not None:
            with contextlib.suppress(OSError):  # a folder that cannot be written
                os.utime(file)  # it is used, and stays
        return data

    def store(self, key: str, data: bytes, used: Collection[str] = ()) -> None:
        """Keep something; a folder that cannot be written only costs the next run its time. `used`: other keys, which
        do not go for its sake."""
        with contextlib.suppress(OSError):
            write_sealed(self._cache, self._file(key), data)
            self._make_room(used)

    def _make_room(self, used: Collection[str]) -> None:
        """Have those go that were not used for longest. Raises OSError."""
        names = [name for name in os.listdir(self._folder) if _OWN.fullmatch(name)]
        too_many = len(names) - self._kept
        if too_many > 0:  # only then is it asked when each was used, which takes longer than to write one
            others = [self._file(key) for key in map(_key_of, names) if key not in used]
            for old in sorted(others, key=os.path.getmtime)[:too_many]:
                old.unlink()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _key_of(name: str) -> str:
    return name.removesuffix(".json")


def _make(cache: Path, folder: Path) -> None:
    """Make a cache and a folder of it, and mark one that is there as used here. Raises OSError."""
    make_cache(cache)
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(folder / _MARK, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _seal(file: Path, data: bytes) -> bytes:
    """What says that a file of a cache was written here, and as it is. Raises OSError where its folder has no mark."""
    mark = os.lstat(file.parent / _MARK)
    key = hashlib.blake2b(f"{mark.st_ino} {mark.st_ctime_ns} {file.name}".encode()).digest()
    return hashlib.blake2b(data, key=key, digest_size=_SEAL // 2).hexdigest().encode()


def write_sealed(cache: Path, file: Path, data: bytes) -> None:
    """Write a file of a cache, or of a folder in it, that counts as one of ours. Raises OSError."""
    _make(cache, file.parent)
    write_atomically(file, _seal(file, data) + data)


def read_sealed(file: Path) -> bytes | None:
    """The content of a file that was sealed here; None for any other."""
    try:
        sealed = read_own(file, _LARGEST)
        return sealed[_SEAL:] if sealed[:_SEAL] == _seal(file, sealed[_SEAL:]) else None
    except (UnreadableSource, OSError):
        return None
