"""What a part of an analysis reads: of which files the outline, the text of which definitions, the whole text.

Files are shared by all parts that run in a process, so what is read is noted where it is asked for, whether or not it
was parsed for another part before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from ...sources.outline import Stretch


@dataclass(slots=True)
class FileReads:
    """What was read of one file, beside its outline. `words`: those of which it was asked where they stand."""

    stretches: set[Stretch] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    whole: bool = False


@dataclass(slots=True)
class Reads:
    """What was read. `names`: the modules that were looked for, by the folder in which, with what was found; `absent`:
    the first parts of those that the listing of a folder lacks; `offered`: of those that were looked for in all roots
    whose listing has them."""

    files: dict[Path, FileReads] = field(default_factory=dict)
    names: dict[tuple[str, str], Path | None] = field(default_factory=dict)  # texts are hashed many times faster
    absent: dict[Path, set[str]] = field(default_factory=dict)
    offered: set[str] = field(default_factory=set)

    def of(self, path: Path) -> FileReads:
        found = self.files.get(path)
        if found is None:
            found = self.files[path] = FileReads()
        return found


_noting: ContextVar[Reads | None] = ContextVar("reads", default=None)


@contextmanager
def noted_in(reads: Reads) -> Iterator[None]:
    """Note there what is read meanwhile."""
    token = _noting.set(reads)
    try:
        yield
    finally:
        _noting.reset(token)


def note_all(reads: Reads) -> None:
    """The modules that are noted there are looked for once more, with the same outcome."""
    if (noted := _noting.get()) is not None:
        noted.names.update(reads.names)
        for folder, absent in reads.absent.items():
            noted.absent.setdefault(folder, set()).update(absent)
        noted.offered |= reads.offered


def note_outline(path: Path) -> None:
    """The names of a file are about to be looked at."""
    if (reads := _noting.get()) is not None:
        reads.of(path)


def note_stretch(path: Path, stretch: Stretch) -> None:
    """So are some lines of it."""
    if (reads := _noting.get()) is not None:
        reads.of(path).stretches.add(stretch)


def note_word(path: Path, word: str) -> None:
    """So are those of its definitions that hold a word."""
    if (reads := _noting.get()) is not None:
        reads.of(path).words.add(word)


def note_whole(path: Path) -> None:
    """So is all of its text."""
    if (reads := _noting.get()) is not None:
        reads.of(path).whole = True


def note_name(folder: Path, name: str, found: Path | None) -> None:
    """A module was looked for in a folder that has something of that name."""
    if (reads := _noting.get()) is not None:
        reads.names[str(folder), name] = found


def note_absent(folder: Path, name: str) -> None:
    """A module was looked for in a folder that has nothing of the name's first part."""
    if (reads := _noting.get()) is not None:
        reads.absent.setdefault(folder, set()).add(name)


def note_offered(name: str) -> None:
    """A module was looked for in the roots that have something of the name's first part."""
    if (reads := _noting.get()) is not None:
        reads.offered.add(name)
