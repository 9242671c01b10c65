"""What each file may cost: an analysis that takes too long is given up, and the rest of the run goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from time import thread_time
from typing import Final

_EVERY: Final = 64  # questions: to ask the system for the time is dear


class Work(Enum):
    """What is done about a file, and up to which share of its time."""

    ANALYSIS = 0.6
    RULES = 0.8
    FIXES = 1.0


@dataclass(slots=True)
class Spent:
    """What runs that follow each other have taken of the time of the same files: seconds of processor time, and the
    files that took too long."""

    seconds: dict[str, float] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)

    def add(self, path: str, seconds: float) -> None:
        """Let a file pay for more."""
        self.seconds[path] = self.seconds.get(path, 0.0) + seconds


class OutOfTimeError(BaseException):
    """A file has had its time. No `Exception`: those cost one statement, and this one costs the rest of the file."""


class Clock:
    """Seconds of processor time by file, of which each may take `limit`; what a file has others do is its own.
    `before`: what they have taken already."""

    def __init__(self, limit: float = math.inf, before: Mapping[str, float] | None = None) -> None:
        self.limit: Final = limit
        self.given_up: dict[str, None] = {}  # the files that took too long
        self.seconds: dict[str, float] = {}
        self._before = before or {}
        self._deadline = math.inf
        self._questions = 0

    def check(self) -> None:
        """Raise OutOfTimeError where the file that is at work has had its time."""
        self._questions += 1
        if self._questions % _EVERY == 0 and thread_time() > self._deadline:
            raise OutOfTimeError

    @contextmanager
    def spent_on(self, path: str, work: Work) -> Iterator[None]:
        """Let a file pay for what is done inside; it ends early where that takes too long. Work inside of other work
        is paid for by its own file, and then by the other one's."""
        started, outer = thread_time(), self._deadline
        left = self.limit - self._before.get(path, 0.0)
        allowed = left * work.value - self.seconds.get(path, 0.0)
        self._deadline = min(outer, started + allowed)
        self._questions = -1  # the first question is answered
        try:
            yield
        except OutOfTimeError:
            self.given_up[path] = None
            if outer < thread_time():
                raise
        finally:
            self.seconds[path] = self.seconds.get(path, 0.0) + thread_time() - started
            self._deadline = outer
