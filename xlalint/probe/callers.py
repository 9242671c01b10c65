"""Who calls a definition, as far as names tell: other functions of its file, and the project's tests. They show what it
is called with where the paths of the findings do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..sources.text import UnreadableSource, read_bytes
from .definitions import Definition, FileDefinitions
from .target import Frame

_LOCALS: Final = ".<locals>."
_TEST: Final = re.compile(r"^test_|_test\.py$|^tests?\.py$")
_FOLDERS: Final = ("tests", "test")
_CALLED: Final = ("call", "__call__")  # the methods that run where an object is called
_MOST_TESTS: Final = 400  # files that are looked at


@dataclass
class Callers:
    """The callers of definitions. `read`: the definitions of a file, None where it cannot be read."""

    read: Callable[[Path], FileDefinitions | None]
    _tests: dict[Path, dict[Path, str]] = field(default_factory=dict)

    def of(self, path: Path, definition: Definition, root: Path) -> Iterator[Frame]:
        """Who calls a definition of a file: its own class and file first, then tests below `root` and beside it."""
        name = definition.qualname.rpartition(".")[2]
        owner = definition.owner
        own = self.read(path)
        if own is not None:
            objects = own.instances.get(owner.qualname, ()) if owner is not None and name in _CALLED else ()
            calling = dict.fromkeys(one for called in (name, *objects) for one in own.calling(called))
            found = [one for one in calling if _is_caller(one, definition)]
            found.sort(key=lambda one: (one.owner != owner, one.qualname))
            yield from (Frame(str(path), one.qualname) for one in found)
        known = re.compile(rf"\b{re.escape(owner.qualname if owner is not None else name)}\b")
        # Where an object is called, nothing shows but the name of its class.
        called = owner.qualname if owner is not None and name in _CALLED else name
        for test, text in self._tests_below(root).items():
            if f"{called}(" in text and known.search(text) and test != path and (file := self.read(test)) is not None:
                tests = (one for one in file.calling(called) if _is_caller(one, definition) and not one.needs)
                yield from (Frame(str(test), one.qualname) for one in tests)

    def _tests_below(self, root: Path) -> dict[Path, str]:
        """The tests of a project, with their texts."""
        if root not in self._tests:
            folders = (root, *(root.parent / name for name in _FOLDERS))
            files = (file for folder in folders if folder.is_dir() for file in sorted(folder.rglob("*.py")))
            tests = [file for file in files if _TEST.search(file.name)]
            self._tests[root] = {file: _text(file) for file in tests[:_MOST_TESTS]}
        return self._tests[root]


def _is_caller(one: Definition, definition: Definition) -> bool:
    """Whether a definition that calls something of that name may be run in its place."""
    return one.kind in ("function", "method") and one.qualname != definition.qualname and _LOCALS not in one.qualname


def _text(file: Path) -> str:
    try:
        return read_bytes(file).decode("utf-8", "replace")
    except UnreadableSource:
        return ""
