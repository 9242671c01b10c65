"""Results of earlier runs, by everything that they depend on. Data only, and worthless content is passed over.

One run is one entry. Its key digests the tool, the settings and the checked files; files that were read because a
checked one imports them are recorded in the entry and compared when it is read. A file whose times, size and inode are
those that it had when it was last digested is not read for that.

A repository may come with a cache that hides findings or has fixes of its own. So what is kept is sealed with what
nobody else can know: which file of this machine says that the folder was made here, and since when.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from ..findings.findings import Finding
from ..findings.rule_files import sources
from ..sources.text import UnreadableSource, digest_of, read_bytes
from ..sources.write import write_atomically

_OWN: Final = re.compile(r"[0-9a-f]+\.json")  # whatever else lies there is somebody else's
_KEPT: Final = 32  # entries; the oldest go first
_KEPT_PARTS: Final = 64
_DIGESTS: Final = "digests"  # the file of what was digested
_MOST_DIGESTS: Final = 400_000
_MOST_KEPT: Final = 1_000_000_000  # bytes of a file
# Times of files are no finer than this somewhere: what was written a moment ago may be written again unseen.
_GRAIN: Final = 2_000_000_000
_IGNORE_ALL: Final = "# Written by xlalint; may be deleted at any time.\n*\n"
_MARK: Final = "made-here"
_SEAL: Final = 32  # characters


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """The findings of a run, and the digests of the files that it read besides the checked ones."""

    findings: tuple[Finding, ...]
    imported: dict[str, str]


class Facts(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a run has to know of each file, whether or not it reads it. `size`: in characters, of one that is read;
    `matters`: it names TensorFlow or Keras; `comments`: it may hold suppressions to account for; `strategies`: it names
    a distribution strategy."""

    digest: str
    size: int = 0
    matters: bool = False
    comments: bool = False
    strategies: bool = False


_Stat: TypeAlias = tuple[int, int, int, int, int]


