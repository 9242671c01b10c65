"""Results of earlier runs, by everything that they depend on. Data only, and worthless content is passed over.

One run is one entry. Its key digests the tool, the settings and the checked files; files that were read because a
checked one imports them are recorded in the entry and compared when it is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from .findings import Finding
from .rule_files import sources
from .sources.text import UnreadableSource, digest_of, read_bytes
from .sources.write import write_atomically

_OWN: Final = re.compile(r"[0-9a-f]+\.json")  # whatever else lies there is somebody else's
_KEPT: Final = 32  # entries; the oldest go first
_IGNORE_ALL: Final = "# Written by xlalint; may be deleted at any time.\n*\n"


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """The findings of a run, and the digests of the files that it read besides the checked ones."""

    findings: tuple[Finding, ...]
    imported: dict[str, str]

    def holds(self) -> bool:
        """Whether the imported files are what they were."""
        return all(_digest(Path(path)) == digest for path, digest in self.imported.items())


def _digest(path: Path) -> str | None:
    try:
        return digest_of(read_bytes(path))
    except UnreadableSource:
        return None


class Folder:
    """Files by key in one folder, of which the newest are kept."""

    def __init__(self, folder: Path, kept: int) -> None:
        self._folder, self._kept = folder, kept

    def load(self, key: str) -> bytes | None:
        """What is kept under a key."""
        try:
            return read_bytes(self._file(key))
        except UnreadableSource:
            return None

    def store(self, key: str, data: bytes) -> None:
        """Keep something; a folder that cannot be written only costs the next run its time."""
        with contextlib.suppress(OSError):
            if not self._folder.is_dir():
                self._folder.mkdir(parents=True)
                (self._folder / ".gitignore").write_text(_IGNORE_ALL, "utf-8")
            write_atomically(self._file(key), data)
            files = [file for file in self._folder.glob("*.json") if _OWN.fullmatch(file.name)]
            for old in sorted(files, key=os.path.getmtime)[: max(len(files) - self._kept, 0)]:
                old.unlink()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


class Cache:
    """The entries in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder, _KEPT)

    def load(self, key: str) -> Entry | None:
        """The entry of a run with this key, if there is a sound one."""
        data = self._folder.load(key)
        try:
            entry = None if data is None else msgspec.json.decode(data, type=Entry)
        except (msgspec.DecodeError, RecursionError):  # damaged or not ours: the run starts afresh
            return None
        return entry if entry is not None and entry.holds() else None

    def store(self, key: str, entry: Entry) -> None:
        """Write an entry, unless it cannot be (a path that is not Unicode)."""
        with contextlib.suppress(UnicodeEncodeError):
            self._folder.store(key, msgspec.json.encode(entry))


def key_of(parts: Iterable[str]) -> str:
    """The key of a run: the digest of the tool and of `parts`."""
    digest = hashlib.blake2b(digest_size=20)
    for part in (*_tool(), *parts):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _tool() -> Iterable[str]:
    """What the tool's own code is: every file of it, the parser's, and the Python that runs it."""
    yield sys.version
    parser = importlib.util.find_spec("libcst")
    if parser is not None and parser.origin is not None:
        yield f"{parser.origin} {os.stat(parser.origin).st_mtime_ns}"
    own = Path(__file__).parent
    for file in (*sorted(own.rglob("*.py")), *sorted(own.rglob("*.json")), *sources()):
        yield f"{file} {digest_of(file.read_bytes())}"
