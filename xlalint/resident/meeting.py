"""Where a run finds the process that stayed, and what both say to each other first."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Sequence
from typing import Final

OPTION: Final = "--resident"
# What asks for more than a report about files: code that is run, or a process that does not end.
_OTHERS: Final = ("--rules", "--watch", "-w", "--probe", "--prove")
_NUMBER: Final = struct.Struct("!i")
HELLO: Final = b"h"
YES: Final = b"y"
NO: Final = b"n"


def is_possible(arguments: Sequence[str]) -> bool:
    """Whether a process may do a run with these arguments and stay: asked for, where the system has what that needs,
    and never in a continuous integration, whose machines are others' or thrown away."""
    return (
        OPTION in arguments
        and sys.platform == "linux"
        and not os.environ.get("CI")
        and not any(word.partition("=")[0] in _OTHERS for word in arguments)
    )


def address() -> str | None:
    """The path of the socket for runs like this one: from the same folder, by the same interpreter with the same path
    and settings. None where no folder is the user's alone."""
    folder = _folder()
    if folder is None:
        return None
    told = {name: text for name, text in os.environ.items() if name.startswith(("PYTHON", "LANG", "LC_"))}
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    like = (os.getcwd(), sys.executable, sys.version, package, sys.path, tuple(sys.flags), sorted(told.items()))
    name = hashlib.blake2b(repr(like).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return os.path.join(folder, name)


def _folder() -> str | None:
    """A folder that nobody else can write to, made where there is none."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if _is_own(runtime):
        folder = os.path.join(runtime, "xlalint")
    else:
        folder = os.path.join(tempfile.gettempdir(), f"xlalint-{os.getuid()}")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    return folder if _is_own(folder) else None


def _is_own(folder: str) -> bool:
    """Whether a folder, and no link to one, is this user's and closed to all others."""
    try:
        found = os.lstat(folder)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def is_same_user(connection: socket.socket) -> bool:
    """Whether a process of this user is at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("3i", credentials)[1]
    return user == os.getuid()


def connected(path: str) -> socket.socket | None:
    """A connection to the process at an address, if there is one of this user."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        if is_same_user(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def send_number(connection: socket.socket, number: int) -> None:
    connection.sendall(_NUMBER.pack(number))


def receive_number(connection: socket.socket) -> int:
    """Raises OSError where the other end has gone."""
    number: int = _NUMBER.unpack(receive(connection, _NUMBER.size))[0]
    return number


def receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes. Raises OSError where the other end has gone."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data
