"""Packages that are made to be installed, and used by programs that are not here."""

from __future__ import annotations

from pathlib import Path

from .packages import SOURCES
from .text import UnreadableSource
from .toml import read_toml


def is_installed(package: str) -> bool:
    """Whether a distribution is built of the package in a folder, or it lies where one was installed: beside it, or
    above the folder of sources that it is in, is a `setup.py`, a build system, or the record of an installation."""
    folder = Path(package).parent
    project = folder.parent if folder.name in SOURCES else folder
    return (project / "setup.py").is_file() or _is_built(project / "pyproject.toml") or any(folder.glob("*.dist-info"))


def _is_built(pyproject: Path) -> bool:
    try:
        return pyproject.is_file() and "build-system" in read_toml(pyproject)
    except UnreadableSource:  # the settings tell of that
        return False
