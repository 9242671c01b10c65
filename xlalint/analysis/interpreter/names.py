"""Names: looked up from the inside out, bound in the scope that owns them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...sources.outline import ImportOutline
from ...syntax import nodes as cst
from ..domain.kinds import settled
from ..domain.values import UNKNOWN, Deferred, Module, Unknown, Value
from ..library.local_paths import LOCAL
from ..program import customary_names as libraries
from ..program.python_library import BUILTINS
from .captured import captured
from .contexts import ContextKind
from .frames import Frame
from .interface import Handlers, Interpreter
from .replicas import perhaps_parted


class Names(Interpreter):
    """Names and scopes."""

    def lookup(self, frame: Frame, name: str) -> Value | None:
        """The value bound to a name, from the inside out; None if nothing binds it."""
        scope: Frame | None = frame if name not in frame.globals else None
        while scope is not None:
            if scope.env is not None and (value := scope.env.get(name)) is not None:
                if isinstance(value, Deferred):
                    value = scope.env[name] = settled(value)
                value = perhaps_parted(value) if self.strategies and scope is not frame else value
                return captured(frame, value) if scope.context.kind is ContextKind.HOST else value
            scope = scope.parent
        found = self._of_module(frame.module, name)
        if found is not None:
            found = perhaps_parted(found) if self.strategies and not frame.is_module else found
            return found if frame.module in self.fragments else captured(frame, found)
        if name in BUILTINS:
            return BUILTINS[name]
        if name in libraries.OF_IPYTHON:
            return libraries.OF_IPYTHON[name]
        if name == "__file__":
            return LOCAL
        if name in ("__name__", "__doc__"):
            return libraries.MODULE_STRING
        return None

    def _of_module(self, module: Module, name: str) -> Value | None:
        """The value of a module's name: of one that a branch or a loop of its top-level code binds, while that runs and
        calls the function that reads it."""
        top = self.module_frames.get(module)
        if top is not None and top.env is not None and name in top.env and name not in module.values:
            return settled(top.env[name])
        return module.lookup(name)

    def undefined(self, frame: Frame, name: str) -> Value:
        """A name that nothing binds: of a fragment, if the file is one."""
        if frame.module.outline.stars:
            return UNKNOWN
        if name in frame.assumed:
            return frame.assumed[name]
        frame.undefined.add(name)
        return libraries.default_name(name) or Unknown(frozenset((name,)))

    def bind(self, frame: Frame, name: str, value: Value) -> None:
        """Assign to a name in the scope that owns it."""
        if frame.env is None:
            return
        if name in frame.globals:
            frame.module.values[name] = value
            return
        if name in frame.nonlocals:
            scope = frame.parent
            while scope is not None:
                if scope.env is not None and name in scope.env:
                    scope.env[name] = value
                    return
                scope = scope.parent
        frame.unjoined.pop(name, None)
        frame.env[name] = value

    def rebind(self, frame: Frame, name: str, value: Value) -> None:
        """An object was changed in place that has this name: in the scope that owns it, or in a module, whose
        functions run in an order that nobody knows."""
        scope: Frame | None = frame
        while scope is not None:
            if scope.env is not None and name in scope.env:
                scope.env[name] = value
                return
            scope = scope.parent
        if frame.module.lookup(name) is None:
            return
        module, name = self.project.home_of(frame.module, name)
        if name not in module.values and (present := module.lookup(name)) is not None:
            module.values[name] = present
        self.writes.assign(module, module.values, name, value)

    @staticmethod
    def imports_of(node: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, ImportOutline]]:
        """The names that an import inside a function binds."""
        if isinstance(node, cst.Import):
            for alias in node.names:
                dotted = alias.evaluated_name
                bound = alias.evaluated_alias
                yield bound or dotted.partition(".")[0], ImportOutline(dotted, None, 0, bound is None and "." in dotted)
        elif not isinstance(node.names, cst.ImportStar):
            module, level = cst.imported_from(node)
            for alias in node.names:
                name = alias.evaluated_name
                yield alias.evaluated_alias or name, ImportOutline(module, name, level)

    def _import(self, frame: Frame, node: cst.Import | cst.ImportFrom) -> None:
        for name, binding in self.imports_of(node):
            self.bind(frame, name, frame.module.deferred(binding))

    def _global(self, frame: Frame, node: cst.Global) -> None:
        frame.globals |= {item.name.value for item in node.names}

    def _nonlocal(self, frame: Frame, node: cst.Nonlocal) -> None:
        frame.nonlocals |= {item.name.value for item in node.names}

    STATEMENTS: ClassVar[Handlers[None]] = {
        cst.Import: _import,
        cst.ImportFrom: _import,
        cst.Global: _global,
        cst.Nonlocal: _nonlocal,
    }
