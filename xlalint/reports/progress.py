"""A sign of life on the terminal for runs that take long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE: Final = 1.0  # seconds


@contextmanager
def progress(*, quiet: bool, doing: str = "checking", total: int | None = None) -> Iterator[Callable[[], None]]:
    """Show a bar on the standard error's terminal once the body has run for a second.

    The body calls what it is given for each of the `total` steps that is done.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    bar = _Bar(doing, total)
    timer = Timer(_PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """The bar, which the timer's thread shows and the main one closes."""

    def __init__(self, doing: str, total: int | None) -> None:
        self._lock = Lock()
        self._doing, self._total, self._done = doing, total, 0
        self._closed = False
        self._shown: Progress | None = None
        self._task: TaskID | None = None

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            if self._closed:
                return
            counted = () if self._total is None else (MofNCompleteColumn(), TextColumn("left:"), TimeRemainingColumn())
            columns = (TextColumn(self._doing), BarColumn(), TimeElapsedColumn(), *counted)
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._shown.add_task(self._doing, total=self._total, completed=self._done)
            self._shown.start()

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            if self._shown is not None and self._task is not None:
                self._shown.update(self._task, completed=self._done)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown.stop()
