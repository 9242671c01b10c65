"""Modules of the project: a file's outline, and what its top-level code binds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from ...sources.outline import Binding, ClassOutline, FunctionOutline, ImportOutline
from ...sources.testing import is_among_tests, is_named_as_test
from ..domain.joins import as_list, without_none
from ..domain.kinds import settled
from ..domain.values import (
    STATIC,
    UNKNOWN,
    Api,
    ClassValue,
    Deferred,
    Dict,
    FunctionValue,
    Module,
    ModuleValue,
    Static,
    Value,
)
from ..files.file import File
from ..library import api
from ..library.keras_2 import is_of_keras_2
from ..library.tokenizers import LIBRARIES
from .definitions import DefinedClass, DefinedFunction
from .python_library import BUILTINS, CONTAINERS

_MOST_SETTINGS: Final = 64  # of a dict whose values are told apart
# How many imports a file may be away from one that brings TensorFlow to have something to do with it.
_STEPS_TO_TENSORFLOW: Final = 3
_NAMED: Final = re.compile(r"\b(?:tf|keras)\s*\.")  # a file that uses it


class Resolver(Protocol):
    """What a module asks of the project around it."""

    def execute(self, module: Module) -> None:
        """Run a module's top-level code."""

    def resolve_import(self, module: Module, binding: ImportOutline) -> Value:
        """The value that an import binds: of the project if it has the file, else a library's canonical name."""

    def written(self, name: str) -> Value | None:
        """The function or class of Python's library that has this canonical name, where it is written down."""

    def resolve_star(self, module: Module, binding: ImportOutline, name: str) -> Value | None:
        """The value of a name that `from .. import *` may bind."""

    def module_imported(self, module: Module, binding: ImportOutline) -> Module | None:
        """The project's module from which a `from` import takes a name."""

    def is_assigned(self, module: Module, name: str) -> bool:
        """Whether a name is what top-level code assigns, behind imports; nothing is run to find that out."""

    def member(self, module: Module, name: str) -> Value | None:
        """An attribute of a module: what it binds, else its submodule."""


