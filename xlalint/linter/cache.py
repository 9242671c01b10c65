"""Results of earlier runs, by everything that they depend on. Data only, and worthless content is passed over.

One run is one entry. Its key digests the tool, the settings and the checked files; files that were read because a
checked one imports them are recorded in the entry and compared when it is read. A file whose times, size and inode are
those that it had when it was last digested is not read for that.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from ..cache.folder import Folder, read_sealed, write_sealed
from ..cache.keys import key_of
from ..findings.findings import Backend, Finding
from ..sources.reading import Jax, Strategies
from ..sources.text import UnreadableSource, digest_of, read_bytes
from ..sources.versions import Version, is_settled, version_of

if TYPE_CHECKING:
    from ..analysis.files.session import Session

_KEPT: Final = 32  # entries; the oldest go first
_KEPT_PARTS: Final = 400
_DIGESTS: Final = "digests"  # the file of what was digested
_MOST_DIGESTS: Final = 400_000


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """The findings of a run, the digests of the files that it read besides the checked ones, and, by its path, what
    runs a file that not TensorFlow alone runs."""

    findings: tuple[Finding, ...]
    imported: dict[str, str]
    backends: dict[str, frozenset[Backend]] = {}


class Facts(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a run has to know of each file, whether or not it reads it. `size`: in characters, of one that is read;
    `matters`: it names TensorFlow or Keras; `comments`: it may hold suppressions to account for; `suppresses`: it may
    hold any; `strategies`: those that it names; `clusters`: it may turn autoclustering on; `jax`: what it says of JAX;
    `leads_to`: the words of the imports of one that does not matter by itself; `runs`: that one is a script."""

    digest: str
    size: int = 0
    matters: bool = False
    comments: bool = False
    strategies: Strategies = Strategies.NONE
    clusters: bool = False
    jax: Jax = Jax.UNNAMED
    leads_to: tuple[str, ...] = ()
    runs: bool = False
    suppresses: bool = True


# What files held, by their absolute paths: the digest of each, and its text.
Texts: TypeAlias = dict[str, tuple[str, str]]


class Digests:
    """The digests of files, by what the system says of them; `file` keeps them for the next run, if there is one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, tuple[Version, str]] = {}
        self._fresh: dict[str, tuple[Version, str]] = {}
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            if file is not None:
                self._known = msgspec.json.decode(read_sealed(file) or b"{}", type=dict[str, tuple[Version, str]])

    def of(self, path: str) -> str:
        """The digest of a file. Raises UnreadableSource."""
        try:
            now = version_of(path)
        except (OSError, ValueError) as error:
            raise UnreadableSource(str(error)) from error
        known = self._fresh.get(path) or self._known.get(path)
        if known is not None and known[0] == now:
            return known[1]
        digest = digest_of(read_bytes(Path(path)))
        if now is not None and is_settled(*now[:2]):
            self._fresh[path] = now, digest
        return digest

    def hold(self, digests: dict[str, str]) -> bool:
        """Whether files are what they were."""
        try:
            return all(self.of(path) == digest for path, digest in digests.items())
        except UnreadableSource:
            return False

    def save(self) -> None:
        """Keep what was digested again."""
        if self._fresh and self._file is not None:
            kept = self._known if len(self._known) + len(self._fresh) <= _MOST_DIGESTS else {}
            with contextlib.suppress(OSError, UnicodeEncodeError):
                write_sealed(self._file.parent, self._file, msgspec.json.encode(kept | self._fresh))


class TextFolder:
    """Packed texts of files, by a key for several together."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def load(self, key: str) -> Texts:
        """Those of a key; none where there are no sound ones."""
        try:
            data = self._folder.load(key)
            return {} if data is None else msgspec.msgpack.decode(zlib.decompress(data), type=Texts)
        except (zlib.error, msgspec.DecodeError, RecursionError):
            return {}

    def store(self, key: str, texts: Texts, used: Collection[str]) -> None:
        """Keep them. Raises UnicodeEncodeError where a path is not Unicode."""
        self._folder.store(key, zlib.compress(msgspec.msgpack.encode(texts), 1), used)


class Memory:
    """What runs of a session keep that have no folder, beside what their partitions left."""

    parts: Final = None
    texts: Final = None

    def __init__(self) -> None:
        self.digests = Digests(None)

    @classmethod
    def of(cls, session: Session) -> Memory:
        """That of a session."""
        if session.memory is None:
            session.memory = cls()
        memory: Memory = session.memory
        return memory


class Cache:
    """The entries in one folder, the digests of the files that they depend on, and what is known of parts of runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder, _KEPT)
        self.digests = Digests(folder / _DIGESTS)
        self._facts = Folder(folder, _KEPT, "facts")
        self.parts = Folder(folder, _KEPT_PARTS, "parts")
        self.texts = TextFolder(Folder(folder, _KEPT_PARTS, "texts"))

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


def _facts_key() -> str:
    return key_of(("facts", os.getcwd()))
