"""Imports the user's file: as a member of its package where it is in one, else by itself, to be forgotten again."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from xlalint.sources.packages import INSTALLED, imported_name, project_of

from ..backends import backend
from . import flags
from .messages import first_line
from .missing import imported_without
from .relative_paths import look_from


class LoadError(Exception):
    """The file cannot be imported; the text says why in one line."""


@dataclass
class Loaded:
    """An imported file, and what it takes to forget it; `ended`: what ended it before its end, if something did;
    `without`: the packages that are not installed, and stood empty for what it names of them; `bare`: what its package
    ended with, where it stands there empty."""

    module: ModuleType
    _before: frozenset[str] = frozenset()
    _folders: tuple[str, ...] = ()
    _path: tuple[str, ...] = ()  # what was put before `sys.path`
    ended: str = ""
    without: tuple[str, ...] = ()
    bare: str = ""

    @property
    def notes(self) -> Iterator[str]:
        """What is to be said of its import."""
        if self.ended:
            yield f"its file fails with {self.ended}; the code before that was run"
        if self.bare:
            yield f"imported without what its packages do, which fail with {self.bare}"

    def close(self) -> None:
        """Forget a file that is in no package, with what it imported from its folders: it is read again next time."""
        for folder in self._path:
            if folder in sys.path:
                sys.path.remove(folder)
        new = set(sys.modules) - self._before if self._folders else set[str]()
        orphans = set(filter(_is_orphan, new))
        files = ((name, _file_of(sys.modules[name])) for name in new - orphans)
        forgotten = [name for name, file in files if any(_is_own(file, folder) for folder in self._folders)]
        forgotten += orphans
        flags.forget(forgotten)
        for name in forgotten:
            del sys.modules[name]


def load(path: Path, search: Sequence[str] = (), needed: str = "") -> Loaded:
    """Import a file. Raises LoadError with what its import raised; a program that raises after it has bound what is
    `needed` is taken as it stands then.

    A file in a package is imported by its dotted name and stays imported, as all of its package does: other files of
    the same package follow soon. Names that snippets leave out (`tf`, `np`, `keras`) are there for a file by itself.
    """
    name, root = imported_name(path)
    folders, near, known = _put_first([str(root)]), (*_near(path), *map(Path, search)), len(sys.path)
    look_from(near)
    sys.argv[:] = [str(path)]  # a program reads its own options, of which none are given
    try:
        if "." in name or path.name == "__init__.py":
            try:
                member, without = imported_without(lambda: _member(name, path, root), near)
            except Exception as error:  # of any kind: a package may be for older ones than are there
                if not isinstance(error, ImportError) or "partially initialized" not in str(error):
                    return _without_packages(name, path, root, near, folders, error)
                # Modules that import each other work in the order that their package imports them in.
                member, without = imported_without(lambda: _member(name, path, root), near)
            flags.use_defaults(project_of(path))
            return Loaded(member, _path=folders, without=without)
        before = frozenset(sys.modules)
        try:
            (module, ended), without = imported_without(lambda: _alone(path, needed), near)
        except ImportError as error:
            if "no known parent package" not in str(error):
                raise
            # Its folder is a package without saying so.
            project = project_of(path)
            name = ".".join(path.relative_to(project).with_suffix("").parts)
            if (root / name.partition(".")[0]).with_suffix(".py").is_file() and str(root) in sys.path:
                sys.path.remove(str(root))  # a file in it has its name, and would be found in its place
            folders = (*folders, *_put_first([str(project)]))
            member, without = imported_without(lambda: _member(name, path, project), near)
            return Loaded(member, _path=folders, without=without)
        flags.use_defaults(project_of(path))
        found = sys.path[known:]  # folders of the project
        inside = tuple(f"{folder}{os.sep}" for folder in (path.parent, *search, *found))
        return Loaded(module, before, inside, (*folders, *found), ended, without)
    except BaseException as error:
        # A module may do anything while it is imported, `sys.exit` included.
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LoadError(f"{type(error).__name__}: {first_line(error)}") from error


def _is_orphan(name: str) -> bool:
    """Whether a module is a mere folder in a package that has been forgotten: it does not say any more where it is."""
    package = name.rpartition(".")[0]
    return package != "" and package not in sys.modules and getattr(sys.modules[name], "__file__", None) is None


def _file_of(module: ModuleType) -> str:
    """Where a module is; of a package that is only a folder, that."""
    file = getattr(module, "__file__", None)
    return str(file if file is not None else next(iter(getattr(module, "__path__", ())), None))


def _is_own(file: str, folder: str) -> bool:
    """Whether a file is in a folder, and in no package that is installed there."""
    return file.startswith(folder) and set(INSTALLED).isdisjoint(Path(file[len(folder) :]).parts)


def _near(path: Path) -> tuple[Path, ...]:
    """The folders of its project around a file, from the inside to the outside, then those at the project's top."""
    project = project_of(path)
    around = (one for one in path.parents if one == project or project in one.parents)
    return (*around, *sorted(one for one in project.iterdir() if one.is_dir()))


