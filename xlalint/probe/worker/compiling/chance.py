"""Where eager code draws numbers by chance with Python or NumPy, which compiled code does when it is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from xlalint.probe.protocol import CHANCE, DIVERGES, Observation, Spot

from ..code.random_state import random_state
from .evidence import Line

_SAID: Final = "eager execution draws other numbers at each call; compiled code repeats those that it was traced with"


class Draws:
    """The `lines` of some files at which the state of a generator of random numbers changes."""

    def __init__(self, own: Callable[[str], bool]) -> None:
        self._own, self._state = own, random_state()
        self.lines: set[Line] = set()

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Watch what runs in the body."""
        before, self._state = sys.gettrace(), random_state()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        path, last = frame.f_code.co_filename, frame.f_lineno
        if not self._own(path):
            return None
        self._state = random_state()

        def moved(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
            nonlocal last
            if (now := random_state()) != self._state:
                self._state = now
                self.lines.add((path, last))
            last = frame.f_lineno
            return moved

        return moved


def repeated(lines: Iterable[Line]) -> Iterator[Observation]:
    """What is seen where compiled code repeats what was drawn at some lines."""
    for path, line in sorted(lines):
        yield Observation(DIVERGES, _SAID, (Spot(path, line),), per=CHANCE)
