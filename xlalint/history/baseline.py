"""Baselines: the findings that a project lives with for now, in a file that is kept with the code.

An entry is known again by its path, its rule and its code (`marks`). Each entry excuses one finding.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from ..findings.findings import Finding
from ..sources.text import UnreadableSource, display_path, read_own
from ..sources.write import write_atomically
from .marks import Content, Mark, is_under, marks_of

VERSION: Final = 1
DEFAULT_FILE: Final = "xlalint-baseline.json"
_MOST: Final = 1_000_000  # findings that are excused
_Likeness: TypeAlias = Callable[[Mark], tuple[str, ...]]
# In what an entry and a finding agree that are the same, the surest first: unchanged, or moved within the file; and
# with an entry whose file is gone: the file was renamed.
_UNCHANGED: Final[_Likeness] = attrgetter("path", "code", "scope", "key")
_MOVED: Final[_Likeness] = attrgetter("path", "code", "key")
_RENAMED: Final[_Likeness] = attrgetter("code", "scope", "key")


class BaselineError(Exception):
    """A baseline that cannot be read or written; the message is one line that says which and why."""

    def __init__(self, file: Path, message: str) -> None:
        super().__init__(f"{display_path(file)}: {message}")


class _Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    path: str
    code: str
    scope: str
    source: str
    key: str
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    findings: list[_Entry]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a run and a baseline make of each other. `fresh`: what no entry excuses; `kept`: the entries that excused a
    finding, as this now stands; `stale`: those that could have, and did not; `unseen`: those of files and rules that
    the run was not about."""

    fresh: tuple[Finding, ...]
    kept: tuple[Mark, ...]
    stale: tuple[Mark, ...]
    unseen: tuple[Mark, ...]


class Baseline:
    """The entries of one file, whose paths count from the file's folder."""

    def __init__(self, file: Path, entries: Iterable[Mark] = ()) -> None:
        self.file = file
        self.entries = tuple(sorted(entries))

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """The baseline in a file. Raises BaselineError."""
        try:
            content = msgspec.json.decode(read_own(file), type=_Content)
        except UnreadableSource as error:
            if not os.path.lexists(file):
                raise BaselineError(file, "there is no such baseline; `xlalint baseline write` creates one") from None
            raise BaselineError(file, str(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BaselineError(file, f"not a baseline: {error}") from error
        if content.version != VERSION:
            raise BaselineError(file, f"written by another version of xlalint (format {content.version})")
        if sum(one.count for one in content.findings) > _MOST:
            raise BaselineError(file, f"not a baseline: it has more than {_MOST:,} findings")
        return cls(
            file,
            (
                Mark(one.path, one.code, one.scope, one.key, one.source)
                for one in content.findings
                for _ in range(one.count)
            ),
        )

    def write(self) -> None:
        """Write the file, an entry a line, so that merging two is easy. Raises BaselineError."""
        entries = [_line(mark, count) for mark, count in sorted(Counter(self.entries).items())]
        text = ",\n  ".join(entries)
        listed = f"[\n  {text}\n]" if entries else "[]"
        try:
            write_atomically(self.file, f'{{"version": {VERSION}, "findings": {listed}}}\n'.encode(), _like(self.file))
        except OSError as error:
            raise BaselineError(self.file, error.strerror or str(error)) from error

    def marks(self, findings: Sequence[Finding], content: Content) -> list[Mark]:
        """The marks of findings, with paths that count from the baseline's folder."""
        return [replace(mark, path=self._relative(mark.path)) for mark in marks_of(findings, content)]

    def compare(
        self, findings: Sequence[Finding], content: Content, paths: Sequence[Path], ran: Collection[str]
    ) -> Comparison:
        """Findings against the entries. `paths`: what the run was asked to check; `ran`: the codes of the rules that it
        ran."""
        marks = self.marks(findings, content)
        left = Counter(self.entries)
        unknown = dict(enumerate(marks))
        gone = {path for path in {entry.path for entry in self.entries} if not (self.file.parent / path).exists()}
        for likeness in (_UNCHANGED, _MOVED, _RENAMED):
            alike: dict[tuple[str, ...], list[Mark]] = {}
            for entry in left.elements():
                if likeness is not _RENAMED or entry.path in gone:
                    alike.setdefault(likeness(entry), []).append(entry)
            for number, mark in tuple(unknown.items()):
                if found := alike.get(likeness(mark)):
                    left[found.pop()] -= 1
                    del unknown[number]
        tops = [self._relative(str(path)) for path in paths]
        rest = tuple(left.elements())
        stale = [mark.code in ran and (mark.path in gone or is_under(mark.path, tops)) for mark in rest]
        return Comparison(
            fresh=tuple(findings[number] for number in unknown),
            kept=tuple(mark for number, mark in enumerate(marks) if number not in unknown),
            stale=tuple(compress(rest, stale)),
            unseen=tuple(mark for mark, gone_by in zip(rest, stale, strict=True) if not gone_by),
        )

    def _relative(self, shown: str) -> str:
        return os.path.relpath(shown, self.file.parent).replace(os.sep, "/")


def _line(mark: Mark, count: int) -> str:
    values: dict[str, Any] = {
        "path": mark.path,
        "code": mark.code,
        "scope": mark.scope,
        "source": mark.source,
        "key": mark.key,
    }
    return json.dumps(values | ({"count": count} if count > 1 else {}))


def _like(file: Path) -> os.stat_result | None:
    """The mode to write with: that of the file, or of a new one."""
    if file.exists():
        return file.stat()
    file.touch()
    return file.stat()
