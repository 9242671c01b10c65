"""Asks the process that stayed."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from . import meeting

_PATIENCE: Final = 0.2  # seconds: one that is busy does not answer, and this process can do the run itself
_FRESHNESS: Final = 5.0  # what it takes at most to see whether it is still what is installed
_LENGTH: Final = 4


def ask(arguments: Sequence[str]) -> int | None:
    """The exit code of a run that another process has done, writing to the streams of this one; None where there is no
    such process or it cannot: then nothing was written."""
    path = meeting.address()
    connection = None if path is None else meeting.connected(path)
    if connection is None:
        return None
    with connection:
        try:
            return _asked(connection, arguments)
        except (OSError, ValueError):  # it has ended, or is no such process
            return None


def _asked(connection: socket.socket, arguments: Sequence[str]) -> int | None:
    connection.settimeout(_PATIENCE)
    if meeting.receive(connection, 1) != meeting.HELLO:
        return None
    mask = os.umask(0)
    os.umask(mask)
    request = {"arguments": list(arguments), "environment": dict(os.environ), "umask": mask}
    data = json.dumps(request).encode("ascii")  # what is no Unicode in them is escaped
    connection.settimeout(_FRESHNESS)
    socket.send_fds(connection, [len(data).to_bytes(_LENGTH, "big")], [0, 1, 2])
    connection.sendall(data)
    if meeting.receive(connection, 1) != meeting.YES:
        return None
    with _passing_on(meeting.receive_number(connection)):
        connection.settimeout(None)
        return meeting.receive_number(connection)


@contextmanager
def _passing_on(process: int) -> Iterator[None]:
    """Requests to end are passed on to the process that does the run, which answers with an exit code."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
