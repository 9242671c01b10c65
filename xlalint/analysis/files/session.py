"""What runs that follow each other in one process share: what they have read, and where modules were found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...sources.text import Source
from ...sources.versions import Version, is_settled, version_of
from .dependencies import Reads
from .file import File

_MOST_PLACES: Final = 8_192  # of modules that a session keeps, some six hundred bytes each


@dataclass(frozen=True, slots=True)
class Imports:
    """What a version of a file imports, and which modules were looked for to find that out."""

    version: object
    found: frozenset[Path]
    reads: Reads


class Session:
    """What runs that follow each other share: the files as the last one read them, so that what is unchanged is not
    parsed again. `stopped` is asked now and then whether the run is still wanted. No two runs at a time."""

    def __init__(self) -> None:
        self.stopped: Callable[[], bool] = lambda: False
        self._files: dict[Path, File] = {}
        self._sources: dict[Path, tuple[Version, Source]] = {}  # of those that are not checked
        self.imports: dict[Path, Imports] = {}
        self.places: dict[object, tuple[Path | None, Reads]] = {}  # of modules, with what was looked for to find each
        self.epoch = 0  # the same as long as modules are found where they were
        self.left: dict[str, list[Any]] = {}  # what partitions left, by key: those who run them know what that is
        self.grouped: tuple[Mapping[tuple[str, str], Path | None], list[Any]] | None = None  # what a part looked for
        self.memory: Any = None  # what runs keep that have no folder for it: they know what that is
        self._folders: dict[str, tuple[int | None, object]] = {}  # that were listed, with times and contents
        self._around: object = None

    def file(self, source: Source) -> File:
        """The file of a source. Raises OutlineError."""
        before = self._files.get(source.path)
        if before is None or before.source != source:
            self._files[source.path] = File(source, before)
        return self._files[source.path]

    def source(self, path: Path, read: Callable[[], Source]) -> Source:
        """What is in a file on the disk, which is read where it is not known to be what it was. Raises
        UnreadableSource."""
        try:
            now = version_of(path)
        except (OSError, ValueError):
            now = None
        known = self._sources.get(path)
        if now is not None and known is not None and known[0] == now:
            return known[1]
        source = read()
        if now is not None and is_settled(*now[:2]):
            self._sources[path] = now, source
        return source

    def begin(self, around: object) -> None:
        """A run begins. What files import is found anew where the folders have changed in which it was sought, or what
        is `around` the files that are checked."""
        if around != self._around or not all(map(self._is_as_listed, self._folders)):
            self.imports.clear()
            self.places.clear()
            self.epoch += 1
            self._folders.clear()
            self._around = around

    def note_place(self, asked: object, found: tuple[Path | None, Reads]) -> None:
        """Keep where a module was found."""
        if len(self.places) >= _MOST_PLACES:
            self.places.clear()
        self.places[asked] = found

    def note_listing(self, folder: str) -> None:
        """A folder is about to be listed."""
        if folder not in self._folders:
            self._folders[folder] = _time_of(folder), _content(folder)

    def _is_as_listed(self, folder: str) -> bool:
        """Whether a folder has in it what it had: one in which a file was written anew has another time."""
        then, content = self._folders[folder]
        now = _time_of(folder)
        if now is None or now != then:
            if _content(folder) != content:
                return False
            self._folders[folder] = now, content
        return True


def _time_of(folder: str) -> int | None:
    """When a folder changed last, in nanoseconds, 0 where there is none; None where that was a moment ago."""
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        return 0
    return changed if is_settled(changed) else None


def _content(folder: str) -> object:
    """What is in a folder, and which of it are folders."""
    try:
        with os.scandir(folder) as entries:
            return {(entry.name, entry.is_dir()) for entry in entries}
    except OSError:
        return None
