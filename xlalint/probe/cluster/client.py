"""A run on a cluster: the functions are tasks of a Dask scheduler, which chooses the workers that run them."""

from __future__ import annotations

import logging
import os
import sys
import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from queue import Empty, Queue
from threading import Event
from typing import Any, Final
from uuid import uuid4

import dask
import msgspec
from distributed import Client, Future, LocalCluster
from distributed.scheduler import KilledWorker

from ...cache.keys import content_digest
from ...settings.config import ProbeSettings
from ..interpreters import versions_of
from ..pool import interrupting, used_up
from ..process import Interpreter, Limits, ProbeUnavailableError
from ..protocol import Outcome, Plan
from ..target import Target
from . import remote
from .gone import ClusterGoneError
from .snapshot import Snapshot

LOCAL: Final = "local"  # instead of an address: a cluster is started here
_PATIENCE: Final = 30.0  # seconds for the scheduler to answer, and for a first worker
_POLL: Final = 0.2
_CLOSE: Final = 5.0  # seconds
_MOST_LOCAL: Final = 8  # workers, each with a process that holds TensorFlow
# Of a cluster that is started here. A function may end three workers; a worker that is not heard of is taken for dead.
_ENGINE: Final = {"distributed.scheduler.allowed-failures": 2, "distributed.scheduler.worker-ttl": "60 s"}
_AGREE: Final[tuple[str, ...]] = ("tensorflow", "tensorflow-cpu", "keras", "tf-keras")  # what decides what XLA is asked


@contextmanager
def connected(
    address: str, settings: ProbeSettings, limits: Limits, plan: Plan, told: Callable[[str], None]
) -> Iterator[Cluster]:
    """A cluster to run targets on; `told` hears in a line what there is. Raises ProbeUnavailableError where no
    scheduler answers or it has no workers, and where these do not have what is asked for."""
    with scheduler(address) as client:
        cluster = Cluster(client, settings, limits, plan)
        told(workers_of(client))
        yield cluster


@contextmanager
def scheduler(address: str) -> Iterator[Client]:
    """A scheduler with a worker at least. Raises ProbeUnavailableError where none answers, or it has none."""
    with ExitStack() as stack:
        if address == LOCAL:
            stack.enter_context(dask.config.set(_ENGINE))
            processes = min(os.cpu_count() or 1, _MOST_LOCAL)
            started = LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,  # what goes wrong is told of the function that it happened to
            )
            where: Any = stack.enter_context(started)
        else:
            where = address
        try:
            client = Client(where, timeout=_PATIENCE, set_as_default=False)
            stack.callback(client.close, timeout=_CLOSE)
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise ProbeUnavailableError(f"--cluster {address}: {_line(error) or 'it has no workers'}") from error
        except (OSError, ValueError, TypeError) as error:  # what the engine raises of a name, a port, a certificate
            raise ProbeUnavailableError(f"--cluster {address}: {_line(error)}") from error
        yield client


def workers_of(client: Client) -> str:
    """A line that says what a scheduler has."""
    workers = client.scheduler_info()["workers"].values()
    at_once = sum(worker["nthreads"] for worker in workers)
    return f"{len(workers)} workers run {at_once} functions at once; dashboard: {client.dashboard_link}"