class ProjectModule:
    """A file of the project: its outline, and what its top-level code binds once it has been executed."""

    def __init__(self, project: Resolver, file: File, name: str, written: bool = False) -> None:
        self.project = project
        self.written = written
        self.file = file
        self.source = file.source
        self.path = file.source.path
        self.outline = file.outline
        self.name = name
        self.values: dict[str, Value] = {}  # bound by executing top-level code
        self.executed = False
        self._resolved: dict[str, Value | None] = {}
        self._deferred: dict[ImportOutline, Deferred] = {}
        self._imported: dict[ImportOutline, Value] = {}
        self.classes: list[DefinedClass] = []
        self.functions: list[DefinedFunction] = []
        self._definitions: dict[int, DefinedFunction | DefinedClass] = {}
        for bindings in self.outline.bindings.values():
            for binding in bindings:
                match binding:
                    case FunctionOutline():
                        made = self._function(binding, None)
                        self._definitions[id(binding)] = made
                        self.functions.append(made)
                    case ClassOutline():
                        self._definitions[id(binding)] = self._class(binding, "")

    @cached_property
    def is_test(self) -> bool:
        """Whether the file holds tests, by its name or its folder's; one that has none and runs alone is a program."""
        path = self.source.display
        return is_among_tests(path) or (is_named_as_test(path) and not self.file.runs_alone)

    @cached_property
    def names_tensorflow(self) -> bool:
        """Whether the code names TensorFlow as an `import *` gives it, of a file of the project that imports it."""
        if not self.outline.stars or _NAMED.search(self.file.text) is None:
            return False
        sources = (self.project.module_imported(self, star) for star in self.outline.stars)
        return any(source is not None and source.file.concerns_tensorflow(None) for source in sources)

    @cached_property
    def serves_tensorflow(self) -> bool:
        """Whether the file brings TensorFlow, or what a file of the project defines that does: a factory, say. What
        that imports counts, too, and once more what that does."""
        if self.file.uses_tensorflow:
            return True
        seen: set[Module] = {self}
        fresh: list[Module] = [self]
        for _ in range(_STEPS_TO_TENSORFLOW):
            imported = [value for module in fresh for value in module.all_imported()]
            if any(map(_is_for_tensorflow, imported)):
                return True
            found = {module for value in imported if (module := _home_of(value)) is not None and not module.is_test}
            fresh = sorted(found - seen, key=lambda module: module.path)
            seen |= found
        return False

    def all_imported(self) -> Iterator[Value | None]:
        """The values of the names that imports bind, None for what top-level code assigns, which is not run for that;
        and the modules of the project that `import *` takes all from."""
        for name, bindings in self.outline.bindings.items():
            if any(isinstance(binding, ImportOutline) for binding in bindings):
                yield None if self.project.is_assigned(self, name) else self.lookup(name)
        for star in self.outline.stars:
            source = self.project.module_imported(self, star)
            if source is not None:
                yield ModuleValue(source)

    @property
    def concerns_keras(self) -> bool:
        """Whether top-level code imports TensorFlow or Keras, is a piece of documentation that does not, or may tell
        Keras what to run on."""
        return self.file.concerns_tensorflow(None) or self.file.may_be_fragment or self.file.tells_keras

    @property
    def imports_keras_2(self) -> bool:
        """Whether the module imports what only Keras 2 runs with: its package, modules that ended with it, or a library
        that needs them. A name that another import may bind as well says nothing."""
        if self.file.of_keras_2 is None:
            self.file.of_keras_2 = self._imports_of_keras_2()
        return self.file.of_keras_2

    def _imports_of_keras_2(self) -> bool:
        return any(
            isinstance(binding, ImportOutline)
            and (is_of_keras_2(binding.module) or is_of_keras_2(f"{binding.module}.{binding.attribute}"))
            for bindings in self.outline.bindings.values()
            if len(bindings) == 1
            for binding in bindings
        )

    def _function(self, shape: FunctionOutline, owner: DefinedClass | None) -> DefinedFunction:
        qualname = f"{owner.qualname}.{shape.name}" if owner else shape.name
        return DefinedFunction(self, shape.name, qualname, owner, shape.decorators, shape.stretch)

    def _class(self, shape: ClassOutline, prefix: str) -> DefinedClass:
        made = DefinedClass(
            self,
            shape.name,
            prefix + shape.name,
            base_texts=shape.bases,
            decorator_texts=shape.decorators,
            keyword_texts=shape.keywords,
            code=shape.code,
            stretch=shape.stretch,
        )
        made.functions = {name: self._function(inner, made) for name, inner in shape.functions.items()}
        made.setters = {name: self._function(inner, made) for name, inner in shape.setters.items()}
        made.classes = {name: self._class(inner, made.qualname + ".") for name, inner in shape.classes.items()}
        self.classes.append(made)
        return made

    def all_functions(self) -> Iterator[DefinedFunction]:
        """Every function and method that the module defines at its top or in its classes."""
        yield from self.functions
        for cls in self.classes:
            yield from cls.functions.values()

    def definition(self, name: str, line: int) -> FunctionValue | ClassValue | None:
        """The function or class of that name which stands at a line, if it is the module's."""
        for binding in self.outline.bindings.get(name, ()):
            if not isinstance(binding, ImportOutline) and binding.stretch.first <= line <= binding.stretch.last:
                return _defined(self._definitions[id(binding)])
        return None

    def lookup(self, name: str) -> Value | None:
        """What the module binds to `name`, executing its top-level code if that is what binds it; None if nothing."""
        if (value := self.values.get(name)) is not None:
            return settled(value)
        if not self.executed and name in self.outline.assigned:
            self.project.execute(self)
            if name in self.values:
                return settled(self.values[name])
        if name not in self._resolved:
            self._resolved[name] = None  # ends a cycle of imports
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def deferred(self, binding: ImportOutline) -> Deferred:
        """The value of an import statement that is executed: one object each, so that branches agree on it."""
        return self._deferred.setdefault(binding, Deferred(self, binding))

    def imported(self, binding: ImportOutline) -> Value:
        """The value that an import binds, now that it is read."""
        if binding not in self._imported:
            self._imported[binding] = UNKNOWN  # ends a cycle of imports
            self._imported[binding] = self.project.resolve_import(self, binding)
        return self._imported[binding]

    def _resolve(self, name: str) -> Value | None:
        guess: Value | None = None
        for binding in self._candidates(name):
            match binding:
                case ImportOutline():
                    value = self.imported(binding)
                case _:
                    value = _defined(self._definitions[id(binding)])
            if not isinstance(value, Api):
                return value
            guess = guess or value
        if guess is not None:
            return guess
        if name in self.outline.literals:
            return _literal(self.outline.literals[name])
        for star in self.outline.stars:
            found = self.project.resolve_star(self, star, name)
            if found is not None:
                return found
        return None

    def bind_defaults(self) -> None:
        for name, written in self.outline.literals.items():
            if name in self.outline.assigned:
                self.values.setdefault(name, as_list(_literal(written)))

    def _candidates(self, name: str) -> Sequence[Binding]:
        """What may bind a name: of definitions one below the other the last, of those in branches any."""
        bindings = self.outline.bindings.get(name, ())
        match bindings:
            case [_, *_, (FunctionOutline() | ClassOutline()) as last]:
                if not any(block.first <= last.stretch.first <= block.last for block in self.outline.blocks):
                    return (last,)
        return bindings

    def ancestor(self, base: Value) -> Value:
        """A base class of Python's library as it is written down; any other as it is."""
        if not isinstance(base, Api) or base.name not in CONTAINERS:
            return base
        return self.project.written(CONTAINERS[base.name]) or base

    def resolve_text(self, text: str) -> Value:
        """The value of a dotted name in source text (a base class); UNKNOWN for anything more complicated."""
        head, *rest = text.split("[")[0].split(".")
        value = without_none(self.lookup(head) or BUILTINS.get(head) or UNKNOWN)
        for attribute in rest:
            match value:
                case Api(name):
                    value = Api(api.canonical(f"{name}.{attribute}"))
                case ModuleValue(module):
                    value = self.project.member(module, attribute) or UNKNOWN
                case ClassValue(cls) if attribute in cls.classes:
                    value = ClassValue(cls.classes[attribute])
                case _:
                    return UNKNOWN
            value = without_none(value)
        return value