def _put_first(folders: Iterable[str]) -> tuple[str, ...]:
    added = tuple(folder for folder in dict.fromkeys(folders) if folder not in sys.path)
    sys.path[:0] = added
    return added


def _member(name: str, path: Path, root: Path) -> ModuleType:
    """A file in a package. Another package of that name, from elsewhere, makes room."""
    top = name.partition(".")[0]
    known = sys.modules.get(top)
    if known is not None and not _is_from(known, root / top):
        for other in [other for other in sys.modules if other == top or other.startswith(f"{top}.")]:
            del sys.modules[other]
        importlib.invalidate_caches()
    # An import that failed leaves what a package had imported, without the package: it comes first, as it would.
    for parent in reversed([*_parents(name)]):
        importlib.import_module(parent)
    module = importlib.import_module(name)
    if not _is_from(module, path):
        raise ImportError(f"`{name}` is imported from {getattr(module, '__file__', 'elsewhere')}")
    return module


def _without_packages(
    name: str, path: Path, root: Path, near: Sequence[Path], folders: tuple[str, ...], error: Exception
) -> Loaded:
    """A file in a package that ends with an error while it is imported: without what its packages do. Raises that error
    where the file itself raises it, or needs more of them."""
    held = {one: sys.modules.pop(one) for one in [*sys.modules] if one == name or one in _parents(name)}
    for parent in reversed([*_parents(name)]):
        folder = root.joinpath(*parent.split("."))
        spec = importlib.machinery.ModuleSpec(parent, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[parent] = importlib.util.module_from_spec(spec)
    try:
        member, without = imported_without(lambda: importlib.import_module(name), near)
    except Exception as further:
        for parent in _parents(name):
            sys.modules.pop(parent, None)
        sys.modules.update(held)
        raise error from further
    flags.use_defaults(project_of(path))
    return Loaded(member, _path=folders, without=without, bare=f"{type(error).__name__}: {first_line(error)}")


def _parents(name: str) -> Iterator[str]:
    """The packages around a module, the nearest first."""
    while name := name.rpartition(".")[0]:
        yield name


def _is_from(module: ModuleType, path: Path) -> bool:
    """Whether a module is of a file, or in a folder."""
    file = getattr(module, "__file__", None)
    if file is None:
        return any(Path(one).resolve() == path.resolve() for one in getattr(module, "__path__", ()))
    return Path(file).resolve() == path.resolve() or path.resolve() in Path(file).resolve().parents


def _alone(path: Path, needed: str) -> tuple[ModuleType, str]:
    """A file by itself, and what ended it where it has bound what is `needed` before."""
    # Another module may have the name of the file: of the standard library, say.
    name = path.stem if path.stem not in sys.modules else f"probed_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    vars(module).update(backend.NAMES)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if isinstance(error, Exception | SystemExit) and needed and hasattr(module, needed):
            return module, f"{type(error).__name__}: {first_line(error)}"
        del sys.modules[name]
        raise
    return module, ""
