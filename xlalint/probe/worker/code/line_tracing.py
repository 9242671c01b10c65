"""Which lines and functions of the user's code run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .limits import Limit


class TooLongError(BaseException):
    """The user's code goes on and on. Not an `Exception`, which that code might handle."""


class LineTracer:
    """Collects lines while `tracing`; `own` says of a path whether it is the user's."""

    def __init__(self, own: Callable[[str], bool]) -> None:
        self._own = own
        self._known: dict[str, bool] = {}
        self._lines: dict[str, set[int]] = {}
        self._functions: dict[str, set[int]] = {}
        self._limit = Limit(0.0)

    @contextmanager
    def tracing(self, seconds: float) -> Iterator[None]:
        """Every line that is executed in the body, by this thread or by those that it starts, as strategies do.

        Raises TooLongError at the next line of the user's when that takes more than `seconds` of the processor.
        """
        self._limit = Limit(seconds)
        before, before_in_threads = sys.gettrace(), threading.gettrace()
        threading.settrace(self._call)
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before_in_threads)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        path = frame.f_code.co_filename
        own = self._known.get(path)
        if own is None:
            own = self._known[path] = self._own(path)
        if not own:
            return None
        self._functions.setdefault(path, set()).add(frame.f_code.co_firstlineno)
        lines = self._lines.setdefault(path, set())

        def line(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
            lines.add(frame.f_lineno)
            if self._limit.over:
                raise TooLongError
            return line

        return line

    def lines(self) -> dict[str, tuple[int, ...]]:
        """By file, the lines that ran."""
        return {path: tuple(sorted(lines)) for path, lines in self._lines.items()}

    def functions(self) -> dict[str, tuple[int, ...]]:
        """By file, the first lines of the functions that ran."""
        return {path: tuple(sorted(lines)) for path, lines in self._functions.items()}
