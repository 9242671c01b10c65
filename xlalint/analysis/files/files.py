"""The files of a project: found by name, loaded once, and let go where memory runs short.

Nothing here knows what a name means, so that several analyses of one project share it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Final

from ...findings.codes import SYNTAX_ERROR, UNFINISHED_FILE
from ...sources.checkout import Projects, folders_around, together
from ...sources.distributions import is_installed
from ...sources.outline import OutlineError
from ...sources.packages import dotted_name
from ...sources.reading import (
    Jax,
    Strategies,
    clusters_named,
    jax_named,
    source_of,
    strategies_named,
)
from ...sources.text import Source, UnreadableSource, digest_of, read_bytes
from .dependencies import Reads, note_absent, note_all, note_name, note_offered, note_outline, noted_in
from .file import File
from .session import Imports, Session
from .troubles import InternalTrouble, SyntaxTrouble

# Characters of the files that several parts of a large project share and that are kept from one to the next.
_KEPT_TEXT: Final = 500_000
# Lines of definitions that are kept as Python's own trees, which take about twelve hundred bytes each.
_KEPT_LINES: Final = 6_000


class Stopped(BaseException):
    """A run is not wanted any more. No error: nothing that deals with errors is to hold it up."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of reading a file. `digest`: of what was read, None if nothing could be."""

    file: File | None
    digest: str | None
    trouble: tuple[SyntaxTrouble, ...] = ()
    failures: tuple[InternalTrouble, ...] = ()


