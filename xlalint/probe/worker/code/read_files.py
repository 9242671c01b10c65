"""Files of the project that a program reads by a path from the folder that it is started in. The worker runs code in a
folder of its own, where what that writes may stay; what it reads is copied there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

INSIDE: Final = ("of", "a", "program")  # below the worker's folder, which paths that lead up from there do not leave
_LARGEST: Final = 1 << 20  # bytes


def fetched(error: Exception, near: Iterable[Path]) -> bool:
    """Whether a file that was not there is now: by its path from one of the folders `near`."""
    here, name = Path.cwd(), getattr(error, "filename", None)
    if not isinstance(error, FileNotFoundError) or not isinstance(name, str) or here.parts[-len(INSIDE) :] != INSIDE:
        return False
    wanted = Path(os.path.normpath(here / name))
    if wanted.exists() or here.parents[len(INSIDE) - 1] not in wanted.parents:
        return False
    for source in (Path(os.path.normpath(one / os.path.relpath(wanted, here))) for one in near):
        if source.is_file() and source.stat().st_size <= _LARGEST:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, wanted)
            return True
    return False
