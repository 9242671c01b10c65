"""Which version of a file or folder is on the disk, by what the system says of it without reading it."""

from __future__ import annotations

import os
import stat
import time
from typing import Final, TypeAlias

# Times are no finer than this somewhere: what was written a moment ago may be written again unseen. Nanoseconds.
_GRAIN: Final = 2_000_000_000

Version: TypeAlias = tuple[int, int, int, int, int]


def version_of(path: str | os.PathLike[str]) -> Version | None:
    """That of a regular file: its times, its size, and where it is; None of anything else. Raises OSError and
    ValueError."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


def is_settled(*times: int) -> bool:
    """Whether what changed last at these times would have another time if it changed again. Nanoseconds."""
    return max(times) < time.time_ns() - _GRAIN
