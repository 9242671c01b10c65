"""What partitions of an analysis leave for the next run: what each read and asked, what it sent, and what it found.

A partition is not run again while it would read the same and be answered the same: nothing else goes into what it
finds, and the order in which it works follows from that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from ..analysis.files.dependencies import Reads
from ..analysis.files.files import Files
from ..analysis.files.session import Session
from ..analysis.files.troubles import InternalTrouble, SyntaxTrouble
from ..analysis.fixpoint.exchange import Transcript
from ..analysis.fixpoint.partitions import Message, Messages, Round
from ..analysis.program.signs import ModuleSigns
from ..cache.keys import key_of
from ..findings.findings import Finding
from ..sources.outline import Stretch
from ..sources.reading import Jax, Strategies
from .cache import Cache, Memory, Texts
from .gravest import Candidate
from .modules_found import Group, ModulesFound, groups_kept
from .shifts import FileShift, Moved, MovedTooFarError

_LEFT: Final = 2  # records of a partition that a process keeps: what is edited may become again what it was
_PARTITIONS_LEFT: Final = 512  # whose records a session keeps, more than a project has; the oldest go first
_NOTHING: Final = ""  # the digest of what could not be read


class Read(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """What was read of one file. `checked`: it is one of those to check; `known`: of those, or beside them in their
    project; `whole`: all of it was read, else its names (`interface`), the digests of some definitions, and which
    definitions hold some words."""

    path: str
    digest: str
    name: str
    root: str
    checked: bool
    known: bool
    whole: bool
    interface: str = ""
    stretches: list[tuple[int, int, str]] = []
    words: list[tuple[str, str]] = []


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """A partition as it was run: what it sent and asked, what it found, and what it read for that. `names`, `absent`
    and `offered`: as in `Reads`; `roots`: the folders that modules were looked for in, as a digest; `strategies`,
    `clusters`, `jax`: as in `Files`; `tpu`: a strategy for TPUs is made there; `modules`: what its files show of their
    programs; `defined`: the names of the functions in them."""

    rounds: list[Round]
    candidates: list[Candidate]
    trouble: list[SyntaxTrouble]
    tpu: bool = False
    modules: list[ModuleSigns] = []
    strategies: Strategies = Strategies.NONE
    clusters: bool = False
    jax: Jax = Jax.UNNAMED
    roots: str = ""
    reads: list[Read] = []
    names: list[Group] = []
    absent: dict[str, list[str]] = {}
    offered: dict[str, str] = {}
    defined: str = ""

    @property
    def result(self) -> End:
        """What the partition came to."""
        return End(self, False)

    def sent(self, round_number: int) -> Message | None:
        """What it sent in a round; None when it had come to its end."""
        return self.rounds[round_number].sent if round_number < len(self.rounds) else None

    def holds(self, round_number: int, received: Messages) -> bool:
        """Whether what it asked in a round is answered now as it was then."""
        return self.rounds[round_number].holds(received)


@dataclass(frozen=True, slots=True)
class End:
    """What a partition came to. `fresh`: it was run now, and `same`: no file was written to while it was read;
    `observed` is what watchers said, `given_up` the files that took too long, `seconds` how long each took."""

    record: Record
    fresh: bool
    same: bool = True
    observed: tuple[Finding, ...] = ()
    failures: tuple[InternalTrouble, ...] = ()
    given_up: tuple[str, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether the record sends all that there was."""
        whole = not self.failures and not self.given_up
        return whole and self.same and all(read.digest for read in self.record.reads)

    def findings_only(self) -> End:
        """Without what is of use only to other partitions and to the next run; of what was read, the files that are not
        checked."""
        record = self.record
        imported = [msgspec.structs.replace(read, stretches=[]) for read in record.reads if not read.checked]
        return replace(
            self, record=Record([], record.candidates, record.trouble, record.tpu, record.modules, reads=imported)
        )


TextOf: TypeAlias = Callable[[str, str], str | None]  # what a file held, by its path and digest


def moved_read(read: Read, shift: FileShift) -> Read | None:
    """What was read of a file, on the lines where it stands now; None where something else stands there."""
    if any(shift.after.holders_of(word) != holders for word, holders in read.words):
        return None
    try:
        stretches = [shift.stretch(Stretch(first, last)) for first, last, _ in read.stretches]
    except MovedTooFarError:
        return None
    states = [(stretch.first, stretch.last, shift.after.state_of(stretch) or "") for stretch in stretches]
    return msgspec.structs.replace(read, digest=shift.after.source.digest, stretches=states)


