"""Where a partition found the modules that it looked for, in the little room that this takes: partitions of one project
look for thousands of names, nearly all of them the same ones."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from ..analysis.files.files import Files
from ..analysis.files.session import Session

# What was found below a folder of the modules of one package: their last names, each with what marks it.
Group: TypeAlias = tuple[str, str, str]

_ABSENT: Final = ""
_FILE: Final = "."
_PACKAGE: Final = "/"
_MARKS: Final = (_FILE, _PACKAGE)


def groups_of(names: Mapping[tuple[str, str], Path | None]) -> list[Group]:
    """What was found of the dotted names of modules, each below a folder."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (folder, name), found in names.items():
        package, _, last = name.rpartition(".")
        groups[folder, package].append(last if found is None else last + _mark(found))
    return [(folder, package, " ".join(sorted(marked))) for (folder, package), marked in groups.items()]


def groups_kept(names: Mapping[tuple[str, str], Path | None], session: Session | None) -> list[Group]:
    """The same; a session knows it where the last partition of which it was asked looked for just that."""
    if session is None:
        return groups_of(names)
    if session.grouped is None or session.grouped[0] != names:
        session.grouped = names, groups_of(names)
    return session.grouped[1]


class ModulesFound:
    """The modules of a run that are known to be where they were."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._groups: set[Group] = set()
        self._modules: dict[tuple[str, str], set[str]] = defaultdict(set)

    def hold(self, groups: Iterable[Group]) -> bool:
        """Whether all of these are. Partitions ask for the same ones again and again."""
        fresh = set(groups) - self._groups
        if not all(self._holds(*group) for group in fresh):
            return False
        self._groups |= fresh
        return True

    def _holds(self, folder: str, package: str, marked: str) -> bool:
        known = self._modules[folder, package]
        fresh = set(marked.split(" ")) - known
        offered = self._files.offered_in(folder, package)
        # Most names are those of what a module defines: there was no file for them, and is nothing that may be one.
        doubtful = (module for module in fresh if module in offered or module.endswith(_MARKS))
        if any(self._marked_now(folder, package, module) != module for module in doubtful):
            return False
        known |= fresh
        return True

    def _marked_now(self, folder: str, package: str, module: str) -> str:
        last = module.rstrip(_FILE + _PACKAGE)
        return last + _mark(self._files.sought(folder, f"{package}.{last}" if package else last))


def _mark(found: str | Path | None) -> str:
    if found is None:
        return _ABSENT
    return _PACKAGE if os.path.basename(found) == "__init__.py" else _FILE
