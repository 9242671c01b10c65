"""What Git knows: revisions, their files, and what has changed since. Nothing in the repository is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from ..sources.text import MOST_BYTES
from .isolated import GitError, IsolatedGit, RefusalError

_PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules")
_FILE_MODES: Final = frozenset((b"100644", b"100755"))
_LINK_MODE: Final = b"120000"
_AT_ONCE: Final = 64_000_000  # bytes of files that are asked for together, or one file


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of a revision. `path`: relative to the repository."""

    mode: bytes
    blob: bytes
    path: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree, by its topmost folder."""

    root: Path
    _git: IsolatedGit

    @classmethod
    def around(cls, path: Path) -> Repository:
        """The repository that a path lies in. Raises GitError."""
        git = IsolatedGit.around(path)
        return cls(git.root, git)

    def base_of(self, revision: str) -> str:
        """The commit at which the present work and a revision part: the revision itself, unless it has gone on since.
        Raises GitError."""
        try:
            commit = self._line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except RefusalError as error:
            what = "there is no commit in this shallow clone" if self._git.is_shallow else "Git knows no commit"
            hint = "; fetch it, or more history" if self._git.is_shallow else ""
            raise GitError(f"{what} called {revision!r}{hint}") from error
        try:
            return self._line("merge-base", commit, "HEAD")
        except RefusalError as error:
            if self._git.is_shallow:
                message = f"this shallow clone does not reach back to where {revision!r} parted; fetch more history"
                raise GitError(message) from error
            return commit  # nothing in common: all may have changed

    def changes(self, commit: str) -> dict[str, str | None]:
        """The files that are not what they were: by the path, what it was called then; None for one that is new.
        Files that are gone are missing. Raises GitError."""
        words = iter(self._words("diff", *_PLAIN_DIFF, "--name-status", "--find-renames", "-z", commit, "--"))
        found: dict[str, str | None] = {}
        for status in words:
            path = next(words)
            match status[:1]:
                case "R":
                    found[next(words)] = path
                case "A":
                    found[path] = None
                case "D":
                    pass
                case _:
                    found[path] = path
        found |= dict.fromkeys(self._words("ls-files", "--others", "--exclude-standard", "--full-name", "-z"))
        return found

    def tree_of(self, commit: str) -> str:
        """The name of all that a commit holds. Raises GitError."""
        return self._line("rev-parse", f"{commit}^{{tree}}")

    def content(self, commit: str, path: str) -> bytes | None:
        """A file as it was; None of one that is larger than what is read. Raises GitError."""
        name = f"{commit}:{path}"
        return self._git("cat-file", "blob", name) if int(self._line("cat-file", "-s", name)) <= MOST_BYTES else None

    def extract(self, commit: str, suffixes: tuple[str, ...], folder: Path) -> None:
        """Write the files of a commit with certain suffixes into an empty folder, and none outside of it, whatever the
        commit says. Raises GitError."""
        items = [item for item in self._items(commit) if item.path.endswith(suffixes)]
        items.sort(key=lambda item: item.mode == _LINK_MODE)  # links last: nothing is written by way of one
        for item, data in self._contents(items):
            try:
                if isinstance(data, int):
                    _write(folder / item.path, b"", None)
                    os.truncate(folder / item.path, data)
                else:
                    _write(folder / item.path, data, folder if item.mode == _LINK_MODE else None)
            except OSError as error:
                raise GitError(f"cannot write {item.path} as it was: {error.strerror or error}") from error

    def _items(self, commit: str) -> Iterator[_Item]:
        for entry in self._git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            facts, _, name = entry.partition(b"\t")
            mode, _, blob = facts.split(b" ")
            path = os.fsdecode(name)
            outside = PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
            if mode in (*_FILE_MODES, _LINK_MODE) and not outside:
                yield _Item(mode, blob, path)

    def _contents(self, items: Sequence[_Item]) -> Iterator[tuple[_Item, bytes | int]]:
        """What stands in files; of one that is larger than what is read, only its size."""
        group, room = list[tuple[_Item, int]](), _AT_ONCE
        for item, size in zip(items, self._sizes(items), strict=True):
            if size > MOST_BYTES:
                yield item, size
                continue
            if size > room:
                yield from self._blobs(group)
                group, room = [], _AT_ONCE
            group.append((item, size))
            room -= size
        yield from self._blobs(group)

    def _sizes(self, items: Sequence[_Item]) -> Iterator[int]:
        for line in self._git("cat-file", "--batch-check=%(objectsize)", stdin=_names(items)).splitlines():
            if not line.isdigit():
                name = os.fsdecode(line.removesuffix(b" missing"))
                raise GitError(f"{name} is missing from this clone, which is partial; fetch it")
            yield int(line)

    def _blobs(self, group: Sequence[tuple[_Item, int]]) -> Iterator[tuple[_Item, bytes]]:
        text = self._git("cat-file", "--batch", stdin=_names([item for item, _ in group]))
        position = 0
        for item, size in group:
            start = text.index(b"\n", position) + 1
            yield item, text[start : start + size]
            position = start + size + 1

    def _line(self, *arguments: str) -> str:
        return os.fsdecode(self._git(*arguments)).strip()

    def _words(self, *arguments: str) -> list[str]:
        return os.fsdecode(self._git(*arguments)).split("\0")[:-1]


def _write(target: Path, data: bytes, within: Path | None) -> None:
    """Write a file; or make a link, if it does not lead out of the folder `within`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if within is None:
        target.write_bytes(data)
    elif not target.exists():
        target.symlink_to(os.fsdecode(data))
        if not Path(os.path.realpath(target)).is_relative_to(within):
            target.unlink()


def _names(items: Sequence[_Item]) -> bytes:
    return b"".join(item.blob + b"\n" for item in items)
