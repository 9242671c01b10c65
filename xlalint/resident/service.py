"""Stays after a run, and does those that are asked for next, one at a time."""

from __future__ import annotations

import fcntl
import io
import json
import os
import resource
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from ..analysis.files.session import Session
from ..cache.keys import tool_digest
from ..cli import run
from ..linter import garbage
from ..linter.run import kept
from . import meeting

_IDLE: Final = 600.0  # seconds without a run after which the process ends
_QUIET: Final = 60.0  # seconds without a run after which nobody is expected at once
_LOOK: Final = 5.0  # seconds after which it sees whether anybody can still reach it
_PATIENCE: Final = 5.0  # seconds for the other end to say what it wants
_MOST_MEMORY: Final = 1_500_000  # kilobytes, with which it ends after a run
_LENGTH: Final = 4
_LARGEST: Final = 8_000_000  # bytes of a request

Run: TypeAlias = Callable[[Sequence[str]], int]


def stay() -> None:
    """Leave a process behind that does the next runs, unless there is one. Returns in this one, whose streams nobody
    else has then."""
    path = meeting.address()
    if path is None:
        return
    state = _state()
    if os.fork() == 0:
        try:
            os.setsid()
            _let_go_of_streams()
            _serve(path, state, run)
        finally:
            os._exit(0)


def _serve(path: str, state: object, run: Run) -> None:
    """Answer at an address until nobody asks any more, or what is installed has changed."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # there is one
        return
    with suppress(FileNotFoundError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listening:
        mask = os.umask(0o077)
        listening.bind(path)
        os.umask(mask)
        listening.listen()
        listening.settimeout(_LOOK)
        try:
            _answer_all(listening, path, state, run)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)


def _answer_all(listening: socket.socket, path: str, state: object, run: Run) -> None:
    session = Session()
    while True:
        garbage.collect()
        connection = _awaited(listening, path)
        if connection is None:
            return
        with connection:
            try:
                fresh = not meeting.is_same_user(connection) or _answer(connection, session, state, run)
            except (OSError, ValueError, KeyboardInterrupt):  # who asked has gone
                fresh = True
        if not fresh or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _MOST_MEMORY:
            return


def _awaited(listening: socket.socket, path: str) -> socket.socket | None:
    """The next who asks; None where nobody does, or can, any more, or the process is asked to end. After a while all
    objects are looked through, which takes seconds in a large project."""
    since, tidied = time.monotonic(), False
    while (idle := time.monotonic() - since) < _IDLE and os.path.exists(path) and os.path.exists(os.curdir):
        if idle > _QUIET and not tidied:
            garbage.collect_all()
            tidied = True
        with suppress(TimeoutError):
            try:
                return listening.accept()[0]
            except KeyboardInterrupt:
                break
    return None


def _answer(connection: socket.socket, session: Session, state: object, run: Run) -> bool:
    """Do one run; whether the process is still what is installed. Raises OSError and ValueError."""
    connection.settimeout(_PATIENCE)
    connection.sendall(meeting.HELLO)
    length, streams, _, _ = socket.recv_fds(connection, _LENGTH, 3)
    try:
        size = int.from_bytes(length, "big")
        if len(length) != _LENGTH or len(streams) != 3 or size > _LARGEST:
            raise ValueError("no request")
        request = json.loads(meeting.receive(connection, size))
        if _state() != state:
            connection.sendall(meeting.NO)
            return False
        connection.sendall(meeting.YES)
        meeting.send_number(connection, os.getpid())
        meeting.send_number(connection, _done(request, streams, session, run))
    finally:
        for stream in streams:
            os.close(stream)
    return True


def _done(request: dict[str, Any], streams: Sequence[int], session: Session, run: Run) -> int:
    """The exit code of a run with the streams and the environment of who asked."""
    os.environ.clear()
    os.environ.update(request["environment"])
    folder, mask = os.getcwd(), os.umask(request["umask"])
    token = kept.set(session)
    try:
        for own, given in enumerate(streams):
            os.dup2(given, own)
        _open_streams()
        return run(request["arguments"])
    finally:
        kept.reset(token)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        _let_go_of_streams()
        os.umask(mask)
        os.chdir(folder)


def _open_streams() -> None:
    """Python's streams as they are where a process begins."""
    encoding = sys.stdout.encoding
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding)
    sys.stdout = _stream(1, encoding, "strict", os.isatty(1))
    sys.stderr = _stream(2, encoding, "backslashreplace", True)


def _stream(number: int, encoding: str, errors: str, by_line: bool) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=by_line)


def _let_go_of_streams() -> None:
    """Who waits for the end of what a run writes need not wait for this process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.close(nothing)


def _state() -> object:
    """What changes when something else is installed: xlalint itself, rules, or anything on the path."""
    tool_digest.cache_clear()
    return tool_digest(), [_time_of(entry) for entry in sys.path]


def _time_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
