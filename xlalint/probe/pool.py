"""Many functions on several worker processes. What ends a process over one function costs that function one attempt."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event, Lock, current_thread, main_thread
from typing import Final, Protocol

from .avoided import aborted
from .interpreters import identity
from .keras_choice import KerasChoice
from .process import Interpreter, Limits, Worker, more_by
from .protocol import COMPILE, DIVERGES, LINE, LOCATE, SEARCH, Outcome, Plan, Spot
from .target import Target

_TOTAL: Final = "the setting probe.total-timeout"
_ABORTED: Final = "SIGABRT"
_AVOIDED: Final = 5  # inputs of one function that end the process
_HEARD: Final = 0.1  # seconds: a wait without end does not hear of a signal that came just before it


class Slot:
    """Runs one target after another, each on a worker process that lives: a new one where the last one died, holds too
    much, or has another backend or Keras."""

    def __init__(self, interpreter: Interpreter, stop: Event | None = None) -> None:
        self._interpreter, self._stop = interpreter, stop
        self._worker: Worker | None = None
        self._keras = KerasChoice(interpreter)

    def outcome(self, target: Target, plan: Plan, limits: Limits, original: Target | None = None) -> Outcome:
        """What becomes of a target (`original` as for a worker). Raises ProbeUnavailableError.

        Where nothing says which Keras it is for, it is run with Keras 2 if Keras 3 refuses it.
        """
        chosen = self._keras.required(target)
        found = self._tried(target, plan, limits, original, chosen.legacy)
        if original is not None:
            return chosen.said(found)
        other = self._keras.instead(target, found)
        if not other.legacy:
            return other.said(chosen.said(found))
        again = self._tried(_converted(target), plan, limits, None, legacy=True)
        # What Keras refuses twice is not for this Keras, unless one of them says more than that it lacks a module, or
        # statements were seen by themselves.
        further = again.not_run is None or not again.by_keras or "cannot be imported" in (found.not_run or "")
        further = further or len(again.observations) > len(found.observations)
        return other.said(again) if further else found

    def _tried(self, target: Target, plan: Plan, limits: Limits, original: Target | None, legacy: bool) -> Outcome:
        """Of a target that ends its process while it is compiled, with the line that does; where inputs that were only
        tried end it, others are tried."""
        first: Outcome | None = None
        restarts = 0
        while True:
            outcome = self._ready(limits, target.backend, legacy).ask(target, plan, limits, original)
            if outcome.died_at in (COMPILE, LOCATE):
                lines = self._ready(limits, target.backend, legacy).ask(
                    target, replace(plan, by_lines=outcome.died_at), limits, original
                )
                return _with_line(outcome, lines)
            if not outcome.died_at.startswith(SEARCH) or target.given or restarts >= _AVOIDED:
                return first if first is not None and outcome.not_run is not None else outcome
            first = first or outcome
            died = aborted(outcome.died_at) if _ABORTED in (outcome.not_run or "") else outcome.died_at
            target = replace(target, avoid=(*target.avoid, died))
            restarts += 1

    def _ready(self, limits: Limits, backend: str, legacy: bool) -> Worker:
        if self._worker is not None and (self._worker.spent(limits) or self._worker.kind != (backend, legacy)):
            self.close()
        if self._worker is None:
            self._worker = Worker(replace(self._interpreter, backend=backend, legacy=legacy), self._stop)
        return self._worker

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _kind(numbered: tuple[int, Target]) -> tuple[str, int]:
    return numbered[1].backend, numbered[1].keras or 0


def _converted(target: Target) -> Target:
    """A target that was to run without AutoGraph because Keras 3 calls it: Keras 2 has its own way."""
    return replace(target, keras=2, autograph=target.autograph or None)


def _with_line(outcome: Outcome, lines: Outcome) -> Outcome:
    """What was seen of a function that ended its process, with the line over which it did so again, if it did; of one
    that ended it while the line was looked for that differs, with that line."""
    if outcome.died_at == LOCATE:
        found = next((one for one in lines.observations if one.kind == DIVERGES), None)
        if found is None:
            return outcome
        placed = [
            replace(one, spots=found.spots, ops=found.ops, sources=found.sources)
            if one.kind == DIVERGES and not one.spots
            else one
            for one in outcome.observations
        ]
        return replace(outcome, observations=tuple(placed))
    if not lines.died_at.startswith(LINE):
        return outcome
    _, line, path = lines.died_at.split(" ", 2)
    *others, death = outcome.observations
    return replace(outcome, observations=(*others, replace(death, spots=(Spot(path, int(line)),))))


def used_up(limits: Limits) -> Outcome:
    """Of a function that is not begun, because the time for all is over."""
    return Outcome(not_run=f"the {limits.total:g} s for all functions were used up{more_by(_TOTAL)}")


def within(limits: Limits, left: float) -> Limits:
    """The limits of a function where so many seconds are left for all."""
    return limits if left >= limits.function else replace(limits, function=left, raised_by=_TOTAL)


class Runner(Protocol):
    """Runs targets somewhere. `identity`: of what runs the code there, which an outcome depends on."""

    @property
    def identity(self) -> str: ...

    def run(
        self,
        targets: Sequence[Target],
        done: Callable[[int, Outcome], None],
        originals: Mapping[int, Target] | None = None,
    ) -> None:
        """Run all targets; `done` hears of each in the order in which they end. `originals`: by index, a target whose
        eager results count instead of the target's own. Raises ProbeUnavailableError.

        However it is left, no worker and nothing that one started is left running.
        """


class Pool:
    """Runs targets on several worker processes of this machine."""

    def __init__(self, interpreter: Interpreter, limits: Limits, plan: Plan, processes: int = 1) -> None:
        self._interpreter, self._limits, self._plan, self._processes = interpreter, limits, plan, processes
        self._stop = Event()
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """The interpreter is asked for it."""
        return identity(self._interpreter)

    def run(
        self,
        targets: Sequence[Target],
        done: Callable[[int, Outcome], None],
        originals: Mapping[int, Target] | None = None,
    ) -> None:
        """As a runner does."""
        waiting = sorted(enumerate(targets), key=_kind)[::-1]  # those of one kind of process together
        deadline = time.monotonic() + self._limits.total

        def serve() -> None:
            slot = Slot(self._interpreter, self._stop)
            try:
                while not self._stop.is_set():
                    with self._lock:
                        if not waiting:
                            return
                        index, target = waiting.pop()
                    left = deadline - time.monotonic()
                    outcome = (
                        slot.outcome(target, self._plan, within(self._limits, left), (originals or {}).get(index))
                        if left > 0
                        else used_up(self._limits)
                    )
                    with self._lock:
                        if not self._stop.is_set() or outcome.programs:  # what took minutes is told
                            done(index, outcome)
            finally:
                slot.close()

        threads_at_once = max(1, min(self._processes, len(targets)))
        with interrupting(self._stop), ThreadPoolExecutor(threads_at_once) as threads:
            futures = [threads.submit(serve) for _ in range(threads_at_once)]
            try:
                for future in futures:
                    while wait([future], timeout=_HEARD).not_done:
                        pass
                    future.result()
            finally:
                self._stop.set()


@contextlib.contextmanager
def interrupting(stop: Event) -> Iterator[None]:
    """Ctrl-C and a request to end set `stop`, and become a KeyboardInterrupt only behind the block: raised inside of
    it, where a thread is just being started, it would lose that thread and the process that the thread watches."""
    if current_thread() is not main_thread():  # only the main thread hears of signals
        yield
        return
    heard = Event()

    def ask(number: int, frame: object) -> None:
        heard.set()
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if heard.is_set():  # whatever else was raised comes of it
            raise KeyboardInterrupt
