"""A sign of life on the terminal for runs that take long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE: Final = 1.0  # seconds


@contextmanager
def progress(*, quiet: bool) -> Iterator[None]:
    """Show a bar on the standard error's terminal once the body has run for a second."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    bar = _Bar()
    timer = Timer(_PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """The bar, which the timer's thread shows and the main one closes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._closed = False
        self._shown: Progress | None = None

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            columns = TextColumn("checking"), BarColumn(), TimeElapsedColumn()
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task("checking", total=None)
            self._shown.start()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown.stop()
