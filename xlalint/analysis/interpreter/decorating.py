"""What decorators make of a function, and whether they may compile it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ...sources.outline import ImportOutline
from ...syntax import nodes as cst
from ...syntax.build import parse_expression
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.values import (
    STATIC,
    Api,
    Class,
    ClassValue,
    Function,
    FunctionValue,
    Instance,
    Module,
    ModuleValue,
    Origin,
    Structure,
    Unknown,
    Value,
)
from ..files.file import stores
from ..files.unit import Location, Unit
from ..program.decorator_texts import names_compilers
from ..program.decorators import TRANSPARENT, gives_another_result
from ..program.project import Project
from ..record import replace
from .contexts import HOST, ContextKind
from .frames import Arguments, Compilation, Frame, Summary
from .interface import Interpreter, Models, Options, method_value

_MOST_IMPORTED: Final = 64  # modules that a script imports for what they do
# How often the decorators of one function may be at work: what they name may have its module run, and that calls it.
_AGAIN: Final = 2


class Decorating(Interpreter):
    """What decorators make of a function, and whether they may compile it."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._decorated: dict[Function, FunctionValue] = {}
        self._decorating: list[Function] = []
        self._compilers: dict[Function, bool] = {}  # whether a decorator may compile what it is given
        self._read: set[Module] = set()  # whose definitions are registered
        self._wrapping: dict[Function, bool] = {}  # whether a decorator's function returns another thing

    def decorated(self, value: FunctionValue, frame: Frame | None = None) -> FunctionValue:
        """The function as its decorators leave it: compiled, marked, or simply itself."""
        function = value.function
        texts = [text for text in function.decorator_texts if text.partition("(")[0] not in TRANSPARENT]
        if not texts:
            return value
        if function in self._decorated:
            made = self._decorated[function]
        elif self._decorating.count(function) >= _AGAIN:
            made = value  # a decorator that asks for the function itself
        else:
            self._decorating.append(function)
            try:
                made = self._decorated[function] = self._decorate(value, frame)
            finally:
                self._decorating.pop()
        compiled = made.compiled
        if compiled is not None and (value.bound is not None or value.scope is not None):
            self.enter_compiled(value.compiled_by(compiled))
        return value if value.compiled is compiled else value.compiled_by(compiled)

    def _decorate(self, value: FunctionValue, frame: Frame | None) -> FunctionValue:
        function = value.function
        if not self.may_be_compiled(function):
            return value
        try:
            node, unit = function.node, function.unit
        except (SyntaxError, NestedTooDeepError, LookupError) as error:
            self.note_trouble(function, error)
            return value
        if not isinstance(node, cst.FunctionDef):
            return value
        outside = frame or self.module_frame(function.module)
        quiet = Frame(
            unit,
            function.module,
            HOST,
            Summary("", Location(unit, node), None, HOST),
            {},
            parent=outside if not outside.is_module else None,
            # What a module defines, it defines once, whatever it is at when somebody asks for the function.
            python_loop=0 if frame is None else frame.python_loop,
            guards=0 if frame is None else frame.guards,
        )
        current = value
        for decorator in reversed(node.decorators):
            applied = self.evaluate(quiet, decorator.decorator)
            result = self.call(quiet, applied, Arguments([current]), decorator.decorator)
            if isinstance(result, FunctionValue) and result.function is function:
                current = result
                if _is_tf_function(function, unit.code(decorator.decorator)) and current.compiled is not None:
                    current = current.compiled_by(replace(current.compiled, decorator=Location(unit, decorator)))
        if quiet.summary.events:
            # What is done once where the function is defined, belongs to who defines it.
            if frame is not None:
                frame.summary.events += quiet.summary.events
            else:
                self.host_roots.append(quiet.summary)
        return current

    def may_be_compiled(self, function: Function) -> bool:
        """Whether a decorator may pass the function to a compiler."""
        return any(
            self._may_compile(function.module, text)
            for text in function.decorator_texts
            if text.partition("(")[0] not in TRANSPARENT
        )

    def _may_compile(self, module: Module, text: str) -> bool:
        """Whether a decorator is worth evaluating: it is TensorFlow's, or a function of the project that names it."""
        match module.resolve_text(text.partition("(")[0]):
            case Api(name):
                return name.startswith(("tf.", "jax.", "functools.partial"))
            case FunctionValue(function):
                return function.module.serves_tensorflow and self._names_compilers(function)
            case Unknown():
                return text.partition("(")[0].partition(".")[0] in module.outline.assigned or "function" in text
            case _:
                return True

    def _names_compilers(self, function: Function) -> bool:
        if function not in self._compilers:
            self._compilers[function] = names_compilers(function.text)
        return self._compilers[function]

    def register_in(self, module: Module) -> None:
        """Run the decorators that may put what they are given into a container, as the module does when it is read, and
        those of what a script imports for that, whichever partition has it."""
        if module in self._read:
            return
        self._read.add(module)
        for definition in _definitions(module):
            if self._is_registered_here(definition):
                self.project.execute(module)  # which makes its containers, and then runs these decorators
            else:
                self._register(definition)
        for cls in module.classes:
            self._init_subclass(cls)
        if module.file.is_script:
            self._register_beside(module)

    def register_own(self, module: Module, lines: range) -> None:
        """The same for what a module defines in some lines, by its own decorators."""
        for definition in _definitions(module):
            stretch = _made(definition).stretch
            if stretch is not None and stretch.first in lines and self._is_registered_here(definition):
                self._register(definition)

    def _is_registered_here(self, definition: FunctionValue | ClassValue) -> bool:
        """Whether a decorator may put a definition into a container that the module binds which defines it."""
        made = _made(definition)
        return any(
            _is_own(made.module, text.partition("(")[0].partition(".")[0]) and self._registers(made.module, text)
            for text in made.decorator_texts
        )

    def _register_beside(self, module: Module) -> None:
        """The same for the modules that are imported for what happens when they are read, and for what these import."""
        pending = [module]
        for reader in pending:  # which grows
            for imported in self.project.imported_for_effect(reader):
                if imported not in self._read and len(pending) < _MOST_IMPORTED:
                    pending.append(imported)
                    self.register_in(imported)
                    self.project.execute(imported)

    def _register(self, definition: FunctionValue | ClassValue) -> None:
        made = _made(definition)
        if not any(self._registers(made.module, text) for text in made.decorator_texts):
            return
        unit, decorators = self._written(made, made.decorator_texts, _decorators)
        frame = Frame(unit, made.module, HOST, Summary("", Location(unit, unit.tree), None, HOST), {})
        for text, decorator in zip(made.decorator_texts, decorators, strict=True):
            if self._registers(made.module, text):
                applied = self.evaluate(frame, decorator)
                self.call(frame, applied, Arguments([definition]), decorator)

    def _init_subclass(self, cls: Class) -> None:
        """Run what a base class does with each class that derives from it, where that may put it into a container."""
        inherited = next((base for base in cls.mro[1:] if not isinstance(base, str)), None)
        hook = None if inherited is None else inherited.find("__init_subclass__")
        if hook is None or not stores(hook.text):
            return
        unit, values = self._written(cls, [text for _, text in cls.keyword_texts], _keywords)
        frame = Frame(unit, cls.module, HOST, Summary("", Location(unit, unit.tree), None, HOST), {})
        given = {name: self.evaluate(frame, value) for (name, _), value in zip(cls.keyword_texts, values, strict=True)}
        given.pop("metaclass", None)
        self.invoke(frame, method_value(hook, ClassValue(cls)), Arguments([], given), unit.tree)

    def _written(
        self,
        made: Function | Class,
        texts: Sequence[str],
        find: Callable[[cst.CSTNode], Sequence[cst.BaseExpression]],
    ) -> tuple[Unit, Sequence[cst.BaseExpression]]:
        """The trees of expressions around a definition, which `find` finds there: the definition itself is not read,
        unless one of them makes a function, which has its own place in the file."""
        parts = [parse_expression(text) for text in texts]
        if made.stretch is not None and any(isinstance(node, cst.Lambda) for one in parts for node in cst.within(one)):
            unit = self.unit_of(made.module, made.stretch.first, made.stretch)
            if unit is not None:
                return unit, find(unit.body[0])
        return Unit.empty(made.module.file), parts

    def _registers(self, module: Module, text: str) -> bool:
        head, *names = text.partition("(")[0].split(".")
        if text.partition("(")[0] in TRANSPARENT:
            return False
        value = module.lookup(head)
        for name in names:
            match value:
                case ModuleValue(inner):
                    value = self.project.member(inner, name)
                case Instance(cls) | ClassValue(cls) if (method := cls.find(name)) is not None:
                    value = FunctionValue(method)
                case _:
                    return False
        match value:
            case FunctionValue(function):
                return stores(function.text)
            case ClassValue(cls) if (method := cls.find("__init__")) is not None:
                return stores(method.text)
            case _:
                return False

    def has_another_result(self, function: Function) -> bool:
        """Whether a decorator of the project makes something else of what the function returns."""
        for text in function.decorator_texts:
            match function.module.resolve_text(text.partition("(")[0]):
                case FunctionValue(decorator):
                    if decorator not in self._wrapping:
                        try:
                            self._wrapping[decorator] = gives_another_result(decorator)
                        except (SyntaxError, NestedTooDeepError, LookupError) as error:
                            self.note_trouble(decorator, error)
                            self._wrapping[decorator] = False
                    if self._wrapping[decorator]:
                        return True
        return False

    def enter_compiled(self, value: FunctionValue) -> None:
        """Register a compiled function as called from outside."""
        if isinstance(value.compiled, Compilation) and value.compiled.kind is not ContextKind.OPEN:
            self.enter(value, value.compiled, _inputs_of(value), "compiled")

    def as_called(self, function: Function) -> FunctionValue:
        """A function as somebody outside calls it: a method on an instance that nobody in particular made."""
        if function.owner is None or self.decorators_of(function) & {"staticmethod", "classmethod"}:
            return FunctionValue(function)
        return method_value(function, self.canonical_instance(function.owner))