class Digests:
    """The digests of files, by what the system says of them; `file` keeps them for the next run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, tuple[_Stat, str]] = {}
        self._fresh: dict[str, tuple[_Stat, str]] = {}
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            self._known = msgspec.json.decode(_unsealed(file) or b"{}", type=dict[str, tuple[_Stat, str]])

    def of(self, path: str) -> str:
        """The digest of a file. Raises UnreadableSource."""
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            raise UnreadableSource(str(error)) from error
        now = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
        known = self._known.get(path)
        if known is not None and known[0] == now and stat.S_ISREG(found.st_mode):
            return known[1]
        digest = digest_of(read_bytes(Path(path)))
        if max(now[:2]) < time.time_ns() - _GRAIN:
            self._fresh[path] = now, digest
        return digest

    def hold(self, digests: dict[str, str]) -> bool:
        """Whether files are what they were."""
        try:
            return all(self.of(path) == digest for path, digest in digests.items())
        except UnreadableSource:
            return False

    def save(self) -> None:
        """Keep what was digested anew."""
        if self._fresh:
            kept = self._known if len(self._known) + len(self._fresh) <= _MOST_DIGESTS else {}
            with contextlib.suppress(OSError, UnicodeEncodeError):
                _write_sealed(self._file, msgspec.json.encode(kept | self._fresh))


class Folder:
    """Files by key in one folder, of which those that were used last are kept."""

    def __init__(self, folder: Path, kept: int) -> None:
        self._folder, self._kept = folder, kept

    def load(self, key: str) -> bytes | None:
        """What is kept under a key, as it was stored here."""
        return _unsealed(self._file(key))

    def store(self, key: str, data: bytes, used: Collection[str] = ()) -> None:
        """Keep something; a folder that cannot be written only costs the next run its time. `used`: other keys, which
        do not go for its sake."""
        with contextlib.suppress(OSError):
            _write_sealed(self._file(key), data)
            files = [file for file in self._folder.glob("*.json") if _OWN.fullmatch(file.name)]
            others = [file for file in files if file.stem not in used]
            for old in sorted(others, key=os.path.getmtime)[: max(len(files) - self._kept, 0)]:
                old.unlink()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _make(folder: Path) -> None:
    """Make the folder of a cache, and mark one that is there as used here."""
    if not folder.is_dir():
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
    with contextlib.suppress(FileExistsError):
        os.close(os.open(folder / _MARK, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _seal(file: Path, data: bytes) -> bytes:
    """What says that a file of a cache was written here, and as it is. Raises OSError where its folder has no mark."""
    mark = os.lstat(file.parent / _MARK)
    key = hashlib.blake2b(f"{mark.st_ino} {mark.st_ctime_ns} {file.name}".encode()).digest()
    return hashlib.blake2b(data, key=key, digest_size=_SEAL // 2).hexdigest().encode()


def _write_sealed(file: Path, data: bytes) -> None:
    _make(file.parent)
    write_atomically(file, _seal(file, data) + data)


def _unsealed(file: Path) -> bytes | None:
    """The content of a file that was sealed here; None for any other."""
    try:
        sealed = read_bytes(file, _MOST_KEPT)
        return sealed[_SEAL:] if sealed[:_SEAL] == _seal(file, sealed[_SEAL:]) else None
    except (UnreadableSource, OSError):
        return None


class Cache:
    """The entries in one folder, the digests of the files that they depend on, and what is known of parts of runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder, _KEPT)
        self.digests = Digests(folder / _DIGESTS)
        self._facts = Folder(folder / "facts", _KEPT)
        self.parts = Folder(folder / "parts", _KEPT_PARTS)

    def facts(self) -> dict[str, Facts]:
        """What is known of files, by their absolute paths."""
        data = self._facts.load(_facts_key())
        try:
            return {} if data is None else msgspec.json.decode(data, type=dict[str, Facts])
        except (msgspec.DecodeError, RecursionError):
            return {}

    def note_facts(self, known: dict[str, Facts], now: dict[str, Facts]) -> None:
        """Keep what is known of files, of those of this run at least."""
        if any(known.get(path) != facts for path, facts in now.items()):
            kept = known if len(known) + len(now) <= _MOST_DIGESTS else {}
            with contextlib.suppress(UnicodeEncodeError):
                self._facts.store(_facts_key(), msgspec.json.encode(kept | now))

    def load(self, key: str) -> Entry | None:
        """The entry of a run with this key, if there is a sound one."""
        data = self._folder.load(key)
        try:
            entry = None if data is None else msgspec.json.decode(data, type=Entry)
        except (msgspec.DecodeError, RecursionError):  # damaged or not ours: the run starts afresh
            return None
        return entry if entry is not None and self.digests.hold(entry.imported) else None

    def store(self, key: str, entry: Entry) -> None:
        """Write an entry, unless it cannot be (a path that is not Unicode)."""
        with contextlib.suppress(UnicodeEncodeError):
            self._folder.store(key, msgspec.json.encode(entry))


def key_of(parts: Iterable[str]) -> str:
    """The key of a run: the digest of the tool and of `parts`."""
    digest = hashlib.blake2b(_tool(), digest_size=20)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _facts_key() -> str:
    return key_of(("facts", os.getcwd()))


@cache
def _tool() -> bytes:
    """What the tool's own code is: every file of it, the parser's, and the Python that runs it."""
    digest = hashlib.blake2b(sys.version.encode())
    parser = importlib.util.find_spec("libcst")
    files = [] if parser is None or parser.origin is None else [parser.origin]
    for file in (*files, *sorted(_files_below(str(Path(__file__).parent))), *map(str, sources())):
        found = os.stat(file)
        digest.update(f"{file} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size}\n".encode("utf-8", "replace"))
    return digest.digest()


def _files_below(folder: str) -> Iterator[str]:
    """The sources and tables in a folder and those in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files_below(entry.path)
            elif entry.name.endswith((".py", ".json")):
                yield entry.path