class Files:
    """The files of a run: those to check, and those that they turn out to import. None is read before it is asked for.

    `checked`: how those to check are read; `strategies`: which distribution strategies they name; `clusters`:
    one of them may turn autoclustering on; `jax`: what they, the settings and the requirements say of JAX."""

    def __init__(
        self,
        checked: Mapping[Path, Callable[[], Source]],
        strategies: Strategies,
        clusters: bool,
        jax: Jax,
        session: Session | None = None,
    ) -> None:
        self.checked = checked
        self.strategies = strategies
        self.clusters = clusters
        self.jax = jax
        self._session = session
        self._by_path: dict[Path, Loaded] = {}
        self._kept: dict[Path, Loaded] = {}  # by other parts
        self._recent: deque[File] = deque()  # that keep what was parsed of them
        self.expected = 0  # objects that parts that have begun will make of what they have not come to
        self._listings: dict[str, frozenset[str]] = {}
        self._offers: dict[tuple[str, str], frozenset[str]] = {}
        self._found: dict[tuple[str, str], Path | None] = {}
        self._packages: dict[Path, tuple[str, Path]] = {}
        self._installed: dict[Path, bool] = {}
        self._projects = Projects()
        self._around: dict[Path, tuple[Path, ...]] = {}
        self._below: dict[str, dict[Path, list[Path]]] = {}  # the roots below each folder, by the name that they offer
        self._imports: dict[Path, Imports] = {} if session is None else session.imports
        if session is not None:
            session.begin((tuple(checked), self.roots_digest, self._repositories))

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Files:
        """With sources that are read already."""
        strategies = max((strategies_named(source.text) for source in sources), default=Strategies.NONE)
        clusters = any(clusters_named(source.text) for source in sources)
        jax = max((jax_named(source.text) for source in sources), default=Jax.UNNAMED)
        return cls({source.path: partial(_itself, source) for source in sources}, strategies, clusters, jax)

    @cached_property
    def roots(self) -> dict[Path, None]:
        """The folders that the names of the checked files are relative to, in the order of the files."""
        return dict.fromkeys(self.dotted_name(path)[1] for path in self.checked)

    @cached_property
    def _offered(self) -> dict[str, list[Path]]:
        """Those of them that have a file or folder for modules whose dotted name begins so."""
        found: dict[str, list[Path]] = {}
        for root in self.roots:
            for first in {name.removesuffix(".py") for name in self._listed(str(root))}:
                found.setdefault(first, []).append(root)
        return found

    def offering(self, first: str) -> str:
        """Those of the roots that have modules whose dotted name begins so, as a digest."""
        return _digest_of(self._offered.get(first, ()))

    @cached_property
    def roots_digest(self) -> str:
        """The roots in their order, and the folders around those of the checked files."""
        folders = dict.fromkeys(path.parent for path in self.checked)
        installed = (path.parent for path in self.checked if self.is_installed(path))
        return _digest_of(
            (*self.roots, *chain.from_iterable(map(self._folders_around, folders)), *dict.fromkeys(installed))
        )

    def is_installed(self, path: Path) -> bool:
        """Whether a file is of a package that is made to be installed, and used by programs that are not here."""
        name, root = self.dotted_name(path)
        first, inside, _ = name.partition(".")
        package = root / first
        if package not in self._installed:
            self._installed[package] = is_installed(str(package))
        return self._installed[package] and (bool(inside) or path.name == "__init__.py")

    def _folders_around(self, folder: Path) -> tuple[Path, ...]:
        """Those that names in a folder may be relative to where no root has them."""
        if folder not in self._around:
            self._around[folder] = tuple(folders_around(folder, self._projects, self._around_checked))
        return self._around[folder]

    @cached_property
    def _around_checked(self) -> Path:
        """The folder that all the checked files are in."""
        return together(path.parent for path in self.checked)

    def dotted_name(self, path: Path) -> tuple[str, Path]:
        """The dotted name of a file, and the folder that it is relative to."""
        folder = path.parent
        if folder not in self._packages:
            self._packages[folder] = dotted_name(folder / "__init__.py")
        package, root = self._packages[folder]
        if path.name == "__init__.py":
            return package, root
        return f"{package}.{path.stem}" if package else path.stem, root

    def _load(self, path: Path) -> Loaded:
        if path in self.checked:
            try:
                return self._read(self.checked[path]())
            except UnreadableSource as error:  # it could be read a moment ago
                return Loaded(None, None, failures=(InternalTrouble(str(path), str(error), ""),))
        digest: str | None = None

        def read() -> Source:
            nonlocal digest
            data = read_bytes(path)
            digest = digest_of(data)
            return source_of(data, path, str(path), linted=False)

        try:
            return self._read(read() if self._session is None else self._session.source(path, read))
        except UnreadableSource:
            return Loaded(None, digest)  # not ours to report: resolution simply ends here

    def _read(self, source: Source) -> Loaded:
        try:
            file = File(source) if self._session is None else self._session.file(source)
        except OutlineError as error:
            code = UNFINISHED_FILE if error.deep else SYNTAX_ERROR
            return Loaded(None, source.digest, (SyntaxTrouble.of(source, error, code),))
        except Exception as error:
            return Loaded(None, source.digest, failures=(InternalTrouble.of(error, source.display, 1, "reading it"),))
        self._keep(file)
        return Loaded(file, source.digest, tuple(SyntaxTrouble.of(source, part) for part in source.trouble))

    def _keep(self, file: File) -> None:
        """Let files keep what was parsed of them, as far as there is room: the ones that were read last."""
        if not file.is_worth_keeping:
            file.let_go()
        elif file.kept_lines:
            self._recent.append(file)
        while self.kept_lines > _KEPT_LINES:
            self._recent.popleft().let_go()

    @property
    def kept_lines(self) -> int:
        """The lines of which is kept what was parsed."""
        return sum(file.kept_lines for file in self._recent)

    def let_go(self) -> None:
        """Have no file keep what was parsed of it: what is needed of them are trees by now."""
        while self._recent:
            self._recent.popleft().let_go()

    def go_on(self) -> None:
        """Raises Stopped where the run is not wanted any more."""
        if self._session is not None and self._session.stopped():
            raise Stopped

    def load(self, path: Path) -> Loaded:
        """The file at a path, whether or not somebody asked to check it, and what came of reading it."""
        note_outline(path)
        loaded = self._by_path.get(path)
        if loaded is None:
            loaded = self._by_path[path] = self._kept.pop(path) if path in self._kept else self._load(path)
        return loaded

    def forget_most(self, own: Sequence[Path]) -> None:
        """Keep little of what was read for a part of the project: not its own files, and of those of others as many
        as have little text."""
        self.let_go()
        those = set(own)
        used = {path: loaded for path, loaded in self._by_path.items() if path not in those} | self._kept
        self._by_path, self._kept = {}, {}
        self._offers.clear()
        self._found.clear()
        self._listings.clear()
        room = _KEPT_TEXT
        for path, loaded in used.items():
            room -= 0 if loaded.file is None else len(loaded.file.source.text)
            if room >= 0:
                self._kept[path] = loaded

    def find(self, folder: Path, name: str) -> Path | None:
        """The file of the module with the dotted `name` below a folder. Most names are those of other packages, which
        the listing of the folder already tells."""
        first = name.partition(".")[0]
        if self.lacks(str(folder), first):
            note_absent(folder, first)
            return None
        found = self._look_up(folder, name)
        note_name(folder, name, found)
        return found

    def find_below_roots(self, name: str, beside: Path) -> Path | None:
        """The file of a module below the first of the roots that has it, the nearest first; one of them was asked
        already."""
        first = name.partition(".")[0]
        note_offered(first)
        here = str(beside)
        for root in self._nearest(first, beside):
            if str(root) != here:  # paths are compared many times slower than texts
                found = self._look_up(root, name)
                note_name(root, name, found)
                if found is not None:
                    return found
        return None

    def _nearest(self, first: str, beside: Path) -> Iterator[Path]:
        """The roots that offer modules of a name. Of projects that lie side by side, each of which has its own
        `models`, the nearest comes first; what lies inside of another comes last, as tests do in folders that are named
        after those that they are of."""
        roots = self._offered.get(first, ())
        if len(roots) < 2:
            yield from roots
            return
        if first not in self._below:  # looked through once: a checkout may hold thousands that have a `utils`
            known, below = set(roots), dict[Path, list[Path]]()
            for root in roots:
                for folder in (root, *root.parents) if known.isdisjoint(root.parents) else ():
                    below.setdefault(folder, []).append(root)
            self._below[first] = below
        passed: set[Path] = set()
        for folder in (beside, *beside.parents):
            for root in self._below[first].get(folder, ()):
                if root not in passed:
                    passed.add(root)
                    yield root
        yield from (root for root in roots if root not in passed)

    def find_around(self, name: str, beside: Path) -> Path | None:
        """The file of a module below the nearest of the folders around one that has it: where nothing shows from where
        a program is started, since its folders have no `__init__.py` or all of them have one."""
        here = str(beside)
        for folder in self._folders_around(beside):
            if str(folder) != here and (found := self.find(folder, name)) is not None:
                return found
        return self._find_inside(name, beside)

    def _find_inside(self, name: str, beside: Path) -> Path | None:
        """The file of a module whose name begins with that of the outermost of the folders around one: it is started
        beside that folder, where nothing else may be looked for."""
        first, _, inside = name.partition(".")
        if not inside:
            return None
        outermost = self._folders_around(beside)[-1]
        named = first == outermost.name and self.lacks(str(outermost), first)
        return self.find(outermost, inside) if named else None

    def sought(self, folder: str, name: str) -> str | None:
        """The same, for whom it is not noted: who compares what was noted before."""
        return None if self.lacks(folder, name.partition(".")[0]) else self._file_of(folder, name)

    def offered_in(self, folder: str, package: str) -> frozenset[str]:
        """The names of which a package below a folder may have modules; of others `sought` finds none."""
        asked = folder, package
        if asked not in self._offers:
            self._offers[asked] = self._offered_by(os.path.join(folder, *filter(None, package.split("."))))
        return self._offers[asked]

    def _offered_by(self, folder: str) -> frozenset[str]:
        names = frozenset(name.removesuffix(".py") for name in self._listed(folder))
        return names | self._checked_in.get(folder, frozenset())

    def lacks(self, folder: str, first: str) -> bool:
        """Whether a folder has neither a file nor a folder for modules whose dotted name begins so."""
        listing = self._listed(folder)
        return first not in listing and f"{first}.py" not in listing

    def _listed(self, folder: str) -> frozenset[str]:
        """What is in a folder; most names of modules are those of other packages, or of what a module defines."""
        listing = self._listings.get(folder)
        if listing is None:
            if self._session is not None:
                self._session.note_listing(folder)
            listing = self._listings[folder] = _listing(folder)
        return listing

    def imports(self, path: Path, version: object, find: Callable[[], frozenset[Path]]) -> frozenset[Path]:
        """What a file of this version imports: as it was found before, or as `find` says, which is to look for all of
        it."""
        known = self._imports.get(path)
        if known is None or known.version != version:
            reads = Reads()
            with noted_in(reads):
                known = self._imports[path] = Imports(version, find(), reads)
        note_all(known.reads)
        return known.found

    def place(self, asked: object, find: Callable[[], Path | None]) -> Path | None:
        """The file of a module: as an earlier run found it that `asked` the same, or as `find` says."""
        if self._session is None:
            return find()
        known = self._session.places.get(asked)
        if known is None:
            reads = Reads()
            with noted_in(reads):
                known = find(), reads
            self._session.note_place(asked, known)
        note_all(known[1])
        return known[0]

    def _look_up(self, folder: Path, name: str) -> Path | None:
        """The file of a module below a folder, by its dotted name."""
        asked = str(folder), name
        try:
            return self._found[asked]
        except KeyError:
            package, _, last = name.rpartition(".")
            found = self._file_of(*asked) if last in self.offered_in(asked[0], package) else None
            self._found[asked] = None if found is None else Path(found)
            return self._found[asked]

    def _file_of(self, folder: str, name: str) -> str | None:
        """The same, in text, which is many times faster: most names are those that a module defines."""
        stem = os.path.join(folder, *name.split("."))
        file, package = f"{stem}.py", os.path.join(stem, "__init__.py")
        if file in self._checked:
            return file
        above, last = os.path.split(stem)
        beside = self._listed(above)
        if f"{last}.py" in beside and self._may_be_read(file):
            return file
        if package in self._checked or (
            last in beside and "__init__.py" in self._listed(stem) and self._may_be_read(package)
        ):
            return package
        return None

    def _may_be_read(self, path: str) -> bool:
        """Whether a file that is not to be checked may be read for the sake of one."""
        return os.path.isfile(path) and self._is_near(Path(path))

    @cached_property
    def _checked(self) -> frozenset[str]:
        return frozenset(map(str, self.checked))

    @cached_property
    def _checked_in(self) -> Mapping[str, frozenset[str]]:
        """The names of the checked modules, by the folders that hold them."""
        found: dict[str, set[str]] = {}
        for file in self._checked:
            folder, name = os.path.split(file)
            above, package = os.path.split(folder)
            found.setdefault(folder, set()).add(name.removesuffix(".py"))
            found.setdefault(above, set()).add(package)
        return {folder: frozenset(names) for folder, names in found.items()}

    def _is_near(self, path: Path) -> bool:
        """Whether a file may be read because another imports it: not what lies beside the repository, where its files
        are looked for if it is itself a package."""
        return self._repositories is None or any(path.is_relative_to(root) for root in self._repositories)

    @cached_property
    def _repositories(self) -> frozenset[Path] | None:
        """Those of the checked files; None where some are in none."""
        found = {self._projects.repository(folder) for folder in {path.parent for path in self.checked}}
        return None if None in found else frozenset(root for root in found if root is not None)


def _digest_of(folders: Iterable[Path]) -> str:
    return digest_of("\0".join(map(str, folders)).encode("utf-8", "surrogateescape"))


def _listing(folder: str) -> frozenset[str]:
    return frozenset(os.listdir(folder)) if os.path.isdir(folder) else frozenset()


def _itself(source: Source) -> Source:
    return source
