"""The interpreter's ground floor: names, events, evidence, and what the floors above it provide."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from typing import Any, Final

from ...syntax import nodes as cst
from ..budget import Clock
from ..domain.values import UNKNOWN, Api, Deferred, FunctionValue, Instance, OneOf, Unknown, Value, settled
from ..files.files import Place
from ..program import customary_names as libraries
from ..program.project import Class, Function, Module, Project
from .events import Context, ContextKind, Event, Setup
from .frames import Arguments, Compilation, Frame, Summary

BUILTINS: Final = {name: Api(f"builtins.{name}") for name in dir(builtins)}


@dataclass(frozen=True, slots=True)
class Options:
    """What the analysis is asked. `keras`: 2 or 3, None to decide by imports; `include_host`: report on eager code."""

    keras: int | None = None
    include_host: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that something outside the project calls, or will: where analysis starts."""

    value: FunctionValue
    context: Context
    arguments: Arguments


class Core(ABC):
    """State shared by all floors: the project, what was analysed, what is still to be entered."""

    def __init__(self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock) -> None:
        self.project = project
        self.clock = clock
        self.options = options
        self.wanted_apis = wanted_apis
        self.entries: list[Entry] = []
        self.host_roots: list[Summary] = []
        self.memo: dict[Any, Summary] = {}
        # How often each function was analysed: on the host counted apart, and what sets up objects for each class.
        self.analyses: dict[tuple[Function, bool, Class | None], int] = {}
        self.instances: dict[Class, Instance] = {}
        self.orphans: list[tuple[FunctionValue, Context]] = []
        self.local_classes: list[Class] = []
        self.called: dict[object, Function] = {}  # compiled functions that the project calls itself, by identity
        self.piped: dict[object, Function] = {}  # functions that input pipelines run, by identity
        self.strategies = project.files.strategies  # whether scopes and makings are followed
        self.scope_stays = False  # whether a function enters a scope and leaves it to its caller
        self.set_up = False  # whether any call that sets a program up was met
        self._entered: set[Any] = set()
        self._orders: dict[cst.CSTNode, int] = {}

    # -- floors above -------------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, frame: Frame, node: cst.BaseExpression) -> Value: ...

    @abstractmethod
    def call(self, frame: Frame, callee: Value, arguments: Arguments, node: cst.BaseExpression) -> Value: ...

    @abstractmethod
    def execute_body(self, frame: Frame, body: cst.BaseSuite | Ordered[cst.BaseStatement]) -> None: ...

    @abstractmethod
    def invoke(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, node: cst.CSTNode | None
    ) -> Value: ...

    @abstractmethod
    def analyse(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, context: Context
    ) -> Summary | None: ...

    @abstractmethod
    def attribute(self, frame: Frame, owner: Value, name: str, node: cst.BaseExpression) -> Value: ...

    # -- events -------------------------------------------------------------------------------------------------------

    def emit(self, frame: Frame, kind: type[Event], node: cst.CSTNode, /, **content: Any) -> None:
        """Say that something happens at `node`; on the host only where that was asked for, or it sets a program up."""
        if issubclass(kind, Setup):
            self.set_up = True
        elif frame.context.kind is ContextKind.HOST and not self.options.include_host:
            return
        event = kind(Place(frame.unit, node), frame.context, None, frame.loop > 0, **content)
        frame.summary.events.append(event)

    def order_of(self, node: cst.CSTNode) -> int:
        """When the program comes to a place for the first time, as a number among others."""
        return self._orders.setdefault(node, len(self._orders))

    def said_on_host(
        self, frame: Frame, kind: type[Event], node: cst.CSTNode, context: Context, /, **content: Any
    ) -> None:
        """Say what host code does to what XLA compiles, `context`; a test says nothing of how code is meant to run."""
        if not frame.module.is_test:
            event = kind(Place(frame.unit, node), context, None, frame.loop > 0, **content)
            frame.summary.events.append(event)

    # -- evidence -----------------------------------------------------------------------------------------------------

    def doubt(self, frame: Frame, value: Value) -> None:
        """Remember that it would matter whether `value` is a tensor."""
        if isinstance(value, Unknown) and value.names:
            frame.doubts |= value.names

    def witness(self, frame: Frame, value: Value) -> None:
        """A use that only tensors have: the parameter that `value` is, is one."""
        if frame.conditional:
            return  # what one branch takes for a tensor may be something else in the others
        if isinstance(value, Unknown) and len(value.names) == 1 and not value.compared and not value.part:
            (name,) = value.names
            frame.evidence.add(name)

    def no_tensor(self, frame: Frame, value: Value) -> None:
        """A use that a tensor has not: what `value` comes from is a structure, a flag or an object."""
        if isinstance(value, Unknown) and value.names:
            frame.summary.structures |= value.names

    # -- names --------------------------------------------------------------------------------------------------------

    def lookup(self, frame: Frame, name: str) -> Value | None:
        """The value bound to a name, from the inside out; None if nothing binds it."""
        scope: Frame | None = frame if name not in frame.globals else None
        while scope is not None:
            if scope.env is not None and (value := scope.env.get(name)) is not None:
                if isinstance(value, Deferred):
                    value = scope.env[name] = settled(value)
                return value
            scope = scope.parent
        found = frame.module.lookup(name)
        if found is not None:
            return found
        if name in BUILTINS:
            return BUILTINS[name]
        if name in ("__name__", "__file__", "__doc__"):
            return libraries.MODULE_STRING
        return None

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
        frame.half_bound.pop(name, None)
        frame.env[name] = value

    # -- entries ------------------------------------------------------------------------------------------------------

    def enter(self, value: FunctionValue, compilation: Compilation | Context, arguments: Arguments, tag: str) -> None:
        """Register a function that is called from outside (a compiled function, a loss, a callback), once."""
        context = compilation if isinstance(compilation, Context) else compilation.context
        key = (value.function, id(value.scope), id(value.bound), context.kind, context.autograph, tag)
        if key not in self._entered:
            self._entered.add(key)
            self.entries.append(Entry(value, context, arguments))

    # -- conveniences -------------------------------------------------------------------------------------------------

    def keras_version(self, module: Module) -> int:
        """2 where the settings or an import of `tf_keras` say so, else 3."""
        if self.options.keras is not None:
            return self.options.keras
        return 2 if module.imports_keras_2 else 3

    @classmethod
    def functions_in(cls, value: Value) -> tuple[FunctionValue, ...]:
        """The functions of the project that calling `value` may run."""
        match value:
            case FunctionValue():
                return (value,)
            case Instance(made) if (method := made.find("__call__")) is not None:
                return (method_value(method, value),)
            case OneOf(alternatives):
                return tuple(found for option in alternatives for found in cls.functions_in(option))
            case _:
                return ()


def method_value(method: Function, bound: Value | None) -> FunctionValue:
    """A method with what it is bound to, in the scope around its class."""
    scope = method.owner.scope if method.owner is not None else None
    return FunctionValue(method, scope, bound)
