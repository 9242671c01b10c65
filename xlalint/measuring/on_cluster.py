"""Measures callables on the workers of a Dask scheduler, in processes of their own there, as `driver` has them here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeAlias
from uuid import uuid4

from distributed import Client, Worker, WorkerPlugin, as_completed
from distributed.scheduler import KilledWorker

from xlalint.cache.keys import content_digest
from xlalint.measuring.driver import Driver, Measured, Rows, timed
from xlalint.measuring.registry import installed
from xlalint.probe.cluster.client import scheduler, workers_of
from xlalint.probe.process import ProbeUnavailableError

_Versions: TypeAlias = tuple[str, dict[str, str]]
_LEFT: Final = 1_000  # callables that the scheduler has at a time


@dataclass(frozen=True, slots=True)
class Job:
    """A callable to measure. `versions`: of xlalint, by content, and of the packages that decide what is measured."""

    run: str
    versions: _Versions
    name: str
    plan: Mapping[str, Any] | None
    task: str
    backend: str


class Drivers(WorkerPlugin):
    """The processes of a worker that measure, one for each callable at a time; they end when the run does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def setup(self, worker: Worker) -> None:
        """The worker begins, or the run does."""
        _idle[self.name] = []

    def teardown(self, worker: Worker) -> None:
        """The worker ends, or the run does."""
        with _lock:
            drivers = _idle.pop(self.name, [])
        for driver in drivers:
            driver.close()


_idle: dict[str, list[Driver]] = {}  # by the run that they are of
_lock = Lock()


def versions() -> _Versions:
    """What a machine measures, and with what."""
    return content_digest(), installed()


def measured(job: Job) -> Measured:
    """What is measured of a callable on this worker. Raises ProbeUnavailableError where it would be something else than
    where the run began."""
    if versions() != job.versions:
        raise ProbeUnavailableError(_told_apart(job.versions, versions()))
    with _lock:
        driver = _idle[job.run].pop() if _idle[job.run] else Driver(backend=job.backend)
    try:
        return timed(driver, job.name, job.plan, job.task)
    finally:
        with _lock:
            idle = _idle.get(job.run)
            if idle is not None:
                idle.append(driver)
        if idle is None:
            driver.close()


def rows(address: str, names: Sequence[str], known: Mapping[str, Any], task: str, backend: str) -> Rows:
    """What workers measure of callables, as it comes. Raises ProbeUnavailableError where there is no cluster, or one
    with other versions than are here."""
    run, here = f"xlalint-measuring-{uuid4().hex[:8]}", versions()
    with scheduler(address) as client:
        for worker, there in client.run(versions, on_error="return").items():
            if there != here:
                raise ProbeUnavailableError(f"the worker {worker}: {_told_apart(here, there)}")
        print(workers_of(client), flush=True)
        client.register_plugin(Drivers(run), name=run)
        try:
            jobs = [Job(run, here, name, known.get(name), task, backend) for name in names]
            yield from _completed(client, jobs)
        finally:
            if client.status == "running":
                client.unregister_worker_plugin(run)


def _completed(client: Client, jobs: Sequence[Job]) -> Iterator[tuple[str, Measured]]:
    """What is measured, as it comes, and not all of it asked for at once."""
    waiting = iter(jobs)
    names: dict[str, str] = {}

    def submitted(job: Job) -> Any:
        future = client.submit(measured, job, pure=False)
        names[str(future.key)] = job.name
        return future

    first = [submitted(job) for job in islice(waiting, _LEFT)]
    asked = as_completed(first, loop=client.loop)
    for future in asked:
        name = names.pop(str(future.key))
        try:
            yield name, future.result()
        except KilledWorker as error:
            yield name, Measured({"untested": f"the worker died {error.allowed_failures + 1} times"}, 0.0)
        if (job := next(waiting, None)) is not None:
            asked.add(submitted(job))


def _told_apart(here: _Versions, there: object) -> str:
    match there:
        case (str(content), dict(packages)) if content == here[0]:
            return f"it has {packages}, and here there is {here[1]}"
        case (str(), dict()):
            return "it has another version of xlalint than this machine"
        case _:
            return " ".join(str(there).split())
