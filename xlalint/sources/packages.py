"""Files as members of packages. Standard library only: the probe's worker reads it, too."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

INSTALLED: Final = ("site-packages", "dist-packages")
TESTS: Final = ("tests", "test")  # folders of them
SOURCES: Final = ("src", "lib")  # folders of a project that hold its packages
_OF_PROJECTS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "README.md", "README.rst")
_NOT_OURS: Final = (*INSTALLED, "node_modules", "__pycache__")
_TEST: Final = re.compile(r"^test_|_test\.py$|^tests?\.py$")
_HIGHEST: Final = 6  # folders above a file in no package


def dotted_name(path: Path) -> tuple[str, Path]:
    """The dotted name of a file, and the folder that the name is relative to (the parent of its outermost package)."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def imported_name(path: Path) -> tuple[str, Path]:
    """The dotted name by which the files of its project import a file of a package, and the folder that it is relative
    to: folders around the package may be in the name without being packages themselves."""
    name, root = dotted_name(path)
    project = project_of(path)
    if "." in name and project in root.parents:
        package = name.partition(".")[0]
        around = root.relative_to(project).parts
        for start in range(len(around)):
            prefix = ".".join(around[start:])
            if _is_imported(project, f"{prefix}.{package}"):
                return f"{prefix}.{name}", project.joinpath(*around[:start])
    return name, root


@lru_cache(maxsize=64)
def _is_imported(project: Path, name: str) -> bool:
    """Whether a file of a project imports a package by a name."""
    imported = re.compile(rf"^\s*(?:from|import)\s+{re.escape(name)}\b".encode(), re.M)
    return any(imported.search(file.read_bytes()) for file in python_files(project))


def project_of(path: Path) -> Path:
    """The folder below which files are of the same project: the one that says that it is a project, where packages and
    files may stand beside each other; else the package of a file, or the folder that it is in."""
    name, root = dotted_name(path)
    package = root / name.partition(".")[0]
    inside = root != path.parent or path.name == "__init__.py"  # else a folder may only have the name of the file
    for folder in (root, *root.parents)[:_HIGHEST]:
        if folder.name in INSTALLED:
            break
        if is_project(folder):
            return folder
    return package if inside else path.parent


def is_project(folder: Path) -> bool:
    """Whether a folder has what stands at the top of a project."""
    return any((folder / one).exists() for one in _OF_PROJECTS)


def python_files(root: Path) -> Iterator[Path]:
    """The Python files below a folder, in their order, but for those of packages and environments installed there."""
    return files_below(root, ".py")


def files_below(root: Path, *endings: str) -> Iterator[Path]:
    """The same for files whose names end with one of several words. What is no file, as a pipe, is left out."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".") and name not in _NOT_OURS and not Path(folder, name, "pyvenv.cfg").exists()
        )
        found = (Path(folder, name) for name in sorted(files) if name.endswith(endings))
        yield from (path for path in found if path.is_file())


def is_test(path: Path) -> bool:
    """Whether a file holds tests, by its name."""
    return _TEST.search(path.name) is not None


def tests_beside(root: Path) -> Iterator[Path]:
    """The folders of tests beside a package that is not installed; those of a project are in it."""
    if root.parent.name not in INSTALLED and not is_project(root):
        yield from (folder for name in TESTS if (folder := root.parent / name).is_dir())
