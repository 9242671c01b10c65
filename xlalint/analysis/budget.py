"""What each file may cost: an analysis that takes too long is given up, and the rest of the run goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from time import thread_time
from typing import Final

_EVERY: Final = 64  # questions: to ask the system for the time is dear


class Work(Enum):
    """What is done about a file, and up to which share of its time."""

    ANALYSIS = 0.6
    RULES = 0.8
    FIXES = 1.0


class OutOfTimeError(BaseException):
    """A file has had its time. No `Exception`: those cost one statement, and this one costs the rest of the file."""


class Clock:
    """Seconds of processor time by file, of which each may take `limit`; what a file has others do is its own."""

    def __init__(self, limit: float = math.inf) -> None:
        self.limit: Final = limit
        self.given_up: dict[str, None] = {}  # the files that took too long
        self._spent: dict[str, float] = {}
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
        allowed = self.limit * work.value - self._spent.get(path, 0.0)
        self._deadline = min(outer, started + allowed)
        self._questions = -1  # the first question is answered
        try:
            yield
        except OutOfTimeError:
            self.given_up[path] = None
            if outer < thread_time():
                raise
        finally:
            self._spent[path] = self._spent.get(path, 0.0) + thread_time() - started
            self._deadline = outer
