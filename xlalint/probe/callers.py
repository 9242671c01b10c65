"""Who calls a definition, as far as names tell: other functions of its file, and the project's tests, of these callers,
too. They show what it is called with where the paths of the findings do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from ..sources.packages import is_test, python_files, tests_beside
from ..sources.text import UnreadableSource, read_bytes
from .definitions import Definition, FileDefinitions
from .target import Frame

_LOCALS: Final = ".<locals>."
_CALLED: Final = ("call", "__call__")  # the methods that run where an object is called
_MAKING: Final = ("__init__", "build")
_SELF: Final = "self"
_MOST_FILES: Final = 3000
_MOST_TESTS: Final = 400  # files that are looked at
_MOST_OF_EACH: Final = 2  # tests of one definition


@dataclass
class Callers:
    """The callers of definitions. `read`: the definitions of a file, None where it cannot be read."""

    read: Callable[[Path], FileDefinitions | None]
    _tests: dict[Path, dict[Path, str]] = field(default_factory=dict)
    _others: dict[Path, dict[Path, str]] = field(default_factory=dict)

    def of(self, path: Path, definition: Definition, root: Path) -> Iterator[Frame]:
        """Who calls a definition of a file: its own class and file first, then tests below `root` and beside it, at
        last other files below `root`, and the tests of all these."""
        own = [(path, one) for one in self._of_its_file(path, definition)]
        others = list(islice(self._of_other_files(path, definition, root), _MOST_OF_EACH))
        found: dict[Frame, None] = {}
        for file, one in ((path, definition), *own, *others):
            if one is not definition:
                found.setdefault(Frame(str(file), one.qualname))
            found.update(dict.fromkeys(islice(self._tests_of(file, one, root), _MOST_OF_EACH)))
        yield from sorted(found, key=lambda frame: (frame.file != str(path), not is_test(Path(frame.file))))

    def _of_its_file(self, path: Path, definition: Definition) -> list[Definition]:
        name = definition.qualname.rpartition(".")[2]
        owner, own = definition.owner, self.read(path)
        if own is None:
            return []
        called: Sequence[str] = (name,)
        if owner is not None and name in _CALLED:
            called = (name, *own.instances.get(owner.qualname, ()))
        calling = dict.fromkeys(one for name in called for one in own.calling(name))
        if owner is not None and name in _CALLED:  # a method may call its own object
            calling.update(dict.fromkeys(one for one in own.calling(_SELF) if one.owner == owner))
        if owner is not None:
            calling.update(dict.fromkeys(_using(own, owner)))
        found = [one for one in calling if _is_caller(one, definition)]
        return sorted(found, key=lambda one: (one.owner != owner, one.qualname))

    def _of_other_files(self, path: Path, definition: Definition, root: Path) -> Iterator[tuple[Path, Definition]]:
        """Who calls a function of a file in others, or has the object of which it is a method."""
        owner = definition.owner
        name = definition.qualname if owner is None else owner.qualname
        if "." in name:
            return
        for other, text in self._files_below(root).items():
            if f"{name}(" in text and other != path and not is_test(other) and (file := self.read(other)) is not None:
                calling = file.calling(name) if owner is None else _using(file, owner)
                yield from ((other, one) for one in calling if _is_caller(one, None))

    def _tests_of(self, path: Path, definition: Definition, root: Path) -> Iterator[Frame]:
        """The tests that call something, or that make the object of which it is a method."""
        owner = definition.owner
        name = definition.qualname.rpartition(".")[2] if owner is None else owner.qualname
        known = re.compile(rf"\b{re.escape(name)}\b")
        tests = [test for test, text in self._tests_below(root).items() if test != path and known.search(text)]
        # Where an object is called, nothing shows but the name of its class.
        method = definition.qualname.rpartition(".")[2]
        for called in (method, name) if owner is not None and method not in _CALLED else (name,):
            for test in tests:
                if f"{called}(" in self._tests_below(root)[test] and (file := self.read(test)) is not None:
                    calling = (one for one in file.calling(called) if _is_caller(one, definition))
                    yield from (Frame(str(test), one.qualname) for one in calling)

    def _files_below(self, root: Path) -> dict[Path, str]:
        """The files of a project, with their texts."""
        if root not in self._others:
            self._others[root] = {file: _text(file) for file in islice(python_files(root), _MOST_FILES)}
        return self._others[root]

    def _tests_below(self, root: Path) -> dict[Path, str]:
        """The tests of a project, with their texts."""
        if root not in self._tests:
            files = (file for folder in (root, *tests_beside(root)) for file in python_files(folder))
            tests = [file for file in files if is_test(file)]
            self._tests[root] = {file: _text(file) for file in tests[:_MOST_TESTS]}
        return self._tests[root]


def _is_caller(one: Definition, definition: Definition | None) -> bool:
    """Whether a definition that calls something of the name of one of its file may be run in its place."""
    other = definition is None or one.qualname != definition.qualname
    return one.kind in ("function", "method") and other and _LOCALS not in one.qualname


def _using(file: FileDefinitions, cls: Definition) -> Iterator[Definition]:
    """Who makes objects of a class; of other classes whose objects have one from the beginning, what runs when these
    are called."""
    for one in file.calling(cls.qualname):
        if one.owner is None or one.qualname.rpartition(".")[2] not in _MAKING:
            yield one
        elif one.owner != cls:
            methods = (file.named(f"{one.owner.qualname}.{name}") for name in _CALLED)
            yield from (method for method in methods if method is not None)


def _text(file: Path) -> str:
    try:
        return read_bytes(file).decode("utf-8", "replace")
    except UnreadableSource:
        return ""
