"""Classes of a project that inherit from one of its classes: those that are imported already, then those of files that
nothing has imported yet, as the file of a base does not name what is derived from it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from xlalint.sources.packages import imported_name, is_test

from ..code.missing import imported_without
from ..inputs.configurations import texts_below
from ..inputs.slots import subclasses

_MOST_FILES: Final = 4


def heirs_of(cls: type, roots: Sequence[str], name: str) -> Iterator[type]:
    """Classes that inherit a method of a name as it is, and that can be made."""
    found = getattr(cls, name, None)
    seen: set[type] = set()
    for heir in _below(cls, roots):
        if heir not in seen and getattr(heir, name, None) is found:
            yield heir
        seen.add(heir)


def may_have_heirs(cls: type, roots: Sequence[str]) -> bool:
    """Whether there are some, as far as the text of the project tells."""
    return bool(subclasses(cls)) or next(_files(cls, roots), None) is not None


def _below(cls: type, roots: Sequence[str]) -> Iterator[type]:
    yield from subclasses(cls)
    for path in islice(_files(cls, roots), _MOST_FILES):
        try:
            imported_without(partial(importlib.import_module, imported_name(path)[0]))
        except Exception:  # of any kind: its file is no module, or raises what it will
            continue
        yield from subclasses(cls)


def _files(cls: type, roots: Sequence[str]) -> Iterator[Path]:
    """The files of the project in which a class names this one as a base."""
    based = re.compile(rf"^class \w+\([^)]*\b{re.escape(cls.__name__)}\b", re.MULTILINE)
    for path, text in texts_below(tuple(roots)):
        if cls.__name__ in text and based.search(text) and not is_test(Path(path)):
            yield Path(path)