def _is_for_tensorflow(value: Value | None) -> bool:
    """Whether what an import brings is written in a file of the project that imports TensorFlow at its top, a module
    that does so anywhere or a function that does so itself, or of a library that makes batches for it."""
    match value:
        case FunctionValue(function) if function.uses_tensorflow:
            return True
        case ModuleValue(module):
            return module.file.uses_tensorflow
        case Api(name):
            return name.startswith(LIBRARIES)
        case _:
            home = _home_of(value)
            return home is not None and home.file.concerns_tensorflow(None)


def _home_of(value: Value | None) -> Module | None:
    """The module that a name stands for, or that defines the class or function that it stands for."""
    match value:
        case ModuleValue(module):
            return module
        case ClassValue(cls):
            return cls.module
        case FunctionValue(function):
            return function.module
        case _:
            return None


def _literal(node: ast.expr) -> Value:
    """The value of a literal. What Python itself could not make, a dict with a list for a key, is none."""
    try:
        return _value_of(ast.literal_eval(node))
    except TypeError:
        return STATIC


def _value_of(constant: Any) -> Value:
    """A constant as a value: settings in a dict are told apart, and others may take their places."""
    if not isinstance(constant, dict) or len(constant) > _MOST_SETTINGS:
        return Static(constant)
    if not all(isinstance(key, str | int) for key in constant):
        return Static(constant)
    return Dict({key: _value_of(value) for key, value in constant.items()})


def _defined(definition: DefinedFunction | DefinedClass) -> FunctionValue | ClassValue:
    return FunctionValue(definition) if isinstance(definition, DefinedFunction) else ClassValue(definition)
