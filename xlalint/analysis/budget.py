"""What each file may cost: an analysis that takes too long is given up, and the rest of the run goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from time import thread_time
from typing import Final

_EVERY: Final = 64  # steps: to ask the system for the time is dear
_STEPS: Final = 25_000  # of the analysis that stand for a second
_PATIENCE: Final = 4.0  # the processor time that the steps of a second may take at most


class Work(Enum):
    """What is done about a file, and up to which share of its time."""

    ANALYSIS = 0.6
    RULES = 0.8
    FIXES = 1.0


@dataclass(slots=True)
class Spent:
    """What runs that follow each other have taken of the time of the same files: seconds as `Clock` has them, and the
    files that took too long."""

    seconds: dict[str, float] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)

    def add(self, path: str, seconds: float) -> None:
        """Let a file pay for more."""
        self.seconds[path] = self.seconds.get(path, 0.0) + seconds


class OutOfTimeError(BaseException):
    """A file has had its time. No `Exception`: those cost one statement, and this one costs the rest of the file."""


class Clock:
    """Seconds by file, of which each may take `limit`; what a file has others do is its own. Those of the analysis are
    counted in steps, not measured, so that what is found depends neither on the machine nor on what else it does; those
    of rules and fixes are processor time. `before`: what they have taken already."""

    def __init__(self, limit: float = math.inf, before: Mapping[str, float] | None = None) -> None:
        self.limit: Final = limit
        self.given_up: dict[str, None] = {}  # the files that took too long
        self.seconds: dict[str, float] = {}
        self._before = before or {}
        self._steps = 0
        self._last_step = self._deadline = math.inf

    def check(self) -> None:
        """Count a step; raise OutOfTimeError where the file that is at work has had its time."""
        self._steps += 1
        if self._steps > self._last_step or (self._steps % _EVERY == 0 and thread_time() > self._deadline):
            raise OutOfTimeError

    @contextmanager
    def spent_on(self, path: str, work: Work) -> Iterator[None]:
        """Let a file pay for what is done inside; it ends early where that takes too long. Work inside of other work
        is paid for by its own file, and then by the other one's."""
        started, first, outer = thread_time(), self._steps, (self._last_step, self._deadline)
        left = self.limit - self._before.get(path, 0.0)
        allowed = left * work.value - self.seconds.get(path, 0.0)
        counted = work is Work.ANALYSIS
        self._last_step = min(outer[0], first + allowed * _STEPS if counted else math.inf)
        self._deadline = min(outer[1], started + allowed * (_PATIENCE if counted else 1.0))
        try:
            yield
        except OutOfTimeError:
            self.given_up[path] = None
            if self._steps > outer[0] or thread_time() > outer[1]:
                raise
        finally:
            took = (self._steps - first) / _STEPS if counted else thread_time() - started
            self.seconds[path] = self.seconds.get(path, 0.0) + took
            self._last_step, self._deadline = outer
