"""Where the code that is checked ends: a link of it that leads farther is not followed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_GIT: Final = ".git"
_MARKS: Final = ("pyproject.toml", _GIT, "setup.py", "setup.cfg")


def project_root(folder: Path) -> Path | None:
    """The folder that a project fills: the nearest upward that looks like a project's."""
    return next((place for place in (folder, *folder.parents) if any((place / mark).exists() for mark in _MARKS)), None)


def repository_root(folder: Path) -> Path | None:
    """The folder that a repository fills, that a folder lies in."""
    return next((place for place in (folder, *folder.parents) if (place / _GIT).exists()), None)


def checkout_of(folder: Path) -> Path:
    """What a folder is part of: its repository, else its project, else what lies in the working directory, else itself
    alone. Parts of a repository that are projects of their own may have links to each other."""
    here = Path.cwd()
    return repository_root(folder) or project_root(folder) or (here if folder.is_relative_to(here) else folder)


class Projects:
    """The folders that projects and repositories fill, as they are while one run asks for them."""

    def __init__(self) -> None:
        self._roots: dict[Path, Path | None] = {}
        self._repositories: dict[Path, Path | None] = {}

    def root(self, folder: Path) -> Path | None:
        """As `project_root` has it."""
        return _nearest(folder, _MARKS, self._roots)

    def repository(self, folder: Path) -> Path | None:
        """As `repository_root` has it."""
        return _nearest(folder, (_GIT,), self._repositories)


def _nearest(folder: Path, marks: Iterable[str], known: dict[Path, Path | None]) -> Path | None:
    """The nearest folder upward that holds one of some marks; which that is of others, is `known`."""
    if folder not in known:
        here = str(folder)
        if any(os.path.exists(os.path.join(here, mark)) for mark in marks):
            known[folder] = folder
        else:
            known[folder] = None if folder == folder.parent else _nearest(folder.parent, marks, known)
    return known[folder]


def folders_around(folder: Path, projects: Projects, checked: Path) -> Iterator[Path]:
    """The folders that a program may be started in of which a folder is part, nearest first: itself and those above it
    in its project, or else in the working directory, or else in what is `checked`."""
    root = projects.root(folder)
    if root is None:
        here = Path.cwd()
        root = here if folder.is_relative_to(here) else checked
    yield folder
    if folder.is_relative_to(root):
        while folder != root:
            folder = folder.parent
            yield folder


def together(folders: Iterable[Path]) -> Path:
    """The folder that folders are in; the first where none holds all, the working directory where there are none."""
    first, *others = dict.fromkeys(folders) or (Path.cwd(),)
    around = (first, *first.parents)
    return next((folder for folder in around if all(one.is_relative_to(folder) for one in others)), first)


def misleading(path: Path, file: int) -> str | None:
    """Why what was opened by a path is not to be read; None where nothing speaks against it. `file`: what was opened.

    A stranger may have put a link there, for something to be shown that is not theirs to see: a file of this machine,
    or what Git and others keep in the checkout that is no source.
    """
    written = os.path.abspath(path)
    real = _real(written, file)
    if real == written:
        return None
    inside = _below(real, os.path.realpath(checkout_of(Path(written).parent)))
    if inside is None:
        return "a link out of the project: it is not followed"
    if _GIT in Path(inside).parts[:-1] or Path(inside).suffix != path.suffix:
        return "a link to a file of another kind: it is not followed"
    return None


def is_by_link(path: str | Path) -> bool:
    """Whether a path leads through a link of the repository or project that it lies in: what is written there would be
    written to where a stranger wants it."""
    written = Path(os.path.abspath(path))
    root = repository_root(written.parent) or project_root(written.parent)
    return root is not None and os.path.realpath(written) != os.path.join(
        os.path.realpath(root), written.relative_to(root)
    )


def _real(path: str, file: int) -> str:
    """The path of an open file, without links; asked of the system, where it tells, since links may change."""
    try:
        return os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return os.path.realpath(path)


def _below(path: str, folder: str) -> str | None:
    """A path relative to a folder; None where it does not lie below."""
    above = folder if folder.endswith(os.sep) else folder + os.sep
    return path.removeprefix(above) if path.startswith(above) else None
