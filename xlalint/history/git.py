"""What Git knows: revisions, their files, and what has changed since. Nothing in the repository is written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

_NO_LOCKS: Final = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# Neither a helper that watches files nor one that shows differences is run.
_PLAIN: Final = ("-c", "core.fsmonitor=false")
_PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules")
_FILE_MODES: Final = frozenset((b"100644", b"100755"))
_LINK_MODE: Final = b"120000"


class GitError(Exception):
    """Git is not there, or cannot answer; the message is one line."""


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

    @classmethod
    def around(cls, path: Path) -> Repository:
        """The repository that a path lies in. Raises GitError."""
        folder = next(place for place in (path, *path.parents) if place.is_dir())
        try:
            return cls(Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))))
        except _RefusalError as error:
            if "not a git repository" in str(error):
                raise GitError(f"{folder} is in no Git repository") from None
            raise

    def base_of(self, revision: str) -> str:
        """The commit at which the present work and a revision part: the revision itself, unless it has gone on since.
        Raises GitError."""
        try:
            commit = self._line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except _RefusalError as error:
            what = "there is no commit in this shallow clone" if self._is_shallow() else "Git knows no commit"
            hint = "; fetch it, or more history" if self._is_shallow() else ""
            raise GitError(f"{what} that is called {revision!r}{hint}") from error
        try:
            return self._line("merge-base", commit, "HEAD")
        except _RefusalError as error:
            if self._is_shallow():
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

    def content(self, commit: str, path: str) -> bytes:
        """A file as it was. Raises GitError."""
        return _git(self.root, "cat-file", "blob", f"{commit}:{path}")

    def extract(self, commit: str, suffixes: tuple[str, ...], folder: Path) -> None:
        """Write the files of a commit with certain suffixes into an empty folder, and none outside of it, whatever the
        commit says. Raises GitError."""
        items = [item for item in self._items(commit) if item.path.endswith(suffixes)]
        items.sort(key=lambda item: item.mode == _LINK_MODE)  # links last: nothing is written by way of one
        blobs = self._blobs([item.blob for item in items])
        for item, data in zip(items, blobs, strict=True):
            try:
                _write(folder / item.path, data, folder if item.mode == _LINK_MODE else None)
            except OSError as error:
                raise GitError(f"cannot write {item.path} as it was: {error.strerror or error}") from error

    def _items(self, commit: str) -> Iterator[_Item]:
        for entry in _git(self.root, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            facts, _, name = entry.partition(b"\t")
            mode, _, blob = facts.split(b" ")
            path = os.fsdecode(name)
            outside = PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
            if mode in (*_FILE_MODES, _LINK_MODE) and not outside:
                yield _Item(mode, blob, path)

    def _blobs(self, names: Sequence[bytes]) -> Iterator[bytes]:
        """What the blobs of these names hold."""
        text = _git(self.root, "cat-file", "--batch", stdin=b"".join(name + b"\n" for name in names))
        position = 0
        for name in names:
            head = text.index(b"\n", position)
            words = text[position:head].split()
            if len(words) != 3:
                raise GitError(f"{os.fsdecode(name)} is missing from the repository; fetch it")
            start, size = head + 1, int(words[2])
            yield text[start : start + size]
            position = start + size + 1

    def _is_shallow(self) -> bool:
        return self._line("rev-parse", "--is-shallow-repository") == "true"

    def _line(self, *arguments: str) -> str:
        return os.fsdecode(_git(self.root, *arguments)).strip()

    def _words(self, *arguments: str) -> list[str]:
        return os.fsdecode(_git(self.root, *arguments)).split("\0")[:-1]


def _write(target: Path, data: bytes, within: Path | None) -> None:
    """Write a file; or make a link, if it does not lead out of the folder `within`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if within is None:
        target.write_bytes(data)
    elif not target.exists():
        target.symlink_to(os.fsdecode(data))
        if not Path(os.path.realpath(target)).is_relative_to(within):
            target.unlink()


class _RefusalError(GitError):
    """Git ran, and said no."""


def _environment() -> dict[str, str]:
    """Of a hook that Git runs, `GIT_DIR` alone would make every folder a work tree of its own."""
    inherited = dict(os.environ)
    if "GIT_WORK_TREE" not in inherited:
        inherited.pop("GIT_DIR", None)
    return inherited | _NO_LOCKS


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", *_PLAIN, *arguments],
            cwd=folder,
            env=_environment(),
            input=stdin,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "backslashreplace").strip().partition("\n")[0]
        raise _RefusalError(f"git {arguments[0]}: {said or f'exit code {done.returncode}'}")
    return done.stdout
