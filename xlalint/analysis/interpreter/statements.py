"""Statements: blocks, `with`, `try`, definitions of functions and classes."""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import ClassVar, Final

from ...syntax import nodes as cst
from ..domain.joins import element_of, join_all, join_environments
from ..domain.kinds import options
from ..domain.values import (
    NONE,
    STATIC,
    Api,
    ApiObject,
    ClassValue,
    FunctionValue,
    Instance,
    OneOf,
    Sequence,
    Value,
)
from ..files.troubles import InternalTrouble
from ..files.unit import Location
from ..library.changing_numbers import settled
from ..library.strategies import scope_entered
from ..program.definitions import DefinedClass, DefinedFunction
from ..record import replace
from .contexts import NOT_TRACED, Context, ContextKind
from .eager_steps import is_tape, run_step, step_context
from .frames import Arguments, Frame
from .interface import Handlers, Interpreter, method_value

# What ends the program. In a notebook it ends the cell, and the others may be run all the same.
_EXITS: Final = frozenset(("sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"))
_ALL_EXCEPTIONS: Final = frozenset(("builtins.Exception", "builtins.BaseException"))


class Statements(Interpreter):
    """Statements, one after the other."""

    def execute_body(self, frame: Frame, body: cst.BaseSuite | Ordered[cst.BaseStatement]) -> None:
        """Execute a block until its end, or until execution cannot go on."""
        match body:
            case cst.IndentedBlock() | cst.BaseSuite():  # the first one is asked for many times faster
                self._execute(frame, body.body)
            case _:
                self._execute(frame, body)

    def _execute(self, frame: Frame, statements: Ordered[cst.CSTNode]) -> None:
        for position, statement in enumerate(statements):
            if frame.env is None:
                frame.summary.skipped += statements[position:]
                return
            handler = self.STATEMENTS.get(type(statement))
            if handler is None:
                continue
            self.clock.check()
            try:
                handler(self, frame, statement)
            except Exception as error:
                self._note_failure(frame, statement, error)

    def _note_failure(self, frame: Frame, statement: cst.CSTNode, error: Exception) -> None:
        """An exception of the analyser costs one statement, and is told; it never costs the run."""
        location = Location(frame.unit, statement)
        found = InternalTrouble.of(error, location.path, location.span[0], "reading this statement")
        if found not in self.project.failures:
            self.project.failures.append(found)

    def _line(self, frame: Frame, node: cst.SimpleStatementLine) -> None:
        match node.body:
            case [statement]:  # most lines
                handler = self.STATEMENTS.get(type(statement))
                if handler is not None:
                    handler(self, frame, statement)
            case several:
                self._execute(frame, several)

    def _expression(self, frame: Frame, node: cst.Expr) -> None:
        self.evaluate(frame, node.value)
        match node.value:
            # Only what may be one is evaluated once more.
            case cst.Call(
                func=cst.Name("exit" | "quit") | cst.Attribute(attr=cst.Name("exit" | "_exit" | "abort")) as func
            ) if not frame.unit.file.source.cells:
                match self.evaluate(frame, func):
                    case Api(name) if name in _EXITS:
                        frame.env = None

    def _return(self, frame: Frame, node: cst.Return) -> None:
        value = NONE if node.value is None else self.evaluate(frame, node.value)
        self.report_leaving(frame, node, "return")
        once = frame.context.kind in NOT_TRACED and not frame.looped
        frame.returns.append(settled(value, Location(frame.unit, node)) if once else value)
        frame.left = join_environments(frame.left, frame.env)
        frame.env = None

    def _raise(self, frame: Frame, node: cst.Raise) -> None:
        if node.exc is not None:
            raised = self.evaluate(frame, node.exc)
            frame.summary.raised += [option for option in options(raised) if isinstance(option, Instance)]
        frame.env = None

    def _with(self, frame: Frame, node: cst.With) -> None:
        context, taped = frame.context, False
        for item in node.items:
            before = len(frame.summary.calls)
            value = self.evaluate(frame, item.item)
            if isinstance(value, ApiObject) and value.api == "tf.xla.experimental.jit_scope":
                frame.context = self.jitted(context)
            entered = self.entered(frame, value, item.item)
            if self.strategies:
                made = (callee for location, callee in frame.summary.calls[before:] if location.node is item.item)
                yields_in = [scope for callee in made for scope in callee.yields_in]
                scope = scope_entered(value, frame.context.scope, yields_in)
                if scope is not frame.context.scope:
                    frame.context = replace(frame.context, scope=scope)
            if item.asname is not None:
                self.assign(frame, item.asname.name, entered)
            taped = taped or is_tape(value)
        if taped:
            frame.context = step_context(self, frame, node)
        step = frame.context
        if taped and step is not context:
            run_step(self, frame, node)
        else:
            self.execute_body(frame, node.body)
        frame.context = step if taped and context.kind is ContextKind.GRAPH else context

    def entered(self, frame: Frame, value: Value, node: cst.BaseExpression) -> Value:
        """What `with value as name` binds."""
        match value:
            case Instance(cls) if (method := cls.find("__enter__")) is not None:
                return self.invoke(frame, method_value(method, value), Arguments(), node)
            case OneOf(options=several):
                return join_all(*(self.entered(frame, option, node) for option in several))
            case Sequence(kind="list") if (element := element_of(value)) is not None:
                return element  # a generator that contextlib turned into a context manager
            case _:
                return value

    @staticmethod
    def jitted(context: Context) -> Context:
        """The context inside `tf.xla.experimental.jit_scope`."""
        if context.kind is ContextKind.HOST:
            return context
        entry = "code inside `tf.xla.experimental.jit_scope`"
        return replace(context, kind=ContextKind.XLA, entry=entry, keras=None)

    def _try(self, frame: Frame, node: cst.Try | cst.TryStar) -> None:
        before = frame.env
        if before is None:
            return
        frame.env = dict(before)
        earlier, frame.summary.raised = frame.summary.raised, []
        self.execute_body(frame, node.body)
        raised, frame.summary.raised = frame.summary.raised, earlier
        raised = _apart(raised) if isinstance(node, cst.TryStar) else raised
        tried = frame.env
        if node.orelse is not None:
            self.execute_body(frame, node.orelse.body)
        after: dict[str, Value] | None = frame.env
        for handler in node.handlers:
            frame.env = join_environments(dict(before), tried)
            caught = self._caught(frame, handler, raised)
            raised = [exception for exception in raised if exception not in caught]
            if handler.name is not None:
                self.assign(frame, handler.name.name, self._bound_to(frame, handler, caught))
            self.execute_body(frame, handler.body)
            after = join_environments(after, frame.env)
        frame.summary.raised += raised
        frame.env = after
        if node.finalbody is not None:
            left = frame.env is None
            frame.env = dict(before) if left else frame.env
            self.execute_body(frame, node.finalbody.body)
            if left:
                frame.env = None

    def _bound_to(
        self, frame: Frame, handler: cst.ExceptHandler | cst.ExceptStarHandler, caught: list[Instance]
    ) -> Value:
        """What a handler has under its name: one of the exceptions, or with `except*` a group of them."""
        group = self.project.written("builtins.ExceptionGroup") if isinstance(handler, cst.ExceptStarHandler) else None
        if group is not None and caught and handler.type is not None:
            return self.call(frame, group, Arguments([STATIC, Sequence("tuple", tuple(caught))]), handler.type)
        return join_all(*caught) if caught else STATIC

    def _caught(
        self, frame: Frame, handler: cst.ExceptHandler | cst.ExceptStarHandler, raised: list[Instance]
    ) -> list[Instance]:
        """The exceptions that a handler is for."""
        if handler.type is None or not raised:
            return raised
        said = self.evaluate(frame, handler.type)
        kinds = said.items if isinstance(said, Sequence) and said.items is not None else (said,)
        classes = {kind.cls for kind in kinds if isinstance(kind, ClassValue)}
        names = {kind.name for kind in kinds if isinstance(kind, Api)}
        if names & _ALL_EXCEPTIONS:
            return raised
        return [exception for exception in raised if not (classes | names).isdisjoint(exception.cls.mro)]

    def _define(self, frame: Frame, node: cst.FunctionDef) -> None:
        name = node.name.value
        if (own := self._of_the_module(frame, node)) is not None:
            self.bind(frame, name, self.decorated(own, frame) if isinstance(own, FunctionValue) else own)
            return
        prefix = f"{frame.summary.name}." if frame.function is not None else ""
        texts = tuple(frame.unit.code(decorator.decorator) for decorator in node.decorators)
        function = DefinedFunction(frame.module, name, prefix + name, None, texts, _unit=frame.unit, _node=node)
        value = self.remember_local(frame, FunctionValue(function, None if frame.is_module else frame))
        if frame.context.backends is not None:
            frame.made_for[value.function] = frame.context.backends
        self.bind(frame, name, self.decorated(value, frame))

    @staticmethod
    def _of_the_module(frame: Frame, node: cst.FunctionDef | cst.ClassDef) -> FunctionValue | ClassValue | None:
        """The definition as the module has it, where it stands in a block of top-level code: others call it, too."""
        if not frame.is_module or frame.context.backends is not None:
            return None
        return frame.module.definition(node.name.value, Location(frame.unit, node).line)

    def _class(self, frame: Frame, node: cst.ClassDef) -> None:
        if (own := self._of_the_module(frame, node)) is not None:
            self.bind(frame, node.name.value, own)
            return
        prefix = f"{frame.summary.name}." if frame.function is not None else ""
        made = DefinedClass(frame.module, node.name.value, prefix + node.name.value)
        made.base_values = tuple(self.evaluate(frame, base.value) for base in node.bases if not base.star)
        body: list[cst.BaseStatement] = []
        for statement in node.body.body if isinstance(node.body, cst.IndentedBlock) else ():
            if isinstance(statement, cst.FunctionDef):
                texts = tuple(frame.unit.code(decorator.decorator) for decorator in statement.decorators)
                inner = DefinedFunction(
                    frame.module, statement.name.value, f"{made.qualname}.{statement.name.value}", made, texts
                )
                inner._unit, inner._node = frame.unit, statement
                made.functions.setdefault(statement.name.value, inner)
            else:
                body.append(statement)
        made.scope = None if frame.is_module else frame
        made.attributes = self.run_class_body(made, frame, body)
        self.local_class(frame, made)
        self.bind(frame, node.name.value, ClassValue(made))

    STATEMENTS: ClassVar[Handlers[None]] = {
        cst.SimpleStatementLine: _line,
        cst.Expr: _expression,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.With: _with,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.FunctionDef: _define,
        cst.ClassDef: _class,
    }


def _apart(raised: list[Instance]) -> list[Instance]:
    """Exceptions, with those that a group holds in its place."""
    found: list[Instance] = []
    for exception in raised:
        match exception.attributes.get("exceptions"):
            case Sequence(items=tuple(items)) if exception.cls.module.written:
                found += _apart([item for item in items if isinstance(item, Instance)])
            case _:
                found.append(exception)
    return found
