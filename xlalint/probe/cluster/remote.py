"""What a worker of the engine does. It never imports the code that is checked: that runs in a process of its own, which
lives on for the next function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from threading import Lock, Timer
from typing import Any, Final

import msgspec
from distributed import Worker, WorkerPlugin, get_worker

from ...cache.keys import content_digest
from ...settings.config import ProbeSettings
from ...sources.scratch import Scratch
from ..interpreters import identity, interpreter_of, versions_of
from ..pool import Slot
from ..process import Interpreter, Limits
from ..protocol import Plan
from ..target import Target
from .snapshot import in_folder, out_of_folder, unpack

_IDLE: Final = 120.0  # seconds after which processes that nobody asks are ended


@dataclass(frozen=True, slots=True)
class Machine:
    """What a worker has: its xlalint by content, the identity of the interpreter that runs the code, and the versions
    of Python and of the libraries there."""

    content: str
    identity: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """One function to run: `target` and `original` as JSON's types with paths as in the snapshot; `given`: the
    variables of the environment that the settings let through; `identity`: of the interpreters that it is meant for."""

    snapshot: str
    target: dict[str, Any]
    original: dict[str, Any] | None
    settings: ProbeSettings
    given: dict[str, str]
    plan: Plan
    limits: Limits
    identity: str


class OtherVersionsError(Exception):
    """The worker at `address` came later, and has other versions than those that the run began with."""

    @property
    def address(self) -> str:
        return str(self.args[0])


def machine(settings: ProbeSettings) -> Machine:
    """What this worker would run code with. Raises ProbeUnavailableError."""
    interpreter = _interpreter(_key(settings))
    return Machine(content_digest(), _identity(_key(settings)), versions_of(interpreter))


def outcome(task: Task) -> dict[str, Any]:
    """Run one function; its outcome as JSON's types with paths as in the snapshot.

    Raises ProbeUnavailableError and OtherVersionsError.
    """
    if _identity(_key(task.settings)) not in task.identity.split("\n"):
        raise OtherVersionsError(get_worker().address)
    interpreter = _interpreter(_key(task.settings))
    interpreter = replace(interpreter, fixed={**interpreter.fixed, **task.given})
    unpacked = _unpacked[task.snapshot]
    target, original = (
        None if data is None else Target.of_json(in_folder(data, unpacked.folder))
        for data in (task.target, task.original)
    )
    assert target is not None
    slot = unpacked.slot(interpreter)
    try:
        found = slot.outcome(target, task.plan, task.limits, original)
    finally:
        unpacked.give_back(slot)
    result: dict[str, Any] = out_of_folder(msgspec.to_builtins(found), unpacked.folder)
    return result


def _key(settings: ProbeSettings) -> bytes:
    return msgspec.json.encode(settings)


@cache
def _interpreter(settings: bytes) -> Interpreter:
    return interpreter_of(msgspec.json.decode(settings, type=ProbeSettings))


@cache
def _identity(settings: bytes) -> str:
    return identity(_interpreter(settings))


class Unpacked:
    """A snapshot on this machine, and the processes that have run code of it."""

    def __init__(self, archive: bytes, digest: str) -> None:
        self._scratch = Scratch()
        self.folder = self._scratch.name
        unpack(archive, digest, self.folder)
        self._lock = Lock()
        self._idle: list[Slot] = []
        self._timer: Timer | None = None

    def slot(self, interpreter: Interpreter) -> Slot:
        """A process that is free, else a new one."""
        with self._lock:
            self._stop_timer()
            return self._idle.pop() if self._idle else Slot(interpreter)

    def give_back(self, slot: Slot) -> None:
        """A process is free."""
        with self._lock:
            self._idle.append(slot)
            self._stop_timer()
            self._timer = Timer(_IDLE, self.end_processes)
            self._timer.daemon = True
            self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end_processes(self) -> None:
        """End the processes that are free."""
        with self._lock:
            self._stop_timer()
            slots, self._idle = self._idle, []
        for slot in slots:
            slot.close()

    def close(self) -> None:
        """End the processes, and remove the files."""
        self.end_processes()
        self._scratch.cleanup()


_unpacked: dict[str, Unpacked] = {}


class Snapshots(WorkerPlugin):
    """Has each worker unpack a snapshot, also those that come later, and forget it when the run is over."""

    def __init__(self, name: str, archive: bytes, digest: str) -> None:
        self.name, self._archive, self._digest = name, archive, digest

    def setup(self, worker: Worker) -> None:
        """The worker begins, or the run does."""
        _unpacked[self.name] = Unpacked(self._archive, self._digest)

    def teardown(self, worker: Worker) -> None:
        """The worker ends, or the run does."""
        if (found := _unpacked.pop(self.name, None)) is not None:
            found.close()