def _definitions(module: Module) -> Iterator[FunctionValue | ClassValue]:
    """What a module defines that has decorators, functions first."""
    yield from (FunctionValue(function) for function in module.functions if function.decorator_texts)
    yield from (ClassValue(cls) for cls in module.classes if cls.decorator_texts)


def _made(definition: FunctionValue | ClassValue) -> Function | Class:
    return definition.function if isinstance(definition, FunctionValue) else definition.cls


def _is_own(module: Module, name: str) -> bool:
    """Whether a module binds a name itself, and does not import it."""
    bindings = module.outline.bindings.get(name, ())
    return name in module.outline.assigned or any(not isinstance(one, ImportOutline) for one in bindings)


def _inputs_of(value: FunctionValue) -> Arguments:
    """What those pass to a compiled function who are not seen: JAX makes tensors of all but defaults and what is
    static."""
    static = value.compiled.static if isinstance(value.compiled, Compilation) else None
    if static is None:
        return Arguments(unknown=True)
    given: list[Value] = []
    for parameter in value.function.node.params.params[0 if value.bound is None else 1 :]:
        if parameter.default is not None:
            break
        origin = Origin(value.function.label, f"`{parameter.name.value}` is traced by JAX")
        given.append(STATIC if parameter.name.value in static else Structure(origin=origin))
    return Arguments(given, unknown=True)


def _is_tf_function(function: Function, decorator: str) -> bool:
    """Whether a decorator is `tf.function`, with arguments or without."""
    return function.module.resolve_text(decorator.partition("(")[0]) == Api("tf.function")


def _decorators(definition: cst.CSTNode) -> Sequence[cst.BaseExpression]:
    match definition:
        case cst.FunctionDef(decorators=decorators) | cst.ClassDef(decorators=decorators):
            return [decorator.decorator for decorator in decorators]
        case _:
            raise TypeError(definition)


def _keywords(definition: cst.CSTNode) -> Sequence[cst.BaseExpression]:
    match definition:
        case cst.ClassDef(keywords=keywords):
            return [given.value for given in keywords if given.keyword is not None]
        case _:
            raise TypeError(definition)
