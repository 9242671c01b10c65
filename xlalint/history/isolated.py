"""Git, run with a Git directory of our own in the place of the repository's.

The configuration of a repository can name commands that Git then runs: filters, monitors of files, hooks, programs that
fetch what is missing. So none of it is read. Git gets a folder with a configuration that is written here, and in it
links to what is data alone: references, and what decides which files are ignored; objects and index stay where they
are. Neither the user's configuration nor the system's is read: a file of attributes could choose a filter of theirs.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..sources.scratch import Scratch
from ..sources.text import UnreadableSource, read_own

_LONGEST: Final = 600  # seconds of one command
_MOST_ANSWERED: Final = 1_000_000_000  # bytes
_MOST_HEAD: Final = 4096
_CHUNK: Final = 1 << 20

# Of a repository's configuration: what its files are like, as words that mean nothing else.
_TOLD: Final = {
    "core.filemode": re.compile(r"true|false"),
    "core.ignorecase": re.compile(r"true|false"),
    "core.precomposeunicode": re.compile(r"true|false"),
    "core.symlinks": re.compile(r"true|false"),
    "extensions.objectformat": re.compile(r"sha1|sha256"),
    "extensions.refstorage": re.compile(r"files|reftable"),
}
_OURS: Final = (
    ("core", "repositoryFormatVersion", "1"),
    ("core", "bare", "false"),
    ("core", "fsmonitor", "false"),
    ("core", "untrackedCache", "false"),
    ("core", "hooksPath", os.devnull),
    ("core", "attributesFile", os.devnull),
    ("protocol", "allow", "never"),
)
# What is data alone: of all work trees of a repository, and of one.
_SHARED: Final = ("refs", "packed-refs", "logs", "reftable", "shallow", "info/exclude", "info/sparse-checkout")
_OF_WORK_TREE: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)*_HEAD|sharedindex\.[0-9a-f]+")
_ENVIRONMENT: Final = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_INHERITED: Final = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")  # of a push that is looked at


class GitError(Exception):
    """Git is not there, or cannot answer; the message is one line."""


class RefusalError(GitError):
    """Git ran, and said no."""


@dataclass(frozen=True, slots=True)
class IsolatedGit:
    """What to ask of the repository of a work tree. `folder`: its own Git directory; `common`: what it shares with
    other work trees, or the same."""

    root: Path
    folder: Path
    common: Path
    _told: tuple[tuple[str, str, str], ...]

    @classmethod
    def around(cls, path: Path) -> IsolatedGit:
        """Of the work tree that a path lies in, as Git would find it, repositories without work tree left aside: one
        may have been committed to another, to be found. Raises GitError."""
        root, folder = _places(path)
        common = _common(folder)
        return cls(root, folder, common, tuple(_told(common / "config")))

    def __call__(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What a command of Git says. Raises GitError."""
        with Scratch() as name:
            environment = {
                **_plain_environment(),
                "GIT_OBJECT_DIRECTORY": os.path.abspath(self.common / "objects"),
                **{key: os.environ[key] for key in _INHERITED if key in os.environ},
                "GIT_DIR": name,
                "GIT_WORK_TREE": str(self.root),
                "GIT_INDEX_FILE": os.path.abspath(os.environ.get("GIT_INDEX_FILE", self.folder / "index")),
            }
            try:
                self._borrow(Path(name))
            except (OSError, UnreadableSource) as error:
                raise GitError(f"the repository {self.root} cannot be read: {error}") from error
            try:
                return _run(arguments, self.root, environment, stdin)
            except RefusalError as error:
                if any((self.common / "objects" / "pack").glob("*.promisor")):
                    raise RefusalError(f"{error} (this clone is partial, and xlalint fetches nothing)") from error
                raise

    @property
    def is_shallow(self) -> bool:
        """Whether only the newest commits were fetched."""
        return (self.common / "shallow").exists()

    def _borrow(self, own: Path) -> None:
        """Make a Git directory that is this one's, as far as that is data. Raises OSError and UnreadableSource."""
        (own / "HEAD").write_bytes(read_own(self.folder / "HEAD", _MOST_HEAD))
        (own / "info").mkdir()
        for name in _SHARED:
            if (self.common / name).exists():
                (own / name).symlink_to(os.path.abspath(self.common / name))
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if _OF_WORK_TREE.fullmatch(entry.name):
                    (own / entry.name).symlink_to(os.path.abspath(entry.path))
        values = (*self._told, *_OURS)
        (own / "config").write_text("".join(f"[{section}]\n\t{key} = {value}\n" for section, key, value in values))