def moved(record: Record, reads: list[Read], shifts: Mapping[str, FileShift]) -> Record | None:
    """A record of a partition that reads this now; None where it may find something else."""
    defined = set(record.defined.split())
    if any(not shift.words.isdisjoint(defined) for shift in shifts.values()):
        return None
    if any(trouble.path in shifts for trouble in record.trouble):
        return None
    now = Moved(shifts)
    try:
        return msgspec.structs.replace(
            record,
            reads=reads,
            rounds=[now.round(made) for made in record.rounds] if shifts else record.rounds,
            candidates=[now.candidate(candidate) for candidate in record.candidates],
            modules=[now.signs(module) for module in record.modules],
        )
    except MovedTooFarError:
        return None


@dataclass(frozen=True, slots=True)
class World:
    """What the partitions of a run may read. `known`: the absolute paths of the files to check and of those beside
    them, and their paths as reports show them; `digest`: of a file as it is now, by its absolute path, None where it
    cannot be read."""

    files: Files
    known: Collection[str]
    digest: Callable[[str], str | None]
    session: Session | None = None
    _modules: ModulesFound = field(init=False)
    # By path, what each file is to the run: its name and root, whether it is checked, and whether it is known.
    _there: dict[str, tuple[str, str, bool, bool]] = field(default_factory=dict, init=False)
    _shifts: dict[tuple[str, str, bool], FileShift | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_modules", ModulesFound(self.files))

    def describe(self, record: Record, reads: Reads, share: Iterable[Path]) -> None:
        """Write into a record what the partition read; its own files, the `share`, as a whole."""
        own = set(share)
        record.strategies, record.clusters, record.jax = self.files.strategies, self.files.clusters, self.files.jax
        record.roots = self.files.roots_digest
        record.reads = [self._read(path, reads, path in own) for path in dict.fromkeys((*own, *reads.files))]
        record.names = groups_kept(reads.names, self.session)
        record.absent = {str(folder): sorted(absent) for folder, absent in reads.absent.items()}
        record.offered = {first: self.files.offering(first) for first in sorted(reads.offered)}

    def _read(self, path: Path, reads: Reads, whole: bool) -> Read:
        loaded, found = self.files.load(path), reads.of(path)
        name, root = self.files.dotted_name(path)
        made = Read(
            path=str(path),
            digest=loaded.digest or _NOTHING,
            name=name,
            root=str(root),
            checked=path in self.files.checked,
            known=str(path) in self.known,
            whole=True,
        )
        if loaded.file is not None and not whole and not found.whole:
            states = [(stretch.first, stretch.last, loaded.file.state_of(stretch)) for stretch in found.stretches]
            if all(state is not None for _, _, state in states):
                made.whole = False
                made.interface = loaded.file.interface
                made.stretches = [(first, last, state or "") for first, last, state in states]
                made.words = [(word, loaded.file.holders_of(word)) for word in sorted(found.words)]
        return made

    def texts(self, share: Iterable[Path]) -> Texts:
        """The texts of files, by their paths, with their digests."""
        loaded = ((path, self.files.load(path)) for path in share)
        return {str(path): (one.digest, one.file.source.text) for path, one in loaded if one.file and one.digest}

    def text_now(self, path: str, digest: str, text: str) -> tuple[str, str]:
        """What a file holds whose lines may have moved since it had a digest and this text, with its digest now."""
        shift = self._shifts.get((path, digest, True))
        return (digest, text) if shift is None else (shift.after.source.digest, shift.after.source.text)

    def knows(self, record: Record) -> bool:
        """Whether what was found is about files of the run."""
        return all(candidate.finding.path in self.known for candidate in record.candidates)

    def as_it_is_now(self, record: Record, text_of: TextOf, settled: bool = False) -> Record | None:
        """The record itself where a partition that is run now would read what it read when it was recorded, or the
        same on other lines: then, as it would read. None where it would read something else. `text_of`: what a file
        held when it had a digest, if that is known; `settled`: modules are known to be where they were."""
        files = self.files
        if not (
            (record.strategies, record.clusters, record.jax) == (files.strategies, files.clusters, files.jax)
            and record.roots == files.roots_digest
            and all(map(self._is_there, record.reads))
        ):
            return None
        shifts: dict[str, FileShift] = {}
        reads = []
        for read in record.reads:
            now = self._same(read) or self._shifted(read, text_of, shifts)
            if now is None:
                return None
            reads.append(now)
        if not (settled or self._finds(record)):
            return None
        if reads == record.reads:
            return record
        return moved(record, reads, shifts)

    def _finds(self, record: Record) -> bool:
        """Whether the modules that were looked for are where they were."""
        files = self.files
        return (
            all(_lacks(files, folder, names) for folder, names in record.absent.items())
            and all(files.offering(first) == found for first, found in record.offered.items())
            and self._modules.hold(record.names)
        )

    def _shifted(self, read: Read, text_of: TextOf, shifts: dict[str, FileShift]) -> Read | None:
        """What was read of a file, where its comments, docstrings and blank lines have changed, or definitions that
        were not read, and nothing else; how, is noted among the `shifts`."""
        key = read.path, read.digest, read.whole
        if key not in self._shifts:
            self._shifts[key] = self._shift(read, text_of)
        shift = self._shifts[key]
        if shift is None:
            return None
        shifts[read.path] = shifts[shift.after.source.display] = shift
        return moved_read(read, shift)

    def _shift(self, read: Read, text_of: TextOf) -> FileShift | None:
        text = text_of(read.path, read.digest) if read.checked else None
        loaded = None if text is None else self.files.load(Path(read.path))
        if text is None or loaded is None or loaded.file is None or loaded.trouble:
            return None
        source = loaded.file.source
        if source.digest != self.digest(read.path):  # written to while it was read
            return None
        return FileShift.between(replace(source, text=text, digest=read.digest), loaded.file, whole=read.whole)

    def _is_there(self, read: Read) -> bool:
        """Whether a file is what it was to the run, and found under the same name."""
        now = self._there.get(read.path)
        if now is None:
            path = Path(read.path)
            name, root = self.files.dotted_name(path)
            now = self._there[read.path] = name, str(root), path in self.files.checked, read.path in self.known
        return now == (read.name, read.root, read.checked, read.known)

    def _same(self, read: Read) -> Read | None:
        """What was read of a file, if that is the same on the same lines."""
        if self.digest(read.path) == read.digest:
            return read
        file = None if read.whole else self.files.load(Path(read.path)).file
        if (
            file is not None
            and file.interface == read.interface
            and all(file.state_of(Stretch(first, last)) == state for first, last, state in read.stretches)
            and all(file.holders_of(word) == holders for word, holders in read.words)
        ):
            return msgspec.structs.replace(read, digest=file.source.digest)
        return None


@dataclass(frozen=True)
class _Left:
    """A record of a session, the session's epoch when it held last, and the texts of its files, unless a folder has
    them."""

    record: Record
    epoch: int
    texts: Texts

    @cached_property
    def transcript(self) -> Transcript:
        return Transcript.of(self.record.rounds)


def _lacks(files: Files, folder: str, names: Iterable[str]) -> bool:
    return all(files.lacks(folder, name) for name in names)


def _earlier(key: str) -> str:
    """The key for what another key had before."""
    return key_of((key, "earlier"))


class Records:
    """The records of the partitions of one run, and the texts of their files. `settings`: what findings depend on
    besides files; `shares`: the files of each partition."""

    def __init__(
        self,
        cache: Cache | Memory,
        settings: Iterable[str],
        shares: Sequence[tuple[Path, ...]],
        rounds: int,
        world: World,
        session: Session | None = None,
    ) -> None:
        self._folder, self._world, self._rounds = cache.parts, world, rounds if len(shares) > 1 else 0
        self._session = session
        self._texts = cache.texts
        common = (*settings, os.getcwd(), str(self._rounds))
        # The same while the files of the partition are, whatever is in them.
        self._keys = {share: key_of((*common, *map(str, share))) for share in shares}
        self._share_of = {str(path): share for share in shares for path in share}
        self._texts_of: dict[tuple[Path, ...], tuple[Texts, ...]] = {}

    def load(self, share: tuple[Path, ...]) -> Record | None:
        """The record of a partition, if there is a sound one and the partition would find now what it found then."""
        for record, settled in self._found(self._keys[share]):
            sound = len(record.rounds) == self._rounds and self._world.knows(record)
            now = self._world.as_it_is_now(record, self._text_of, settled) if sound else None
            if now is record:
                self._leave(share, now)
            elif now is not None:
                texts = self._texts_now(share, record)
                self._leave(share, now, texts, moved_from=record)
                # Of those that moved, most only read a file that did: their own texts are there already.
                kept = next(iter(self._loaded_texts(share)), None)
                self._store(share, now, None if texts == kept else texts)
            if now is not None:
                return now
        return None

    def _found(self, key: str) -> Iterator[tuple[Record, bool]]:
        """What earlier runs left under a key, those of this process and the last two of others; and whether modules
        are known to be where it has them."""
        if self._session is not None:
            for left in tuple(self._session.left.get(key, ())):
                yield left.record, left.epoch == self._session.epoch
        for one in (key, _earlier(key)):
            data = None if self._folder is None else self._folder.load(one)
            with contextlib.suppress(msgspec.DecodeError, RecursionError):  # damaged or not ours
                if data is not None:
                    yield msgspec.json.decode(data, type=Record), False

    def _leave(
        self, share: tuple[Path, ...], record: Record, texts: Texts | None = None, moved_from: Record | None = None
    ) -> None:
        """Keep a record for the next runs of this process, beside that of other code that was there before."""
        if self._session is None:
            return
        kept, key = self._session.left, self._keys[share]
        left: list[_Left] = kept.pop(key, [])
        kept[key] = left  # behind those that were needed before
        if len(kept) > _PARTITIONS_LEFT:
            del kept[next(iter(kept))]
        now = next((one for one in left if one.record is record), None)
        if now is None or now.epoch != self._session.epoch:
            known = now.texts if now is not None else texts if texts is not None and self._texts is None else {}
            now = _Left(record, self._session.epoch, known)
        others = [one for one in left if one.record is not record and one.record is not moved_from]
        left[:] = [now, *others[: _LEFT - 1]]

    def transcript(self, share: tuple[Path, ...], record: Record) -> Transcript:
        """What a partition that left a record has sent and asked; a session knows it from the last run."""
        left: list[_Left] = [] if self._session is None else self._session.left.get(self._keys[share], [])
        known = next((one.transcript for one in left if one.record is record), None)
        return Transcript.of(record.rounds) if known is None else known

    def latest_transcript(self, share: tuple[Path, ...]) -> Transcript:
        """What a partition sent and asked when it was recorded last, whatever it read; nothing where it never was."""
        records = (record for record, _ in self._found(self._keys[share]))
        sound = next((record for record in records if len(record.rounds) == self._rounds), None)
        return Transcript() if sound is None else self.transcript(share, sound)

    def _texts_now(self, share: tuple[Path, ...], record: Record) -> Texts:
        """The texts of a partition's files, which are as they were when a record was made, or whose lines have
        moved."""
        digests = {read.path: read.digest for read in record.reads}
        own = ((path, digest, self._text_of(path, digest)) for path in map(str, share) if (digest := digests.get(path)))
        return {path: self._world.text_now(path, digest, text) for path, digest, text in own if text is not None}

    def _text_of(self, path: str, digest: str) -> str | None:
        """What a file held when its partition was recorded, if it had this digest then."""
        share = self._share_of.get(path)
        if share is None:
            return None
        left: list[_Left] = [] if self._session is None else self._session.left.get(self._keys[share], [])
        versions = (texts.get(path, ("", "")) for texts in (*(one.texts for one in left), *self._loaded_texts(share)))
        return next((text for kept, text in versions if kept == digest), None)

    def _loaded_texts(self, share: tuple[Path, ...]) -> tuple[Texts, ...]:
        if share not in self._texts_of:
            key, texts = self._keys[share], self._texts
            self._texts_of[share] = () if texts is None else (texts.load(key), texts.load(_earlier(key)))
        return self._texts_of[share]

    def store(self, share: tuple[Path, ...], record: Record) -> None:
        """Keep a record, with the texts of its files, unless it cannot be written (a path that is not Unicode); beside
        it the one before: an edit may be taken back, or a branch left again."""
        texts = self._world.texts(share)
        self._leave(share, record, texts)
        key, used = self._keys[share], self._keys.values()
        if self._folder is not None and self._texts is not None and (data := self._folder.load(key)) is not None:
            self._folder.store(_earlier(key), data, used)
            self._texts.store(_earlier(key), self._texts.load(key), used)
        self._store(share, record, texts)

    def _store(self, share: tuple[Path, ...], record: Record, texts: Texts | None) -> None:
        """Write a record; `texts` is None where those of its files are what they were."""
        if self._folder is not None and self._texts is not None:
            with contextlib.suppress(UnicodeEncodeError):
                self._folder.store(self._keys[share], msgspec.json.encode(record), self._keys.values())
                if texts is not None:
                    self._texts.store(self._keys[share], texts, self._keys.values())
