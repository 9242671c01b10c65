"""Runs trials in processes of their own, so that one that dies or does not end is an answer as well."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .trial import complaints


@dataclass(frozen=True, slots=True)
class Trial:
    """A file to try: what it is called, what it holds, and what was done to make it."""

    number: int
    name: str
    data: bytes
    done: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a trial; `seconds` of processor time."""

    trial: Trial
    seconds: float
    complaints: list[str] = field(default_factory=list)


def run(
    numbers: Iterable[int], make: Callable[[int], tuple[str, bytes, tuple[str, ...]]], folder: Path, limit: float
) -> Iterator[Outcome]:
    """The outcomes of trials, one after another. Many are made in one process; after one that is lost, the next."""
    pending = list(numbers)
    while pending:
        answers, process = _started(pending, make, folder, limit)
        asked = False
        try:
            with os.fdopen(answers, "rb") as stream:
                while pending:
                    try:
                        outcome = pickle.load(stream)
                    except (EOFError, pickle.UnpicklingError):
                        break
                    del pending[0]
                    yield outcome
        except GeneratorExit:
            asked = True
            os.kill(process, signal.SIGKILL)
        finally:
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if asked:
            return
        if pending:
            said = f"the process ended with {signal.Signals(-status).name if status < 0 else status}"
            yield Outcome(Trial(pending[0], *make(pending.pop(0))), limit, [said])


def _started(
    numbers: list[int], make: Callable[[int], tuple[str, bytes, tuple[str, ...]]], folder: Path, limit: float
) -> tuple[int, int]:
    """A process that makes the trials: where its answers can be read, and its id."""
    answers, there = os.pipe()
    process = os.fork()
    if process:
        os.close(there)
        return answers, process
    os.close(answers)
    try:
        os.chdir(folder)
        with os.fdopen(there, "wb") as stream:
            _try_all(numbers, make, folder, limit, stream)
    except BaseException:  # this process is not to go on as its parent
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _try_all(
    numbers: list[int],
    make: Callable[[int], tuple[str, bytes, tuple[str, ...]]],
    folder: Path,
    limit: float,
    stream: IO[bytes],
) -> None:
    for number in numbers:
        started = time.process_time()
        # A process that takes twice as long as it may is killed.
        resource.setrlimit(resource.RLIMIT_CPU, (int(started + 2 * limit) + 1, resource.RLIM_INFINITY))
        trial = Trial(number, *make(number))
        found = _tried(trial, folder)
        seconds = time.process_time() - started
        if seconds > limit:
            found.append(f"{seconds:.1f} s of processor time")
        pickle.dump(Outcome(trial, seconds, found), stream)
        stream.flush()


def _tried(trial: Trial, folder: Path) -> list[str]:
    path = folder / trial.name
    try:
        path.write_bytes(trial.data)
        return complaints(path)
    except BaseException:  # whatever it is: the linter let it through
        return [traceback.format_exc()]
    finally:
        path.unlink(missing_ok=True)