def _places(path: Path) -> tuple[Path, Path]:
    """The work tree that a path lies in, and its Git directory. Raises GitError."""
    if "GIT_WORK_TREE" in os.environ and "GIT_DIR" in os.environ:
        return Path(os.path.realpath(os.environ["GIT_WORK_TREE"])), Path(os.path.abspath(os.environ["GIT_DIR"]))
    start = next(place for place in (path, *path.parents) if place.is_dir())
    for place in (start, *start.parents):
        if (found := _git_directory(place / ".git")) is not None:
            return place, found
    raise GitError(f"{start} is in no Git repository")


def _told(file: Path) -> Iterator[tuple[str, str, str]]:
    """What a configuration says of the repository's files. Git reads it as any other file here, and obeys nothing."""
    pattern = f"^({'|'.join(key.replace('.', '[.]') for key in _TOLD)})$"
    command = ("config", "--file", os.path.abspath(file), "--no-includes", "-z", "--get-regexp", pattern)
    with Scratch() as name, contextlib.suppress(RefusalError):  # says nothing
        answer = _run(command, Path(name), {**_plain_environment(), "GIT_DIR": name})
        for line in os.fsdecode(answer).split("\0")[:-1]:
            key, _, value = line.partition("\n")
            section, _, what = key.partition(".")
            if _TOLD[key].fullmatch(value):
                yield section, what, value


def _plain_environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _ENVIRONMENT


def _git_directory(place: Path) -> Path | None:
    """The Git directory that `.git` is, or that it names."""
    try:
        if place.is_file():
            kind, _, named = read_own(place, _MOST_HEAD).partition(b":")
            place = place.parent / os.fsdecode(named.strip()) if kind == b"gitdir" else place
        common = _common(place)
        is_one = (place / "HEAD").is_file() and (common / "objects").is_dir() and (common / "refs").is_dir()
    except (OSError, ValueError, UnreadableSource, GitError):
        return None
    return place if is_one else None


def _common(folder: Path) -> Path:
    """The folder with what a Git directory shares with others. Raises GitError."""
    try:
        named = read_own(folder / "commondir", _MOST_HEAD) if (folder / "commondir").exists() else b"."
    except UnreadableSource as error:
        raise GitError(f"{folder / 'commondir'}: {error}") from error
    return Path(os.path.normpath(folder / os.fsdecode(named.strip())))


def _program() -> str:
    """Git, from a folder that the search path names in full: any other would be one of the repository."""
    folders = (folder for folder in os.get_exec_path() if os.path.isabs(folder))
    found = shutil.which("git", path=os.pathsep.join(folders))
    if found is None:
        raise GitError("git cannot be run: it is not on the search path")
    return found


def _run(arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: bytes = b"") -> bytes:
    """What a command of Git says, within limits of time and memory."""
    command = [_program(), *arguments]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as told:
        given.write(stdin)
        given.seek(0)
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=given, stdout=subprocess.PIPE, stderr=told
            )
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror or error}") from error
        late = threading.Timer(_LONGEST, process.kill)
        late.start()
        try:
            answer = _answer(process)
        finally:
            late.cancel()
            process.kill()  # which has ended, unless it has said too much or nobody waits for it any more
            code = process.wait()
        told.seek(0)
        said = told.read(_CHUNK).decode("utf-8", "backslashreplace").strip().partition("\n")[0]
    if code < 0:
        raise GitError(f"git {arguments[0]} takes too long, or was ended by signal {-code}")
    if code:
        raise RefusalError(f"git {arguments[0]}: {said or f'exit code {code}'}")
    return answer


def _answer(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    parts, size = list[bytes](), 0
    with process.stdout as stream:
        while part := stream.read(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > _MOST_ANSWERED:
                raise GitError(f"git says more than {_MOST_ANSWERED:,} bytes")
    process.wait()
    return b"".join(parts)
