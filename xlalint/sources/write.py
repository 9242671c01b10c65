"""Files written as a whole or not at all, and texts with edits made."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..findings.findings import Edit
from .checkout import is_by_link
from .locks import is_abandoned, lock
from .text import UnreadableSource, decode, encoding_of, is_notebook, line_starts, read_bytes

_TEMPORARY: Final = re.compile(r"\.xlalint-[0-9a-f]{16}\.tmp")


class UnwritableSource(Exception):  # noqa: N818
    """A file that cannot be written; the message says why."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits that do not overlap; all else stays as it is. Insertions at one place are made in order."""
    starts = line_starts(text)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1

    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[done : offset(edit.span.line, edit.span.column)], edit.text]
        done = offset(edit.span.end_line, edit.span.end_column)
    return "".join((*parts, text[done:]))


def edited(data: bytes, edits: Sequence[Edit], path: Path) -> bytes:
    """A file's content with edits made: encoding, byte order mark and line ends stay, and of a notebook all that is
    not source. Raises `UnwritableSource`."""
    try:
        if is_notebook(path):
            return _edited_notebook(data, edits)
        encoding, text = encoding_of(data), decode(data)
        if text.encode(encoding) != data:
            raise UnwritableSource(f"{encoding} text that cannot be written back as it was")
        return apply_edits(text, edits).encode(encoding)
    except UnreadableSource as error:
        raise UnwritableSource(str(error)) from error
    except UnicodeEncodeError as error:
        raise UnwritableSource(f"the fix needs characters that {encoding} does not have") from error


def _edited_notebook(data: bytes, edits: Sequence[Edit]) -> bytes:
    from .notebook_edits import UneditableCellError, edited

    try:
        return edited(data, edits)
    except UneditableCellError as error:
        raise UnwritableSource(str(error)) from error


def replace_source(path: Path, before: bytes, after: bytes, within: Sequence[Path]) -> None:
    """Write `after` where `before` was read, following links to files inside the folders `within` (or these
    themselves). Raises `UnwritableSource`."""
    target = Path(os.path.realpath(path))
    roots = [Path(os.path.realpath(root)) for root in within]
    if target != path and not any(root == target or root in target.parents for root in roots):
        raise UnwritableSource(f"a link to {target}, which is outside the paths to fix")
    try:
        if not os.access(target, os.W_OK):
            raise UnwritableSource("the file is write-protected")
        current = read_bytes(target)
        if current == after:
            return  # another link to the same file
        if current != before:
            raise UnwritableSource("the file has changed since it was read")
        write_atomically(target, after, os.stat(target))
    except UnreadableSource as error:
        raise UnwritableSource(str(error)) from error
    except OSError as error:
        raise UnwritableSource(error.strerror or str(error)) from error


def write_named(file: Path, data: bytes) -> None:
    """Write a file that whoever runs the command named, unless a link of the checkout leads to it. Raises OSError."""
    if is_by_link(file):
        raise OSError(errno.ELOOP, "a link of the project: it is not followed")
    file.write_bytes(data)


def write_atomically(file: Path, data: bytes, like: os.stat_result | None = None) -> None:
    """Put `data` in the place of a file at once, with the mode, and if possible the owner, that `like` says. What a run
    that was killed left in the folder is removed."""
    _sweep(file.parent)
    temporary = file.parent / f".xlalint-{os.urandom(8).hex()}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        with os.fdopen(handle, "wb") as stream:
            lock(stream.fileno())
            stream.write(data)
            if like is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(stream.fileno(), like.st_uid, like.st_gid)
                os.fchmod(stream.fileno(), stat.S_IMODE(like.st_mode))
            stream.flush()
            os.replace(temporary, file)  # while it is locked: nobody takes it for abandoned
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@lru_cache(maxsize=4096)
def _sweep(folder: Path) -> None:
    """Remove what runs that were killed left in a folder: files of our name that nobody writes any more."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left = [entry for entry in entries if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)]
        for entry in left:
            if is_abandoned(entry.path):
                os.unlink(entry.path)
