"""Runs the parts of an analysis in several processes. They are forked from this one, so that what it holds in memory is
theirs, too; where the system cannot fork, all parts run here."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final, TypeVar

from .semantics.parts import Part, run_together

T = TypeVar("T")

# macOS can fork, but its own libraries do not survive that.
CAN_FORK: Final = hasattr(os, "fork") and sys.platform != "darwin"


class ProcessLostError(Exception):
    """A process ended before its work was done; the text says how, or is the traceback."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What the parts of one process tell the others."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class _Done:
    results: list[Any]


@dataclass(frozen=True, slots=True)
class _Failed:
    detail: str


def run_parts(parts: Sequence[Callable[[], Part[T]]], processes: int) -> list[T]:
    """The results of all parts, in order. Raises ProcessLostError."""
    processes = min(processes, len(parts))
    if processes <= 1 or not CAN_FORK:
        return run_together([start() for start in parts])
    context = multiprocessing.get_context("fork")
    members: list[Connection] = []
    children = []
    try:
        for rank in range(processes):
            mine = parts[rank * len(parts) // processes : (rank + 1) * len(parts) // processes]
            here, there = context.Pipe()
            child = context.Process(target=_run, args=(mine, there), daemon=True)
            with _deaf_to_interrupts():  # until it is among those that are ended below
                child.start()
                members.append(here)
                children.append(child)
            there.close()
        return _moderate(members)
    except (EOFError, OSError):
        for child in children:
            child.join(0.1)
        codes = [child.exitcode for child in children if child.exitcode]
        raise ProcessLostError(f"exit code {codes[0]}" if codes else "it closed its connection") from None
    finally:
        for child in children:
            child.terminate()
            child.join()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started inside is not interrupted: its parent is, and ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(parts: Sequence[Callable[[], Part[Any]]], parent: Connection) -> None:
    """The work of one process."""

    def exchange(told: list[Any]) -> list[Any]:
        parent.send(_Told(told))
        heard: list[Any] = parent.recv()
        return heard

    try:
        message: _Done | _Failed = _Done(run_together([start() for start in parts], exchange))
    except Exception:
        message = _Failed(traceback.format_exc())
    with suppress(BrokenPipeError):  # nobody wants to know any more
        parent.send(message)


def _moderate(members: Sequence[Connection]) -> list[Any]:
    """Pass on what the processes tell each other until all are done."""
    while True:
        messages = [member.recv() for member in members]
        for message in messages:
            if isinstance(message, _Failed):
                raise ProcessLostError(message.detail)
        if all(isinstance(message, _Done) for message in messages):
            return [result for message in messages for result in message.results]
        told = [value for message in messages for value in message.values]
        for member in members:
            member.send(told)
