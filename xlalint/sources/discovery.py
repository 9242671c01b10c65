"""Which files a run is about: paths to `.py` and `.ipynb` files, less what Git ignores and the settings exclude."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..findings.findings import Problem
from .text import MOST_SETTINGS, UnreadableSource, display_path, read_bytes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DEFAULT_EXCLUDE: Final = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".xlalint_cache",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


# What settings are kept in; in one folder the first decides.
SETTINGS_FILES: Final = (".xlalint.toml", "xlalint.toml", "pyproject.toml")
MOST_PATTERNS: Final = 10_000  # in force in a folder, of all of its ignore files; of one setting


@dataclass(frozen=True, slots=True)
class FileToCheck:
    """A file to check: its absolute path, and the path that reports show."""

    path: Path
    display: str


@dataclass(frozen=True, slots=True)
class PathPatterns:
    """Patterns in `.gitignore` syntax, relative to `root`. `beside`: others that hold as well."""

    patterns: tuple[str, ...]
    root: Path
    beside: PathPatterns | None = None

    def covers(self, path: Path | str, *, folder: bool) -> bool:
        """Whether a pattern matches `path` itself (its parents are the walk's business)."""
        if _covered(self.patterns, str(self.root), str(path), folder):
            return True
        return self.beside is not None and self.beside.covers(path, folder=folder)

    def covers_any_part(self, path: Path) -> bool:
        """Whether a pattern matches the file `path` or a folder above it, up to the root."""
        above = [folder for folder in path.parents if folder.is_relative_to(self.root) and folder != self.root]
        if self.covers(path, folder=False) or any(self.covers(folder, folder=True) for folder in above):
            return True
        return self.beside is not None and self.beside.covers_any_part(path)


def discover(
    paths: Sequence[Path],
    exclude: PathPatterns,
    *,
    force: bool = False,
    nearest: Callable[[Path], PathPatterns] | None = None,
) -> tuple[list[FileToCheck], list[Problem]]:
    """The files to check in a stable order, each once, and a problem for every path that does not exist.

    `force`: what is excluded stays so when it is named explicitly; `nearest`: what is excluded in a folder, where that
    may be something else than in others.
    """
    found: dict[str, None] = {}
    problems: list[Problem] = []
    for given in paths:
        path = Path(os.path.abspath(given))
        if force and (exclude if nearest is None else nearest(path.parent)).covers_any_part(path):
            continue
        try:
            if path.is_dir():
                for file in _walk(path, exclude if nearest is None else nearest(path), problems, nearest):
                    found[file] = None
            elif path.exists():
                found[str(path)] = None
            else:
                problems.append(Problem(display_path(path), "no such file or directory"))
        except OSError as error:  # a name too long, a folder without permission, ...
            problems.append(Problem(display_path(path), error.strerror or str(error)))
    files = [FileToCheck(Path(path), display_path(path)) for path in found]
    return sorted(files, key=lambda file: file.display), problems


def _walk(
    top: Path, excluded: PathPatterns, problems: list[Problem], nearest: Callable[[Path], PathPatterns] | None
) -> Iterator[str]:
    pending = [(str(top), GitIgnores.above(top, problems), excluded)]
    while pending:
        folder, above, exclude = pending.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(display_path(Path(folder)), error.strerror or str(error)))
            continue
        here = above.within(folder, problems) if any(entry.name == ".gitignore" for entry in listed) else above
        if nearest is not None and any(entry.name in SETTINGS_FILES for entry in listed):
            exclude = nearest(Path(folder))
        for entry in listed:
            is_folder = entry.is_dir(follow_symlinks=False)  # a link may lead back here, or to the whole disk
            if not is_folder and not entry.name.endswith((".py", ".ipynb")):
                continue
            if exclude.covers(entry.path, folder=is_folder) or here.ignore(entry.path, folder=is_folder):
                continue
            if is_folder:
                pending.append((entry.path, here, exclude))
            else:
                yield entry.path


@dataclass(frozen=True, slots=True)
class GitIgnores:
    """The ignore files in force in a folder, outermost first: the last one with a matching pattern decides."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    @classmethod
    def above(cls, folder: Path, problems: list[Problem]) -> GitIgnores:
        """Those between `folder` and the root of its Git repository; none outside a repository.

        A folder that they themselves ignore, or one around it, was named on purpose: then they do not speak for what is
        in it.
        """
        chain = [folder, *folder.parents]
        root = next((location for location in chain if (location / ".git").exists()), None)
        if root is None:
            return cls()
        result = cls()._with(str(root), root / ".git" / "info" / "exclude", problems)
        for inner, outer in reversed([*pairwise(chain[: chain.index(root) + 1])]):
            result = result.within(str(outer), problems)
            if result.ignore(str(inner), folder=True):
                return cls()
        return result

    def within(self, folder: str, problems: list[Problem]) -> GitIgnores:
        return self._with(folder, Path(folder, ".gitignore"), problems)

    def _with(self, folder: str, file: Path, problems: list[Problem]) -> GitIgnores:
        try:
            lines = read_bytes(file, MOST_SETTINGS).decode("utf-8", "replace").splitlines()
        except UnreadableSource:  # there is none, or Git could not read it either
            return self
        patterns = tuple(line for line in lines if line.strip() and not line.startswith("#"))
        left = MOST_PATTERNS - sum(len(spec.patterns) for _, spec in self.specs)
        if len(patterns) > left:
            said = f"more than {MOST_PATTERNS} patterns; the rest is ignored"
            problems.append(Problem(display_path(file), said))
            patterns = patterns[:left]
        if not patterns:
            return self
        from .globs import spec  # 30 ms, and many trees need none

        return GitIgnores((*self.specs, (folder, spec(patterns))))

    def ignore(self, path: str, *, folder: bool) -> bool:
        if not self.specs:
            return False
        from .globs import verdict_on

        for base, spec in reversed(self.specs):
            relative = _relative(path, base)
            verdict = verdict_on(spec, f"{relative}/" if folder else relative)
            if verdict is not None:
                return verdict
        return False


def _relative(path: str, base: str) -> str:
    return path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")


@lru_cache(maxsize=256)
def _split(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Plain names, which match at any depth, apart from patterns that need matching."""
    plain = frozenset(pattern for pattern in patterns if not set(pattern) & set("*?[]!/#\\ "))
    return plain, tuple(pattern for pattern in patterns if pattern not in plain)


def _covered(patterns: tuple[str, ...], root: str, path: str, folder: bool) -> bool:
    plain, others = _split(patterns)
    if os.path.basename(path) in plain:
        return True
    if not others or not path.startswith(root.rstrip(os.sep) + os.sep):
        return False
    relative = _relative(path, root)
    from .globs import spec  # 30 ms, and many trees need none

    return spec(others).match_file(f"{relative}/" if folder else relative)
