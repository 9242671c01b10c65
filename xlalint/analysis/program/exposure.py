"""How sure it is that XLA compiles anything of a program: by what its files show, and by which files import which.

A program is what is reached by imports from one file; a package as a whole is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ...findings.findings import Exposure


class Shows(StrEnum):
    """What a place in a file shows of its program."""

    XLA = "xla"  # XLA compiles something, for certain
    PERHAPS = "perhaps"  # a switch decides that when it runs
    KERAS_3 = "keras 3"  # Keras decides that when it runs, if it is Keras 3
    CLUSTERS = "clusters"  # autoclustering compiles parts of its graphs
    KERAS_2 = "keras 2"  # the program does not run on Keras 3
    TRAINING = "training"  # a model is trained, and nothing else is said
    KERAS = "keras"  # a class that Keras runs


class Sign(Struct, frozen=True, array_like=True, order=True):
    """A place that shows something; `text` says what stands there. `line`: 0 for the file as a whole."""

    line: int
    text: str


class ModuleSigns(Struct, array_like=True):
    """A file, by its absolute path: the package that it is of (the outermost folder, else the file), the files that it
    imports, and what it shows. `test`: what it imports is not used by a program for that; `script`: it is run by
    itself."""

    path: str
    package: str
    test: bool
    script: bool
    imports: list[str]
    signs: dict[Shows, Sign]


class Exposed(Struct, frozen=True):
    """How sure it is of a file, and what shows that. `whole`: the scripts that use the file are here, so that nobody
    calls what they do not lead to; a package without a script, or one that is made to be installed, has users
    elsewhere. `keras_2`: the program does not run
    on Keras 3; `clusters`: nothing but autoclustering compiles it, which leaves out what XLA refuses and compiles the
    rest again for new shapes and sizes (measured)."""

    exposure: Exposure
    shown: str = ""
    whole: bool = False
    keras_2: bool = False
    clusters: bool = False


NOT_EXPOSED: Final = Exposed(Exposure.NONE)
_LIBRARY: Final = Exposed(Exposure.LIKELY, "the package defines Keras classes, which its users may compile")
_LEVELS: Final = {
    Shows.XLA: Exposure.CERTAIN,
    Shows.PERHAPS: Exposure.LIKELY,
    Shows.KERAS_3: Exposure.LIKELY,
    Shows.CLUSTERS: Exposure.LIKELY,
}


def exposures(
    modules: Iterable[ModuleSigns], name: Callable[[str], str], is_installed: Callable[[str], bool]
) -> dict[str, Exposed]:
    """How sure it is of each file, by its absolute path; `name` says how reports show a path, `is_installed` whether
    the package of a path is made to be installed."""
    graph = _Graph(modules)
    of_keras_2 = graph.programs({graph.unit[file]: NOT_EXPOSED for file, _ in graph.of(Shows.KERAS_2)})
    own: dict[str, Exposed] = {}
    units: dict[str, Exposed] = {}
    for shows, exposure in _LEVELS.items():
        signs = {
            file: Exposed(exposure, f"{sign.text} ({_place(name(file), sign)})", clusters=shows is Shows.CLUSTERS)
            for file, sign in graph.of(shows)
            if shows is not Shows.KERAS_3 or graph.unit[file] not in of_keras_2
        }
        own = {**signs, **own}
        units = {**graph.programs({graph.unit[file]: said for file, said in signs.items()}), **units}
    libraries = dict.fromkeys(graph.libraries(), _LIBRARY)
    units = {**_spread(libraries, graph.imports), **units}
    found = {file: units.get(unit, NOT_EXPOSED) for file, unit in graph.unit.items()}
    found |= {
        file: said
        for file, said in own.items()
        if (said.exposure, said.clusters) == (found[file].exposure, found[file].clusters)
    }
    whole = graph.used_by_scripts(is_installed)
    return {
        file: replace(of, whole=graph.unit[file] in whole, keras_2=graph.unit[file] in of_keras_2)
        for file, of in found.items()
    }


def _place(path: str, sign: Sign) -> str:
    """Where a sign stands: the lines of a notebook are those of its cells."""
    return path if path.endswith(".ipynb") else f"{path}:{sign.line or 1}"


def _spread(marks: Mapping[str, Exposed], ways: Mapping[str, Collection[str]]) -> dict[str, Exposed]:
    """The marks, and the same for what is reached from them; the nearest one where there are several."""
    found, pending = dict(marks), list(marks)
    for unit in pending:  # which grows
        fresh = sorted(other for other in ways.get(unit, ()) if other not in found)
        found |= dict.fromkeys(fresh, found[unit])
        pending += fresh
    return found


class _Graph:
    """The units of programs (packages, files that are in none, and tests), with what imports what."""

    def __init__(self, modules: Iterable[ModuleSigns]) -> None:
        self._modules = sorted(modules, key=lambda module: module.path)
        self._tests = {module.path for module in self._modules if module.test}
        self.unit = {module.path: module.path if module.test else module.package for module in self._modules}
        self.imports: dict[str, set[str]] = {}
        self._importers: dict[str, set[str]] = {}
        for module in self._modules:
            unit = self.unit[module.path]
            others = {self.unit.get(path, path) for path in module.imports} - {unit}
            self.imports.setdefault(unit, set()).update(others)
            for other in others:
                self._importers.setdefault(other, set()).add(unit)

    def of(self, shows: Shows) -> Iterator[tuple[str, Sign]]:
        """The files that show something, and where."""
        return ((module.path, module.signs[shows]) for module in self._modules if shows in module.signs)

    def programs(self, marks: Mapping[str, Exposed]) -> dict[str, Exposed]:
        """The marks of units, for all of the programs that they are in."""
        users = _spread(marks, self._importers)
        return users | _spread({unit: said for unit, said in users.items() if unit not in self._tests}, self.imports)

    def used_by_scripts(self, is_installed: Callable[[str], bool]) -> set[str]:
        """The units of scripts, unless these are in a package that others install, and the files in no package that
        they import."""
        scripts = {module.package for module in self._modules if module.script and not module.test}
        used = _spread(dict.fromkeys(scripts, NOT_EXPOSED), self.imports)
        whole = {unit for unit in scripts if unit in self.unit or not is_installed(unit)}
        return whole | {unit for unit in used if unit in self.unit}

    def libraries(self) -> Iterator[str]:
        """What no program here imports and has classes that Keras runs: others will. A file beside programs that train
        is one of theirs."""
        trains = any(True for _ in self.of(Shows.TRAINING))
        for unit in dict.fromkeys(self.unit[file] for file, _ in self.of(Shows.KERAS)):
            importers = self._importers.get(unit, set()) - self._tests - self._reached(unit)
            if not importers and (unit not in self.unit or not trains):
                yield unit

    def _reached(self, unit: str) -> set[str]:
        return set(_spread({unit: NOT_EXPOSED}, self.imports))
