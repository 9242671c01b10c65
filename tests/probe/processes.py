"""Processes of the probe that one run after another takes, for tests of what is found: each imports TensorFlow or JAX
once. How processes begin and end is tested without this."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from xlalint.probe.pool import Slot
from xlalint.probe.process import Interpreter, Limits, Worker


class Processes:
    """Those that no run has at the moment, by what they were started with."""

    def __init__(self) -> None:
        # A process is killed when the thread ends that has started it: those of a run end with the run.
        self._starter = ThreadPoolExecutor(1)
        self._idle: defaultdict[str, list[Worker]] = defaultdict(list)
        self._lent: dict[Worker, str] = {}

    def lend(self, interpreter: Interpreter, stop: Event | None = None) -> Worker:
        """As a new one: one that a run before had, where that is not used up."""
        started_with = f"{interpreter} {interpreter.variables()}"
        idle = self._idle[started_with]
        while idle and idle[-1].spent(Limits()):
            idle.pop().close()
        worker = idle.pop() if idle else self._starter.submit(Worker, interpreter).result()
        worker._stop = stop or Event()
        self._lent[worker] = started_with
        return worker

    def take_back(self, slot: Slot) -> None:
        """What a slot has that ends; a process that died over a function has been closed by then."""
        worker, slot._worker = slot._worker, None
        if worker is not None:
            started_with = self._lent.pop(worker)
            if not worker.dead:
                self._idle[started_with].append(worker)

    def close(self) -> None:
        """End them all."""
        for worker in (*self._lent, *(one for idle in self._idle.values() for one in idle)):
            worker.close()
        self._starter.shutdown()
