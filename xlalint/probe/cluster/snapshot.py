"""The project as it is sent to the machines of a cluster: the files below the folders that its modules are imported
from, by content."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...sources.discovery import DEFAULT_EXCLUDE, GitIgnores
from ...sources.packages import dotted_name
from ..process import ProbeUnavailableError
from ..target import Target

_MOST: Final = 512 * 2**20  # bytes of all files
_LARGEST: Final = 2**20  # bytes of a file that is no code: a larger one is data or weights
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same content is the same archive
_PLACE: Final = "/xlalint-snapshot"  # stands for the folder in which a worker has it


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files below `roots` (absolute folders, none inside of another) in one archive, and its digest."""

    roots: tuple[str, ...]
    archive: bytes
    digest: str

    @classmethod
    def of(cls, targets: Iterable[Target]) -> Snapshot:
        """What the targets may import. Raises ProbeUnavailableError where that is more than can be sent."""
        roots = tuple(_outermost(folder for target in targets for folder in _folders(target)))
        held = io.BytesIO()
        size = 0
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for number, root in enumerate(roots):
                for path, name in _files(root, roots):
                    content = path.read_bytes()
                    size += len(content)
                    if size > _MOST:
                        raise ProbeUnavailableError(
                            f"{root}: it holds more than {_MOST // 2**20} MB, which is not sent to a cluster"
                        )
                    archive.writestr(zipfile.ZipInfo(f"{number}/{name}", _DATE), content, zipfile.ZIP_DEFLATED)
        data = held.getvalue()
        return cls(roots, data, hashlib.sha256(data).hexdigest())

    def placed(self, data: Any) -> Any:
        """JSON's types with the paths below the roots as they are in the archive, wherever a worker unpacks it."""
        return _each_text(data, self._placed)

    def at_home(self, data: Any) -> Any:
        """The inverse of `placed`, inside of longer texts, too."""
        return replaced(data, {f"{_PLACE}/{number}": root for number, root in reversed([*enumerate(self.roots)])})

    def _placed(self, text: str) -> str:
        for number, root in enumerate(self.roots):
            if text == root or text.startswith(os.path.join(root, "")):
                return f"{_PLACE}/{number}{text[len(root) :].replace(os.sep, '/')}"
        return text


def unpack(archive: bytes, digest: str, folder: str) -> None:
    """Unpack an archive into a folder. Raises ValueError where it is not what its digest says."""
    if hashlib.sha256(archive).hexdigest() != digest:
        raise ValueError("the snapshot of the project arrived damaged")
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(folder)


def in_folder(data: Any, folder: str) -> Any:
    """JSON's types with the paths of an archive as those in the folder where it was unpacked."""
    return replaced(data, {_PLACE: folder})


def out_of_folder(data: Any, folder: str) -> Any:
    """The inverse of `in_folder`, inside of longer texts, too."""
    return replaced(data, {folder: _PLACE})


def replaced(data: Any, texts: Mapping[str, str]) -> Any:
    """JSON's types with texts put in the place of others, in keys, too."""

    def change(text: str) -> str:
        for before, after in texts.items():
            text = text.replace(before, after)
        return text

    return _each_text(data, change)


def _each_text(data: Any, change: Any) -> Any:
    match data:
        case str():
            return change(data)
        case list() | tuple():
            return [_each_text(one, change) for one in data]
        case dict():
            return {_each_text(key, change): _each_text(value, change) for key, value in data.items()}
        case _:
            return data


def _folders(target: Target) -> Iterator[str]:
    """Where a target and what it imports stand."""
    for file in (target.file, *(caller.file for caller in target.callers)):
        yield str(dotted_name(Path(file))[1])
    yield from target.search


def _outermost(folders: Iterable[str]) -> Iterator[str]:
    kept: list[str] = []
    for folder in sorted(set(folders)):
        if not any(folder == one or folder.startswith(os.path.join(one, "")) for one in kept):
            kept.append(folder)
            yield folder


def _files(root: str, roots: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """The files that are sent: their paths and their names below the root. What is hidden, what Git ignores and what no
    project keeps its code in stays here, and so does what is large and no code; a link is followed to where files are
    sent from."""
    allowed = tuple(os.path.join(os.path.realpath(one), "") for one in roots)
    pending = [(root, GitIgnores.above(Path(root), []))]
    while pending:
        folder, above = pending.pop()
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        here = above.within(folder, []) if any(entry.name == ".gitignore" for entry in listed) else above
        for entry in listed:
            path, is_folder = entry.path, entry.is_dir()
            hidden = entry.name.startswith(".") or entry.name in DEFAULT_EXCLUDE
            if hidden or here.ignore(path, folder=is_folder) or not os.path.realpath(path).startswith(allowed):
                continue
            if is_folder and not _is_circle(path):
                pending.append((path, here))
            elif entry.is_file() and (entry.name.endswith(".py") or entry.stat().st_size <= _LARGEST):
                yield Path(path), os.path.relpath(path, root).replace(os.sep, "/")


def _is_circle(folder: str) -> bool:
    """Whether a folder is a link to one above it."""
    above, target = os.path.realpath(os.path.dirname(folder)), os.path.realpath(folder)
    return above == target or above.startswith(os.path.join(target, ""))
