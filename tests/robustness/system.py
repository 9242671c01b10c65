"""Faults that the system itself makes: files that it does not open, disks that are full or cannot be written."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

_CAPABILITIES: Final = 0x20080522  # the version of what is asked for below
_OWN_MOUNTS, _OWN_USERS = 0x20000, 0x10000000
_READ_ONLY, _ANEW, _RECURSIVE, _PRIVATE = 0x1, 0x20, 0x4000, 0x40000


def forked(act: Callable[[], int]) -> int:
    """Do something in a process that may be lost; its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def without_rights() -> Iterator[None]:
    """What modes forbid is forbidden inside, to the superuser as well."""
    if os.geteuid() != 0:
        yield
        return
    if not sys.platform.startswith("linux"):
        pytest.skip("modes forbid the superuser nothing")
    head, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    _must(ctypes.CDLL(None, use_errno=True).capget(head, sets))
    effective = sets[0], sets[3]
    sets[0] = sets[3] = 0
    _must(ctypes.CDLL(None, use_errno=True).capset(head, sets))
    try:
        yield
    finally:
        sets[0], sets[3] = effective
        _must(ctypes.CDLL(None, use_errno=True).capset(head, sets))


def on_a_disk(folder: Path, act: Callable[[], int], size: int, then_read_only: Callable[[], int] | None = None) -> int:
    """Do something where a folder is a disk of its own with so many bytes, and something else once it cannot be
    written. The exit code: that of the first that is not 0. Skips the test where the system mounts no disk."""
    refused = 98

    def alone() -> int:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            _must(libc.unshare(_OWN_MOUNTS if os.geteuid() == 0 else _OWN_MOUNTS | _OWN_USERS))
            _must(libc.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None))
            _must(libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"size=%d" % size))
        except (OSError, AttributeError):
            return refused
        os.chdir(folder)
        code = act()
        if code or then_read_only is None:
            return code
        _must(libc.mount(b"none", os.fsencode(folder), None, _ANEW | _READ_ONLY, None))
        return then_read_only()

    code = forked(alone)
    if code == refused:
        pytest.skip("the system mounts no disk for this process")
    return code


def _must(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextmanager
def busy(act: Callable[[], None]) -> Iterator[None]:
    """Another process does something again and again meanwhile."""
    ready, there = os.pipe()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        try:
            act()
            os.write(there, b".")
            while os.getppid() == parent:
                act()
        finally:
            os._exit(1)
    try:
        os.read(ready, 1)
        yield
    finally:
        for end in (ready, there):
            os.close(end)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
