"""The names that a rewrite may use at its place: TensorFlow's, new ones, and the import of what is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

from ..analysis.files.unit import Location
from ..sources.outline import Binding, ImportOutline, Outline, bind_import
from ..syntax import nodes as cst

_TENSORFLOW: Final = frozenset(("tensorflow", "tensorflow.compat.v2"))
# What an import of TensorFlow is written as, by the name that it binds; the first that is free is taken.
_IMPORTS: Final = {"tf": "import tensorflow as tf", "tensorflow": "import tensorflow"}
_DEFAULT_INDENT: Final = "    "
_WORD: Final = re.compile(r"[^\W\d]\w*")


class NoNameError(Exception):
    """Every name under which a rewrite could import what it needs means something else at the place."""


class Names:
    """The names at a place. What is asked for here is what the rewrite needs: a missing import becomes part of it."""

    def __init__(self, location: Location, bounds: Mapping[str, int] = MappingProxyType({})) -> None:
        self.location = location
        self.bounds = bounds  # of sizes, by the names that the settings give
        self._file = location.unit.file
        self._chosen: set[str] = set()
        self.needed: str | None = None  # the import statement that the module lacks

    def renew(self) -> None:
        """Forget what was asked for: another rewrite of the same place is built."""
        self._chosen.clear()
        self.needed = None

    @property
    def tf(self) -> str:
        """The name of TensorFlow ("tf"). Raises `NoNameError`."""
        name, self.needed = self._tensorflow
        return name

    @property
    def bound_tf(self) -> str | None:
        """The name that TensorFlow has here, if it has one."""
        name, missing = self._tensorflow
        return name if missing is None else None

    @property
    def needs_tensorflow(self) -> bool:
        """Whether TensorFlow was asked for, and the module does not import it."""
        return self.needed in _IMPORTS.values()

    def is_of_keras_alone(self, by_keras: bool) -> bool:
        """Whether the file imports nothing of TensorFlow, and Keras, or holds code that is run `by_keras`."""
        imports = [one for found in self._file.outline.bindings.values() for one in found]
        packages = {one.module.partition(".")[0] for one in imports if isinstance(one, ImportOutline) and not one.level}
        return (by_keras or "keras" in packages) and "tensorflow" not in packages

    @cached_property
    def _tensorflow(self) -> tuple[str, str | None]:
        """The name of TensorFlow, and the import statement that binds it if there is none."""
        local, module = _bound_around(self.location), self._file.outline
        for name, found in local.bindings.items():
            if name not in local.assigned and all(map(_is_tensorflow, found)):
                return name, None
        hidden = local.assigned | local.bindings.keys()
        for name, found in module.bindings.items():
            if name not in hidden and any(map(_is_tensorflow, found)):
                return name, None
        for name, statement in _IMPORTS.items():
            if name not in hidden | module.assigned | module.bindings.keys():
                assumed = name == "tf" and self._file.may_be_fragment
                return name, None if assumed else statement
        raise NoNameError(f"{self._file.source.display}: no name is free for TensorFlow")

    def imported(self, module: str, attribute: str) -> str:
        """What a module offers, by the name that it has here, or that an import gives it. Raises `NoNameError`."""
        local, outer = _bound_around(self.location), self._file.outline
        hidden = local.assigned | local.bindings.keys()
        for wanted, behind in ((attribute, ""), (None, f".{attribute}")):
            meant = ImportOutline(module, wanted, 0)
            for bindings, without in ((local.bindings, local.assigned), (outer.bindings, hidden)):
                for name, found in bindings.items():
                    if name not in without and all(one == meant for one in found):
                        return f"{name}{behind}"
        if attribute in hidden | outer.assigned | outer.bindings.keys():
            raise NoNameError(f"{self._file.source.display}: {attribute} is something else")
        self.needed = f"from {module} import {attribute}"
        return attribute

    @property
    def only_version_1(self) -> bool:
        """Whether the TensorFlow that the file imports is version 1, and no other."""
        _, needed = self._tensorflow
        imports = [one for found in self._file.outline.bindings.values() for one in found]
        return needed is not None and any(isinstance(one, ImportOutline) and _is_version_1(one) for one in imports)

    @cached_property
    def indent(self) -> str:
        """By how much blocks are indented here."""
        unit = self.location.unit
        around = unit.around(self.location.node)
        block = next((node for node in around if isinstance(node, cst.IndentedBlock)), None) or unit.first_block
        return _DEFAULT_INDENT if block is None else unit.indent_of(block)

    def fresh(self, wanted: str) -> str:
        """A name that nothing around the place uses: `wanted`, or that with a number."""
        number = 1
        name = wanted
        while name in self._used or name in self._chosen:
            number += 1
            name = f"{wanted}_{number}"
        self._chosen.add(name)
        return name

    @cached_property
    def _used(self) -> set[str]:
        """Every word of the function around the place, or of the file where there is none."""
        inside = any(isinstance(node, cst.FunctionDef) for node in self.location.unit.around(self.location.node))
        return set(_WORD.findall(self.location.unit.text if inside else self._file.text))


def _is_tensorflow(binding: Binding) -> bool:
    match binding:
        case ImportOutline(module, None, 0, whole):
            return module in _TENSORFLOW or (whole and module.partition(".")[0] == "tensorflow")
        case ImportOutline(module, str() as attribute, 0):
            return f"{module}.{attribute}" in _TENSORFLOW
        case _:
            return False


def _is_version_1(binding: ImportOutline) -> bool:
    path = f"{binding.module}.{binding.attribute or ''}"
    return f"{path}.".startswith("tensorflow.compat.v1.")


def _bound_around(location: Location) -> Outline:
    """What the functions around a place bind: imports in `bindings`, everything else in `assigned`."""
    unit = location.unit
    indented = unit.text[:1] in (" ", "\t")
    line = location.line - unit.first_line + 1 + indented
    found = Outline()
    pending = list(_functions(f"if 1:\n{unit.text}" if indented else unit.text))
    while pending:
        function = pending.pop()
        if function.first <= line <= function.last:
            found.assigned |= function.own.assigned
            for name, bindings in function.own.bindings.items():
                found.bindings.setdefault(name, []).extend(bindings)
            pending += function.inner
    return found


@dataclass(slots=True)
class _Function:
    """A function or lambda from its first line to its last: what it binds itself, and those that stand in it."""

    first: int
    last: int
    own: Outline = field(default_factory=Outline)
    inner: list[_Function] = field(default_factory=list)


@lru_cache(maxsize=8)  # findings come by file, many of one function
def _functions(text: str) -> tuple[_Function, ...]:
    """The functions of a text that stand in no other."""
    outermost = _Function(0, 0)
    _collect(ast.parse(text), outermost, outermost)
    return tuple(outermost.inner)


def _collect(node: ast.AST, around: _Function, outermost: _Function) -> None:
    """Add what `node` binds to the function around it, and the functions in it."""
    inside = around is not outermost
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            if inside and not isinstance(node, ast.Lambda):
                around.own.assigned.add(node.name)
            function = _Function(node.lineno, node.end_lineno or node.lineno)
            around.inner.append(function)
            around = function
        case ast.Import() | ast.ImportFrom() if inside:
            bind_import(node, around.own)
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name) if inside:
            around.own.assigned.add(name)
    for child in ast.iter_child_nodes(node):
        _collect(child, around, outermost)
