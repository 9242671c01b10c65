"""What the files of a program show, and which of them make a program: by which files import which.

A program is what is reached by imports from one file; a package as a whole is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import PurePath
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")


class Shows(StrEnum):
    """What a place in a file shows of its program."""

    XLA = "xla"  # XLA compiles something, for certain
    TPU = "tpu"  # the same, and all that shows it is about TPUs
    PERHAPS = "perhaps"  # a switch decides that when it runs
    KERAS_3 = "keras 3"  # Keras decides that when it runs, if it is Keras 3
    STEPS = "steps"  # XLA compiles a step of training, or may: one of Keras, or one that takes its gradients itself
    CLUSTERS = "clusters"  # autoclustering compiles parts of its graphs
    EAGER = "eager"  # a script has TensorFlow run its functions line by line
    SYMBOLIC = "symbolic"  # models are made of Keras's inputs, which layers are traced with
    GRAPHS = "graphs"  # a `tf.function`, a loop of Keras, or a layer in a sequence of layers
    FUNCTIONS = "functions"  # a `tf.function`
    SOFT = "soft"  # operations without a kernel for a TPU run on its host
    KERAS_2 = "keras 2"  # the program does not run on Keras 3
    TRAINING = "training"  # a model is trained, and nothing else is said
    SCRIPT = "script"  # what stands at the top of the file trains or evaluates, so that the file is run by itself
    KERAS = "keras"  # a class that Keras runs
    ON_JAX = "on jax"  # Keras is told to run on JAX
    ON_TENSORFLOW = "on tensorflow"  # or on TensorFlow
    ON_SEVERAL = "on several"  # the code asks which it is, or whoever runs it decides
    TAPE = "tape"  # TensorFlow takes gradients of what Keras runs
    STRATEGY = "strategy"  # a script makes a strategy of TensorFlow's, which nothing else runs models in
    OWN_KERAS = "own keras"  # an import of Keras, and not by way of TensorFlow
    TENSORFLOW = "tensorflow"  # an import of TensorFlow
    JAX = "jax"  # an import of JAX


class Sign(Struct, frozen=True, array_like=True, order=True):
    """A place that shows something; `text` says what stands there. `line`: 0 for the file as a whole."""

    line: int
    text: str


class ModuleSigns(Struct, array_like=True):
    """A file, by its absolute path: the package that it is of (the outermost folder, else the file), the files that it
    imports, and what it shows. `test`: what it imports is not used by a program for that; `script`: it is run by
    itself, and says so; `guarded`: of what it imports only under tests of the backend, those that pass."""

    path: str
    package: str
    test: bool
    script: bool
    imports: list[str]
    signs: dict[Shows, Sign]
    guarded: dict[str, list[str]] = {}

    @property
    def is_run(self) -> bool:
        """Whether the file is run by itself, as it says; or as it shows, if it is in no package."""
        return self.script or (Shows.SCRIPT in self.signs and self.package == self.path)

    def joined_with(self, other: ModuleSigns) -> ModuleSigns:
        """What this and another partition have seen of the same file."""
        signs = {shows: min(sign, self.signs.get(shows, sign)) for shows, sign in (self.signs | other.signs).items()}
        imports = sorted({*self.imports, *other.imports})
        return replace(self, imports=imports, guarded=other.guarded | self.guarded, signs=signs)


def place(path: str, sign: Sign) -> str:
    """Where a sign stands: the lines of a notebook are those of its cells."""
    return path if path.endswith(".ipynb") else f"{path}:{sign.line or 1}"


def spread(marks: Mapping[str, T], ways: Mapping[str, Collection[str]]) -> dict[str, T]:
    """The marks, and the same for what is reached from them; the nearest one where there are several."""
    found, pending = dict(marks), list(marks)
    for unit in pending:  # which grows
        fresh = sorted(other for other in ways.get(unit, ()) if other not in found)
        found |= dict.fromkeys(fresh, found[unit])
        pending += fresh
    return found


class ProgramGraph:
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

    def programs(self, marks: Mapping[str, T]) -> dict[str, T]:
        """The marks of units, for all of the programs that they are in."""
        users = spread(marks, self._importers)
        return users | spread({unit: said for unit, said in users.items() if unit not in self._tests}, self.imports)

    def used_by_scripts(self, is_installed: Callable[[str], bool]) -> set[str]:
        """The units of scripts and those that they import, unless these are packages that others install."""
        scripts = {module.package for module in self._modules if module.is_run and not module.test}
        used = spread(dict.fromkeys(scripts, True), self.imports)
        return {unit for unit in used if unit in self.unit or not is_installed(unit)}

    def eager(self) -> set[str]:
        """The units that nothing leads to but what has its functions run line by line, or imports what does that."""
        first = [module for module in self._modules if module.is_run or not self._importers.get(self.unit[module.path])]
        alone = {file: True for file, _ in self.of(Shows.EAGER) if self.unit[file] == file}
        switching = spread(alone, self._importers)
        compiled = {
            unit: True
            for module in first
            if (unit := self.unit[module.path]) not in switching and Shows.EAGER not in module.signs
        }
        line_by_line = {unit: True for module in first if (unit := self.unit[module.path]) not in compiled}
        return spread(line_by_line, self.imports).keys() - spread(compiled, self.imports).keys()

    def libraries(self, used: Collection[str]) -> Iterator[str]:
        """What no program here imports and has classes that Keras runs: others will. A file beside programs that train
        is one of theirs, and a package with a script that trains is such a program itself. `used`: the words of
        imports in other files, to which a file belongs that they name."""
        training = {self.unit[file] for file, _ in self.of(Shows.TRAINING)}
        programs = training.intersection(module.package for module in self._modules if module.is_run)
        for unit in dict.fromkeys(self.unit[file] for file, _ in self.of(Shows.KERAS)):
            importers = self._importers.get(unit, set()) - self._tests - self._reached(unit)
            if unit in self.unit and PurePath(unit).stem in used:
                continue
            if not importers and unit not in programs and (unit not in self.unit or not training):
                yield unit

    def _reached(self, unit: str) -> set[str]:
        return set(spread({unit: True}, self.imports))
