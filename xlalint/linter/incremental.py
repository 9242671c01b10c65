"""What partitions of an analysis leave for the next run: what each read and asked, what it sent, and what it found.

A partition is not run again while it would read the same and be answered the same: nothing else goes into what it
finds, and the order in which it works follows from that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from ..analysis.files.dependencies import Reads
from ..analysis.files.files import Files
from ..analysis.files.troubles import InternalTrouble, SyntaxTrouble
from ..analysis.fixpoint.partitions import ROUNDS, Message, Messages, Round
from ..analysis.program.exposure import ModuleSigns
from ..cache.keys import key_of
from ..findings.findings import Finding
from ..sources.outline import Stretch
from ..sources.reading import Strategies
from .cache import Cache
from .dispatch import Candidate

_NOTHING: Final = ""  # the digest of what could not be read


class Read(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """What was read of one file. `checked`: it is one of those to check; `known`: of those, or beside them in their
    project; `whole`: all of it was read, else its names (`interface`) and the digests of some definitions."""

    path: str
    digest: str
    name: str
    root: str
    checked: bool
    known: bool
    whole: bool
    interface: str = ""
    stretches: list[tuple[int, int, str]] = []


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """A partition as it was run: what it sent and asked, what it found, and what it read for that. `names`, `absent`
    and `offered`: as in `Reads`; `roots`: the folders that modules were looked for in, as a digest; `strategies`,
    `clusters`: as in `Files`; `tpu`: a strategy for TPUs is made there; `modules`: what its files show of whether XLA
    compiles them."""

    rounds: list[Round]
    candidates: list[Candidate]
    trouble: list[SyntaxTrouble]
    tpu: bool = False
    modules: list[ModuleSigns] = []
    strategies: Strategies = Strategies.NONE
    clusters: bool = False
    roots: str = ""
    reads: list[Read] = []
    names: list[tuple[str, str, str]] = []
    absent: dict[str, list[str]] = {}
    offered: dict[str, str] = {}

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


@dataclass(frozen=True, slots=True)
class World:
    """What the partitions of a run may read. `known`: the absolute paths of the files to check and of those beside
    them, and their paths as reports show them; `digest`: of a file as it is now, by its absolute path, None where it
    cannot be read."""

    files: Files
    known: Collection[str]
    digest: Callable[[str], str | None]
    _modules: dict[tuple[str, str], str] = field(default_factory=dict, init=False)

    def describe(self, record: Record, reads: Reads, share: Iterable[Path]) -> None:
        """Write into a record what the partition read; its own files, the `share`, as a whole."""
        own = set(share)
        record.strategies, record.clusters = self.files.strategies, self.files.clusters
        record.roots = self.files.roots_digest
        record.reads = [self._read(path, reads, path in own) for path in dict.fromkeys((*own, *reads.files))]
        record.names = [(str(folder), name, str(found or "")) for (folder, name), found in reads.names.items()]
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
        return made

    def knows(self, record: Record) -> bool:
        """Whether what was found is about files of the run."""
        return all(candidate.finding.path in self.known for candidate in record.candidates)

    def reads_the_same(self, record: Record) -> bool:
        """Whether a partition that is run now would read what it read when it was recorded."""
        files = self.files
        return (
            (record.strategies, record.clusters) == (files.strategies, files.clusters)
            and record.roots == files.roots_digest
            and all(map(self._is_same, record.reads))
            and all(files.lacks(Path(folder), name) for folder, names in record.absent.items() for name in names)
            and all(files.offering(first) == found for first, found in record.offered.items())
            and all(self._module(folder, name) == found for folder, name, found in record.names)
        )

    def _module(self, folder: str, name: str) -> str:
        """The file of a module below a folder, or nothing. Partitions ask for the same ones again and again."""
        key = folder, name
        if key not in self._modules:
            self._modules[key] = str(self.files.sought(Path(folder), name) or "")
        return self._modules[key]

    def _is_same(self, read: Read) -> bool:
        path = Path(read.path)
        if read.checked != (path in self.files.checked) or read.known != (read.path in self.known):
            return False
        name, root = self.files.dotted_name(path)
        if (name, str(root)) != (read.name, read.root):
            return False
        if self.digest(read.path) == read.digest:
            return True
        file = None if read.whole else self.files.load(path).file
        return (
            file is not None
            and file.interface == read.interface
            and all(file.state_of(Stretch(first, last)) == state for first, last, state in read.stretches)
        )


class Records:
    """The records of the partitions of one run. `settings`: what findings depend on besides files; `shares`: the files
    of each partition."""

    def __init__(self, cache: Cache, settings: Iterable[str], shares: Sequence[tuple[Path, ...]], world: World) -> None:
        self._folder, self._world, self._rounds = cache.parts, world, ROUNDS if len(shares) > 1 else 0
        common = (*settings, os.getcwd(), str(self._rounds))
        # The same while the files of the partition are, whatever is in them.
        self._keys = {share: key_of((*common, *map(str, share))) for share in shares}

    def load(self, share: tuple[Path, ...]) -> Record | None:
        """The record of a partition, if there is a sound one and the partition would read now what it read then."""
        data = self._folder.load(self._keys[share])
        try:
            record = None if data is None else msgspec.json.decode(data, type=Record)
        except (msgspec.DecodeError, RecursionError):  # damaged or not ours: the partition is run
            return None
        sound = record is not None and len(record.rounds) == self._rounds and self._world.knows(record)
        return record if record is not None and sound and self._world.reads_the_same(record) else None

    def store(self, share: tuple[Path, ...], record: Record) -> None:
        """Keep a record, unless it cannot be written (a path that is not Unicode)."""
        with contextlib.suppress(UnicodeEncodeError):
            self._folder.store(self._keys[share], msgspec.json.encode(record), self._keys.values())