class Cluster:
    """Runs targets on the workers of a scheduler. Raises ProbeUnavailableError where they do not agree on what runs the
    code; `identity` says what does."""

    def __init__(self, client: Client, settings: ProbeSettings, limits: Limits, plan: Plan) -> None:
        self._client, self._limits, self._plan = client, limits, plan
        self._given = {name: os.environ[name] for name in settings.environment if name in os.environ}
        self._settings = replace(settings, cluster=None, environment=(), inputs={})
        self._stop = Event()
        self._refused: set[str] = set()  # workers that came later, with other versions
        self.identity = self._agreed()

    def _agreed(self) -> str:
        told = self._client.run(remote.machine, self._settings, on_error="return")
        here = versions_of(Interpreter(self._settings.python or sys.executable))
        expected, whose = {name: here[name] for name in _AGREE if name in here}, "here"
        identities = set()
        for address, machine in sorted(told.items()):
            match machine:
                case remote.Machine(content=content) if content != content_digest():
                    raise _unusable(address, "has another version of xlalint than this machine")
                case remote.Machine(versions=versions):
                    has = {name: versions[name] for name in _AGREE if name in versions}
                    if expected and has != expected:
                        raise _unusable(address, f"has {_named(has)}, and {whose} there is {_named(expected)}")
                    expected, whose = has, f"on {address}"
                    identities.add(machine.identity)
                case _:
                    raise _unusable(address, f"cannot run the probe: {_line(machine)}")
        return "\n".join(sorted(identities))

    def run(
        self,
        targets: Sequence[Target],
        done: Callable[[int, Outcome], None],
        originals: Mapping[int, Target] | None = None,
    ) -> None:
        """Run all targets, as a pool does. Raises ProbeUnavailableError and ClusterGoneError; however it is left, the
        workers forget the project, and what still runs there ends within its limits."""
        originals = originals or {}
        snapshot = Snapshot.of([*targets, *originals.values()])
        name = f"xlalint-{snapshot.digest[:16]}-{uuid4().hex[:8]}"
        self._client.register_plugin(remote.Snapshots(name, snapshot.archive, snapshot.digest), name=name)
        try:
            with interrupting(self._stop):
                self._wait(snapshot, self._tasks(name, snapshot, targets, originals), done)
        finally:
            if self._client.status == "running":
                self._client.unregister_worker_plugin(name)

    def _tasks(
        self, name: str, snapshot: Snapshot, targets: Sequence[Target], originals: Mapping[int, Target]
    ) -> dict[int, remote.Task]:
        def data(target: Target | None) -> Any:
            return None if target is None else snapshot.placed(target.to_json())

        return {
            index: remote.Task(
                name, data(target), data(originals.get(index)), self._settings, self._given, self._plan, self._limits,
                self.identity,
            )
            for index, target in enumerate(targets)
        }  # fmt: skip

    def _wait(self, snapshot: Snapshot, tasks: dict[int, remote.Task], done: Callable[[int, Outcome], None]) -> None:
        """Have the tasks run, and tell of each when it ends.

        The engine suspects every task that a worker had when it died. Those that it gives up run once more, one by one:
        what ends workers then does so itself.
        """
        deadline = time.monotonic() + self._limits.total
        ended: Queue[tuple[int, Future[Any]]] = Queue()
        running: dict[int, Future[Any]] = {}
        suspects: deque[int] = deque()
        alone: int | None = None

        def submit(index: int) -> None:
            running[index] = self._submitted(tasks[index])
            running[index].add_done_callback(lambda future: ended.put((index, future)))

        for index in tasks:
            submit(index)
        try:
            while (running or suspects) and not self._stop.is_set():
                if not running:
                    alone = suspects.popleft()
                    submit(alone)
                try:
                    index, future = ended.get(timeout=_POLL)
                except Empty:
                    self._still_there()
                    if time.monotonic() > deadline:
                        for index in sorted({*running, *suspects}):
                            done(index, used_up(self._limits))
                        return
                    continue
                self._still_there()
                del running[index]
                match found := self._outcome(future, snapshot):
                    case Outcome():
                        done(index, found)
                    case KilledWorker() if index == alone:
                        done(index, Outcome(not_run=_deaths(found.allowed_failures + 1)))
                    case KilledWorker():
                        suspects.append(index)
                    case remote.OtherVersionsError():
                        self._refused.add(found.address)
                        submit(index)
        finally:
            if self._client.status == "running":
                self._client.cancel(list(running.values()))

    def _submitted(self, task: remote.Task) -> Future[Any]:
        """A task on its way to a worker that may run it."""
        allowed = None
        if self._refused:
            allowed = [one for one in self._client.scheduler_info()["workers"] if one not in self._refused]
        return self._client.submit(remote.outcome, task, pure=False, workers=allowed)

    def _still_there(self) -> None:
        if self._client.status != "running":
            raise ClusterGoneError("the scheduler of the cluster is gone; a new run continues from here")

    def _outcome(self, future: Future[Any], snapshot: Snapshot) -> Outcome | KilledWorker | remote.OtherVersionsError:
        """The outcome of a task, or why it is to be run once more. Where its worker died with the outcome, it is run
        again by the engine, and waited for."""
        try:
            return msgspec.convert(snapshot.at_home(future.result()), Outcome)
        except (KilledWorker, remote.OtherVersionsError) as error:
            return error
        except ProbeUnavailableError:
            raise
        except (Exception, CancelledError) as error:
            self._still_there()
            return Outcome(not_run=f"a worker of the cluster failed: {_line(error)}")


def _unusable(address: str, why: str) -> ProbeUnavailableError:
    return ProbeUnavailableError(f"the worker {address} {why}")


def _deaths(workers: int) -> str:
    who, they = ("1 worker", "it") if workers == 1 else (f"{workers} workers", "they")
    return f"{who} of the cluster ended while {they} ran it"


def _named(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items())) or "no TensorFlow"


def _line(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__
