"""The program as names: modules, classes and functions of all files, resolved across them, parsed only when needed."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final

from ...findings.findings import Backend
from ...sources.outline import ImportOutline
from ...sources.text import Source, digest_of
from ...sources.words import words_in
from ..domain.values import (
    UNKNOWN,
    Api,
    Module,
    ModuleValue,
    Value,
)
from ..files.file import SMALL, File
from ..files.files import Files
from ..files.troubles import InternalTrouble, SyntaxTrouble
from ..library import api
from .backends import imported
from .guards import EVERY, left_by
from .modules import ProjectModule
from .python_library import module_and_name, path_of
from .signs import ModuleSigns, Shows, Sign

# Known by name and never read, even where their source lies beside the project.
_KNOWN_LIBRARIES = frozenset(("tensorflow", "keras", "tf_keras", "numpy"))

_MOST_IMPORTS: Final = 8  # from one module to the next, until a name is found


class Project:
    """The modules of the files to check, and those that they turn out to import. A module is made when a name of it is
    first needed.

    `share`: the files whose functions are analysed for their own sake; None for all."""

    def __init__(self, files: Files, share: Sequence[Path] | None = None) -> None:
        self.files = files
        self.trouble: list[SyntaxTrouble] = []
        self.failures: list[InternalTrouble] = []
        self.execute: Callable[[Module], None] = lambda module: None  # set by the interpreter
        self._by_path: dict[Path, ProjectModule | None] = {}
        self._further: list[Path] = []  # roots of files that are not checked
        self._roots: tuple[str, ...] = ()  # the same in text, which is hashed many times faster
        self._known: dict[tuple[Module, str, int], ProjectModule | None] = {}
        self._paths: dict[tuple[str, str, tuple[str, ...]], Path | None] = {}
        self._share = tuple(files.checked if share is None else share)
        self._written: dict[str, ProjectModule | None] = {}  # modules of Python's library
        self._imported: dict[Path, set[Path]] = {}  # where functions import
        self._shown: dict[Path, dict[Shows, Sign]] = {}
        self._folders: dict[str, ProjectModule] = {}  # packages without an `__init__.py`

    def read(self, wanted: Callable[[Path], bool] = lambda path: True) -> Iterator[ProjectModule]:
        """The modules to analyse for their own sake, or some of them, each of which is read when it is asked for."""
        for path in filter(wanted, self._share):
            module = self._module_at(path)
            if module is not None:
                yield module

    @cached_property
    def modules(self) -> list[ProjectModule]:
        """All of them."""
        return list(self.read())

    def find(self, name: str, near: Module) -> ProjectModule | None:
        """The project's module with the dotted `name`: beside the importing file, or under a known root; asked for
        once, as long as there are no further roots."""
        asked = near, name, len(self._further)
        if asked not in self._known:
            path = self._path_of(name, near)
            if path is not None:
                self._imported.setdefault(near.path, set()).add(path)
            self._known[asked] = None if path is None else self._module_at(path)
        return self._known[asked]

    def _path_of(self, name: str, near: Module) -> Path | None:
        """The file of that module, for whoever asks in its folder."""
        asked = os.path.dirname(near.path), name, self._roots
        if asked not in self._paths:
            self._paths[asked] = self.files.place(asked, lambda: self._sought(name, near.path.parent))
        return self._paths[asked]

    def _sought(self, name: str, beside: Path) -> Path | None:
        path = self.files.find(beside, name) or self.files.find_below_roots(name, beside)
        further = iter(self._further)
        while path is None and (root := next(further, None)) is not None:
            path = self.files.find(root, name) if root != beside else None
        return path or self.files.find_around(name, beside)

    def show(self, module: Module, shows: Shows, sign: Sign) -> None:
        """Note what a place shows of whether XLA compiles the program; a test shows nothing of that."""
        if not module.is_test:
            signs = self._shown.setdefault(module.path, {})
            signs[shows] = min(sign, signs.get(shows, sign))

    def signs(self) -> list[ModuleSigns]:
        """The modules that were read, what they import, and what they show."""
        found = []
        for path, module in self._read():
            if module.imports_keras_2:
                self.show(module, Shows.KERAS_2, Sign(0, "an import that Keras 3 does not have"))
            if self.files.jax:
                for shows, sign in imported(module):
                    self.show(module, shows, sign)
                if asked := next((one.under[-1] for one in module.file.imports if one.under), None):
                    self.show(module, Shows.ON_SEVERAL, Sign(0, f"an import under `{asked}`"))
            name, root = self.files.dotted_name(path)
            top, inside, _ = name.partition(".")
            package = root / top if inside or path.name == "__init__.py" else path
            imports = self._imported.get(path, set()) | self._imports_of(module)
            found.append(
                ModuleSigns(
                    str(path),
                    str(package),
                    module.is_test,
                    module.file.is_script,
                    sorted(map(str, imports)),
                    self._shown.get(path, {}),
                    self._guarded(module),
                )
            )
        return found

    def _read(self) -> Iterator[tuple[Path, ProjectModule]]:
        """The modules that were read, and those that are read for what is asked of these."""
        done = 0
        while done < len(self._by_path):
            for path, module in [*self._by_path.items()][done:]:
                done += 1
                if module is not None:
                    yield path, module

    def _imports_of(self, module: ProjectModule) -> frozenset[Path]:
        """The files of the project that a module's imports name."""
        version = module.file.names_imported, module.name, self._roots
        return self.files.imports(module.path, version, lambda: frozenset(self._paths_imported(module)))

    def _guarded(self, module: ProjectModule) -> dict[str, list[str]]:
        """The files that a module imports under tests of the backend alone, and the backends that pass one of them."""
        found: dict[str, set[Backend]] = {}
        for binding in module.file.imports if module.file.imports_under_tests else ():
            path = self._path_imported(module, binding)
            if path is not None:
                left = left_by(binding.under, lambda name: _name_of(module.resolve_text(name)))
                found.setdefault(str(path), set()).update(left)
        return {path: sorted(left) for path, left in found.items() if left != EVERY}

    def _paths_imported(self, module: Module) -> Iterator[Path]:
        """The same, looked for anew: what this project has looked for already is not noted once more."""
        sought = cache(partial(self._sought, beside=module.path.parent))
        paths = (self._path_imported(module, binding, sought) for binding in module.file.imports)
        return (path for path in paths if path is not None)

    def _path_imported(
        self, module: Module, binding: ImportOutline, find: Callable[[str], Path | None] | None = None
    ) -> Path | None:
        """The file of the project that an import names. `find`: that of a module by its name."""
        find = find or partial(self._path_of, near=module)
        name = self._absolute(module, binding)
        if not name or name.partition(".")[0] in _KNOWN_LIBRARIES:
            return None
        inner = f"{name}.{binding.attribute}" if binding.attribute not in (None, "*") else name
        return find(inner) or find(name)

    def imported_for_effect(self, module: Module) -> Iterator[ProjectModule]:
        """The modules that a module imports for what happens when they are read: those that it does not name again, and
        the short `__init__.py` that is read before a module of its package."""
        counts = Counter(words_in(module.file.text))
        named = [(name, binding) for name, bindings in module.outline.bindings.items() for binding in bindings]
        for name, binding in (*named, *(("*", star) for star in module.outline.stars)):
            path = self._path_imported(module, binding) if isinstance(binding, ImportOutline) else None
            if path is None:
                continue
            package = self._module_at(path.parent / "__init__.py") if "." in self.files.dotted_name(path)[0] else None
            if package is not None and len(package.source.text) < SMALL:
                yield package
            found = self._module_at(path) if counts[name] <= 1 or name == "*" else None
            if found is not None:
                yield found

    def defined_names(self) -> list[str]:
        """The names of the functions in the files to analyse, in order."""
        return sorted({function.name for module in self.modules for function in module.all_functions()})

    def home_of(self, module: Module, name: str) -> tuple[Module, str]:
        """The module whose own name a name is, behind imports."""
        for _ in range(_MOST_IMPORTS):
            match module.outline.bindings.get(name):
                case [ImportOutline(attribute=str(attribute)) as binding] if name not in module.values:
                    source = self._module(self._absolute(module, binding), module)
                    if source is None:
                        break
                    module, name = source, attribute
                case _:
                    break
        return module, name

    def is_assigned(self, module: Module, name: str) -> bool:
        """Whether a name is what top-level code assigns, behind imports; nothing is run to find that out."""
        for _ in range(_MOST_IMPORTS):
            match module.outline.bindings.get(name):
                case [ImportOutline(attribute=str(attribute)) as binding]:
                    source = self._module(self._absolute(module, binding), module)
                    if source is None:
                        return False
                    module, name = source, attribute
                case bindings:
                    return not bindings and name in module.outline.assigned
        return False

    def written(self, name: str) -> Value | None:
        """The function or class of Python's library that has this canonical name, where it is written down."""
        module, inner = module_and_name(name)
        if module not in self._written:
            file = self.files.load(path_of(module)).file
            self._written[module] = None if file is None else ProjectModule(self, file, module, written=True)
        found = self._written[module]
        return None if found is None else found.lookup(inner)

    def _module_at(self, path: Path) -> ProjectModule | None:
        if path not in self._by_path:
            loaded = self.files.load(path)
            self.trouble += loaded.trouble
            self.failures += loaded.failures
            self._by_path[path] = None if loaded.file is None else self._made(loaded.file)
        return self._by_path[path]

    def _made(self, file: File) -> ProjectModule:
        name, root = self.files.dotted_name(file.source.path)
        if root not in self.files.roots and root not in self._further:
            self._further.append(root)
            self._roots = tuple(map(str, self._further))
        return ProjectModule(self, file, name)

    def resolve_import(self, module: Module, binding: ImportOutline) -> Value:
        """The value that an import binds: of the project if it has the file, else a library's canonical name."""
        name = self._absolute(module, binding)
        if binding.whole:
            return self._outermost(name, module)
        if binding.attribute is None or not name:
            return self._module_or_api(name or binding.attribute or "", module)
        source = self._module(name, module)
        if source is not None:
            return self.member(source, binding.attribute) or UNKNOWN
        return self._module_or_api(f"{name}.{binding.attribute}", module)  # of a folder without an `__init__.py`, too

    def resolve_star(self, module: Module, binding: ImportOutline, name: str) -> Value | None:
        absolute = self._absolute(module, binding)
        source = self._module(absolute, module)
        if source is None:
            canonical = api.canonical(f"{absolute}.{name}")
            return Api(canonical) if api.known(canonical) or api.known_module(canonical) else None
        return None if source is module else source.lookup(name)

    def member(self, module: Module, name: str) -> Value | None:
        """An attribute of a module: what it binds, else its submodule."""
        found = module.lookup(name)
        if found is not None:
            return found
        inner = self.submodule(module, name) if module.path.name == "__init__.py" else None
        return ModuleValue(inner) if inner else None

    def submodule(self, package: Module, name: str) -> ProjectModule | None:
        """The module of that name in a package."""
        return self._module(f"{package.name}.{name}", package)

    def module_imported(self, module: Module, binding: ImportOutline, *, inside: bool = False) -> ProjectModule | None:
        """The project's module from which a `from` import takes a name; or that it names itself, `inside` of a
        folder."""
        name = self._absolute(module, binding)
        return self._module(".".join(filter(None, (name, binding.attribute))) if inside else name, module)

    def _module(self, name: str, near: Module) -> ProjectModule | None:
        first = name.partition(".")[0]
        if not name or first in _KNOWN_LIBRARIES:
            return None
        found = self.find(name, near)
        # Python's own module comes before one of that name which only a folder around has: a package has a `random.py`.
        return None if found is not None and found.name != name and first in sys.stdlib_module_names else found

    def _outermost(self, name: str, near: Module) -> Value:
        """What `import name` binds: the outermost package, which may be a folder without an `__init__.py`."""
        first, _, inner = name.partition(".")
        found = self._module_or_api(first, near)
        if not inner or isinstance(found, ModuleValue) or (source := self._module(name, near)) is None:
            return found
        while "." in name:
            name, _, last = name.rpartition(".")
            package = self._module(name, near) or self._folders.setdefault(name, _folder(self, name))
            package.values[last] = ModuleValue(source)
            source = package
        return ModuleValue(source)

    def _module_or_api(self, name: str, near: Module) -> Value:
        found = self._module(name, near)
        return ModuleValue(found) if found else Api(api.canonical(name))

    @staticmethod
    def _absolute(module: Module, binding: ImportOutline) -> str:
        if binding.level == 0:
            return binding.module
        package = module.name.split(".")
        drop = binding.level - (module.path.name == "__init__.py")
        base = package[: len(package) - drop] if drop else package
        if drop > len(package):  # out of a folder without an `__init__.py`
            base = [module.path.parents[min(binding.level, len(module.path.parents)) - 1].name]
        return ".".join([*base, *([binding.module] if binding.module else [])])


def _folder(project: Project, name: str) -> ProjectModule:
    """A package that is a folder without an `__init__.py`: it has submodules alone."""
    path = Path(*name.split("."))
    return ProjectModule(project, File(Source(path, str(path), "", digest_of(b""), linted=False)), name)


def _name_of(value: Value) -> str | None:
    return value.name if isinstance(value, Api) else None
