"""The top floor: functions are analysed once for each pattern of arguments, classes and modules when first needed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Final

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.joins import generalise, join, join_all, join_environments, pattern
from ..domain.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Api,
    Array,
    Dependence,
    Dict,
    FunctionValue,
    Instance,
    Nest,
    OneOf,
    Origin,
    Sequence,
    Static,
    Tensor,
    Unknown,
    Value,
    settled,
)
from ..files.files import Place, Unit
from .feeding import NOT_TRACED, feed, say_own
from ..models.higher_order import split_gradient
from ..program.decorators import TRANSPARENT, gives_another_result, is_wrapped, names_compilers
from ..program.parameter_uses import Unconvertible, closed_over
from ..program.project import Function, Module, Project
from ..record import replace
from .annotations import value_of_annotation
from .base import Options, method_value
from .classes import Classes
from .events import HOST, Context, ContextKind, JoinBranches
from .frames import Arguments, Compilation, Frame, Summary
from .host_code import is_plain

# After this many analyses of one function its arguments lose their constants; after the second number it is given up.
_GENERALISE_AFTER: Final = 8
_MOST_ANALYSES: Final = 96
_DEEPEST: Final = 48
_MATCH: Final = re.compile(r"^\s*match\b", re.MULTILINE)


class Interpreter(Classes):
    """Executes the project abstractly; `analysis` decides where to start."""

    def __init__(self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock) -> None:
        super().__init__(project, options, wanted_apis, clock)
        self._decorated: dict[Function, FunctionValue] = {}
        self._compilers: dict[Function, bool] = {}  # whether a decorator may compile what it is given
        self._wrapping: dict[Function, bool] = {}  # whether a decorator's function returns another thing
        self._unconvertible: dict[cst.CSTNode, str | None] = {}
        self._closed_over: dict[cst.CSTNode, frozenset[str] | None] = {}
        self._defaults: dict[cst.BaseExpression, Value] = {}  # of parameters of functions at the top of a module
        self._promises: dict[cst.BaseExpression, Value | None] = {}  # of annotations there
        self._signing: set[cst.BaseExpression] = set()  # defaults and annotations that are being evaluated
        self._depth = 0

    # -- functions ----------------------------------------------------------------------------------------------------

    def invoke(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, node: cst.CSTNode | None
    ) -> Value:
        """The value of calling a function of the project."""
        if value.compiled is None and value.function.decorator_texts:
            value = self.decorated(value)
        context = context_of(value, frame.context if frame is not None else HOST)
        summary = self.analyse(frame, value, arguments, context)
        if summary is None:
            return UNKNOWN
        if frame is not None and node is not None:
            frame.summary.calls.append((Place(frame.unit, node), summary))
            if frame.python_loop and frame.context.kind in NOT_TRACED:
                frame.summary.looped.add(summary)
            if isinstance(value.compiled, Compilation) and value.compiled.jit:
                feed(self, frame, value.compiled, arguments, node, value.function.identity)
                say_own(self, frame, value, node)
            if value.compiled is not None:
                (self.piped if context.pipeline else self.called)[value.function.identity] = value.function
        if isinstance(value.compiled, Compilation) and value.compiled.gradient:
            return split_gradient(self, frame, summary.value, node)
        return UNKNOWN if self._has_another_result(value.function) else summary.value

    def analyse(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, context: Context
    ) -> Summary | None:
        """The summary of a function for these arguments in this context; None where it is not analysed any deeper."""
        self.project.files.go_on()
        function = value.function
        if context.kind in NOT_TRACED and is_plain(value, arguments):
            return None
        try:
            node, unit = function.node, function.unit
        except (SyntaxError, NestedTooDeepError, LookupError) as error:
            self._note_trouble(function, error)
            return None
        if value.partial_args or value.partial_keywords:
            arguments = replace(
                arguments,
                positional=[*value.partial_args, *arguments.positional],
                keywords={**value.partial_keywords, **arguments.keywords},
            )
        scope = value.scope if value.scope is not None else self.module_frame(function.module)
        crossing = value.compiled is not None and (
            frame is None or frame.context.kind in (ContextKind.HOST, ContextKind.OPEN)
        )
        context = self._with_reason(context, node, unit)
        env, aliases = self._bind_parameters(scope, node, value, arguments, crossing)
        handed: frozenset[str] = frozenset()
        inputs: frozenset[str] = frozenset()
        if frame is not None and frame.loop:
            handed = frozenset(name for name, item in env.items() if self._is_from_before(frame, item))
        if context.kind is ContextKind.XLA and (arguments.inputs or (crossing and frame is not None)):
            inputs = _undeclared(node, env)
        owner = value.bound.cls if function.name == "__init__" and isinstance(value.bound, Instance) else None
        counted = (function, context.kind is ContextKind.HOST, owner)
        count = self.analyses.get(counted, 0)
        if count >= _GENERALISE_AFTER:
            env = {name: generalise(item) for name, item in env.items()}
        loop = 1 if frame is not None and frame.loop else 0
        which = self._which(value, node)
        how = (
            context.kind,
            context.converted,
            context.pipeline,
            context.scope,
            loop,
            handed,
            bool(inputs),
            tuple(map(pattern, env.values())),
        )
        known = self.memo.get((which, how))
        if known is not None:
            _pass_on(known, aliases, frame, env)
            return known
        if self._depth >= _DEEPEST or count >= _MOST_ANALYSES:
            return None
        summary = Summary(function.qualname, None, function, context, wrapped=is_wrapped(value))
        inner = Frame(
            unit,
            function.module,
            context,
            summary,
            {},
            parent=scope if not scope.is_module else None,
            function=function,
            owner=function.owner if function.owner is not None else scope.owner if not scope.is_module else None,
            bound=value.bound if value.bound is not None else scope.bound if not scope.is_module else None,
            loop=loop,
            loop_around=loop,
            looped=frame is not None and (frame.looped or frame.python_loop > 0),
            inputs=inputs,
            handed=handed,
        )
        self.analyses[counted] = count + 1
        self.memo[which, how] = summary
        self._depth += 1
        try:
            self._run(inner, node, env)
        finally:
            self._depth -= 1
        if value.scope is not None and self._which(value, node) != which:
            # It changes what is around it, which each scope is to see for itself.
            self._closed_over[node] = None
            del self.memo[which, how]
            self.memo[self._which(value, node), how] = summary
        _pass_on(summary, aliases, frame, env)
        summary.finished = True
        return summary

    def _which(self, value: FunctionValue, node: cst.FunctionDef | cst.Lambda) -> tuple[Hashable, ...]:
        """What tells a function from others. One that is made inside others is made anew by each of their runs: it is
        the same where all that it reads of them looks the same."""
        scope = value.scope
        if scope is None:
            return (value.function,)
        if node not in self._closed_over:
            self._closed_over[node] = closed_over(node)
        left = self._closed_over[node]
        if left is None:
            return (value.function, scope)
        around: list[Hashable] = [node, scope.owner, None if scope.bound is None else pattern(scope.bound)]
        outside: Frame | None = scope
        while outside is not None and left:
            names = outside.env or {}
            found = left & names.keys()
            around += ((name, pattern(settled(names[name]))) for name in sorted(found))
            left -= found
            outside = outside.parent
        return tuple(around)

    def _run(self, frame: Frame, node: cst.FunctionDef | cst.Lambda, env: dict[str, Value]) -> None:
        """Execute a body; once more where a use turned out to say what an argument is."""
        summary = frame.summary
        for attempt in range(2):
            summary.given = env
            frame.env = dict(env)
            frame.evidence, frame.doubts, frame.shapes = set(), set(), set()
            frame.returns, frame.yields, frame.half_bound, frame.alternatives = [], [], {}, []
            frame.left = None
            orphans, allocated = len(self.orphans), len(self._allocated)
            if isinstance(node, cst.Lambda):
                frame.returns.append(self.evaluate(frame, node.body))
            else:
                self.execute_body(frame, node.body)
                if frame.env is not None:
                    if frame.branch_returns is not None and frame.returns:
                        self.emit(frame, JoinBranches, frame.branch_returns.node, name="", reason="no return")
                    frame.returns.append(NONE)
                else:
                    self.compare_returns(frame)
            learned = {
                name: Tensor(Dependence.VALUE, origin=Origin(frame.function.label, f"`{name}` is used as a tensor"))
                for name in sorted((frame.evidence & frame.doubts) - frame.shapes | (frame.inputs - summary.structures))
                if frame.function is not None and isinstance(env.get(name), Unknown)
            }
            if attempt or not learned:
                break
            env = {**env, **learned}
            summary.events.clear()
            summary.calls.clear()
            del self.orphans[orphans:]
            for key in list(self._allocated)[allocated:]:
                del self._allocated[key]
            frame.branch_returns = None
        frame.env = join_environments(frame.left, frame.env)
        if frame.yields:
            summary.value = Sequence("list", None, join_all(*frame.yields))
        else:
            summary.value = join_all(*frame.returns) if frame.returns else UNKNOWN

    def _with_reason(self, context: Context, node: cst.FunctionDef | cst.Lambda, unit: Unit) -> Context:
        """The context with the reason why AutoGraph cannot convert this function, if it holds one."""
        if not context.converted or isinstance(node, cst.Lambda):
            return context
        if node not in self._unconvertible:
            finder = Unconvertible()
            text = unit.text
            if ":=" in text or "yield" in text or ("match" in text and _MATCH.search(text)):
                node.visit(finder)
            self._unconvertible[node] = finder.found
        found = self._unconvertible[node]
        return replace(context, plain_python=found) if found else context

    def _note_trouble(self, function: Function, error: Exception) -> None:
        line = function.stretch.first if function.stretch is not None else 1
        self.note(function.module, line, error, f"`{function.qualname}` cannot be read")

    # -- parameters ---------------------------------------------------------------------------------------------------

    def _bind_parameters(
        self,
        scope: Frame,
        node: cst.FunctionDef | cst.Lambda,
        value: FunctionValue,
        arguments: Arguments,
        crossing: bool,
    ) -> tuple[dict[str, Value], dict[str, frozenset[str]]]:
        """The names that the parameters start with, and those of the caller behind what is not known."""
        parameters = node.params
        positional = list(arguments.positional)
        if value.bound is not None:
            positional.insert(0, value.bound)
        keywords = dict(arguments.keywords)
        env: dict[str, Value] = {}
        aliases: dict[str, frozenset[str]] = {}
        for parameter in (*parameters.posonly_params, *parameters.params):
            given = positional.pop(0) if positional else keywords.pop(parameter.name.value, None)
            if given is None:
                given = arguments.rest or _from_keywords(parameter, arguments)
            if isinstance(given, Unknown):
                aliases[parameter.name.value] = given.names
            env[parameter.name.value] = self._parameter(scope, parameter, given, arguments, crossing)
        if isinstance(parameters.star_arg, cst.Param):
            rest = Sequence("tuple", tuple(positional)) if arguments.rest is None and not arguments.unknown else None
            element = arguments.rest or (UNKNOWN if not positional else join_all(*positional))
            env[parameters.star_arg.name.value] = rest or Sequence("tuple", None, element)
        for parameter in parameters.kwonly_params:
            given = keywords.pop(parameter.name.value, None) or _from_keywords(parameter, arguments)
            if isinstance(given, Unknown):
                aliases[parameter.name.value] = given.names
            env[parameter.name.value] = self._parameter(scope, parameter, given, arguments, crossing)
        if parameters.star_kwarg is not None:
            others = arguments.rest_keywords or (UNKNOWN if arguments.unknown else None)
            env[parameters.star_kwarg.name.value] = Dict(keywords, others)
        return env, aliases

    def _parameter(
        self, scope: Frame, parameter: cst.Param, given: Value | None, arguments: Arguments, crossing: bool
    ) -> Value:
        name = parameter.name.value
        annotation = parameter.annotation
        if given is not None:
            if annotation is not None and (_is_vague(given) or isinstance(given, Tensor)):
                said = self.annotated_value(scope, annotation.annotation)
                # A promise of tensors in some structure gives way to what is written there.
                if said is not None and (
                    isinstance(given, Unknown)
                    or (_is_vague(given) and not isinstance(said, Tensor | Array | OneOf))
                    or (arguments.unknown and isinstance(said, Dict | Sequence | Instance))
                ):
                    given = said
            # The names of the caller mean nothing here; that it is unknown still does.
            if isinstance(given, Unknown):
                return Unknown(frozenset((name,)), given.compared)
            return _as_placeholder(given) if crossing else given
        said = self.annotated_value(scope, annotation.annotation) if annotation is not None else None
        if parameter.default is None:
            return said or Unknown(frozenset((name,)))
        default = self._default(scope, parameter.default)
        if not arguments.unknown:
            return default
        match said, default:
            case Tensor(), Static(None):
                return join(NONE, said)
            case Tensor(), Static(bool()):
                return STATIC  # a flag, whatever its annotation says
            case None, Static(None):
                return Unknown(frozenset((name,)))
            case None, Static():
                return STATIC
            case None, _:
                return default
            case _:
                return said

    def _default(self, scope: Frame, node: cst.BaseExpression) -> Value:
        """What a parameter is when nothing is given for it, evaluated in the scope of the definition."""
        if scope.is_module and node in self._defaults:
            return self._defaults[node]
        if self._is_endless(node):
            return UNKNOWN
        quiet = Frame(
            scope.unit, scope.module, HOST, Summary("", None, None, HOST), dict(scope.env or {}), parent=scope.parent
        )
        self._signing.add(node)
        try:
            value = self.evaluate(quiet, node)
        finally:
            self._signing.discard(node)
        if scope.is_module:
            self._defaults[node] = value
        return value

    def annotated_value(self, frame: Frame, annotation: cst.BaseExpression) -> Value | None:
        """What a type annotation says of a value; None when it says nothing."""
        if frame.is_module and annotation in self._promises:
            return self._promises[annotation]
        if self._is_endless(annotation):
            return None
        self._signing.add(annotation)
        try:
            said = value_of_annotation(self, frame, annotation)
        finally:
            self._signing.discard(annotation)
        if frame.is_module:
            self._promises[annotation] = said
        return said

    def _is_endless(self, node: cst.BaseExpression) -> bool:
        """Whether a part of a signature calls what it is a part of, or so it seems."""
        return node in self._signing or len(self._signing) >= _DEEPEST

    # -- decorators ---------------------------------------------------------------------------------------------------

    def decorated(self, value: FunctionValue, frame: Frame | None = None) -> FunctionValue:
        """The function as its decorators leave it: compiled, marked, or simply itself."""
        function = value.function
        texts = [text for text in function.decorator_texts if text.partition("(")[0] not in TRANSPARENT]
        if not texts:
            return value
        if function in self._decorated:
            made = self._decorated[function]
        else:
            self._decorated[function] = made = value  # a decorator that asks for the function itself
            made = self._decorated[function] = self._decorate(value, frame)
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
            self._note_trouble(function, error)
            return value
        if not isinstance(node, cst.FunctionDef):
            return value
        outside = frame or self.module_frame(function.module)
        quiet = Frame(
            unit,
            function.module,
            HOST,
            Summary("", Place(unit, node), None, HOST),
            {},
            parent=outside if not outside.is_module else None,
            python_loop=outside.python_loop,
            guards=outside.guards,
        )
        current = value
        for decorator in reversed(node.decorators):
            applied = self.evaluate(quiet, decorator.decorator)
            result = self.call(quiet, applied, Arguments([current]), decorator.decorator)
            if isinstance(result, FunctionValue) and result.function is function:
                current = result
        if quiet.summary.events:
            # What is done once where the function is defined, belongs to who defines it.
            if frame is not None:
                frame.summary.events += quiet.summary.events
            else:
                self.host_roots.append(quiet.summary)
        return current

    def may_be_compiled(self, function: Function) -> bool:
        """Whether a decorator may hand the function to a compiler."""
        return any(
            self._may_compile(function.module, text)
            for text in function.decorator_texts
            if text.partition("(")[0] not in TRANSPARENT
        )

    def _may_compile(self, module: Module, text: str) -> bool:
        """Whether a decorator is worth evaluating: it is TensorFlow's, or a function of the project that names it."""
        match module.resolve_text(text.partition("(")[0]):
            case Api(name):
                return name.startswith(("tf.", "functools.partial"))
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

    def _has_another_result(self, function: Function) -> bool:
        """Whether a decorator of the project makes something else of what the function returns."""
        for text in function.decorator_texts:
            match function.module.resolve_text(text.partition("(")[0]):
                case FunctionValue(decorator):
                    if decorator not in self._wrapping:
                        try:
                            self._wrapping[decorator] = gives_another_result(decorator)
                        except (SyntaxError, NestedTooDeepError, LookupError) as error:
                            self._note_trouble(decorator, error)
                            self._wrapping[decorator] = False
                    if self._wrapping[decorator]:
                        return True
        return False

    def enter_compiled(self, value: FunctionValue) -> None:
        """Register a compiled function as called from outside."""
        if isinstance(value.compiled, Compilation) and value.compiled.kind is not ContextKind.OPEN:
            self.enter(value, value.compiled, Arguments(unknown=True), "compiled")

    # -- the whole ----------------------------------------------------------------------------------------------------

    def as_called(self, function: Function) -> FunctionValue:
        """A function as somebody outside calls it: a method on an instance that nobody in particular made."""
        if function.owner is None or self.decorators_of(function) & {"staticmethod", "classmethod"}:
            return FunctionValue(function)
        return method_value(function, self.canonical_instance(function.owner))


def _is_vague(value: Value) -> bool:
    """Whether a value is some structure of tensors, or of what nobody knows."""
    match value:
        case Unknown() | Nest():
            return True
        case OneOf(alternatives):
            return any(map(_is_vague, alternatives))
        case Sequence(items=tuple(items)):
            return bool(items) and all(map(_is_vague, items))
        case Sequence(element=element) if element is not None:
            return _is_vague(element)
        case _:
            return False


def _from_keywords(parameter: cst.Param, arguments: Arguments) -> Value | None:
    """What an unpacked dict of unknown content brings: nothing sure to a parameter that has a setting as default."""
    match parameter.default:
        case None | cst.Name(value="None"):
            return arguments.rest_keywords
        case _:
            return None


def _undeclared(node: cst.FunctionDef | cst.Lambda, env: dict[str, Value]) -> frozenset[str]:
    """The parameters of which nothing is said: no annotation, no default, no argument."""
    return frozenset(
        parameter.name.value
        for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
        if parameter.annotation is None and parameter.default is None and isinstance(env[parameter.name.value], Unknown)
    )


def _pass_on(
    summary: Summary, aliases: Mapping[str, frozenset[str]], caller: Frame | None, env: Mapping[str, Value]
) -> None:
    """What a function's uses say against its parameters (and what it closes over) holds for the caller's arguments;
    `aliases`: the caller's names for them."""
    if caller is not None:
        for name in tuple(summary.structures):  # a function that calls itself is its own caller
            caller.summary.structures |= aliases.get(name, frozenset()) if name in env else {name}


def context_of(value: FunctionValue, caller: Context) -> Context:
    """The context in which a function runs that is called from `caller`."""
    found = _compiled_context(value, caller)
    return found if found.scope is caller.scope else replace(found, scope=caller.scope)


def _compiled_context(value: FunctionValue, caller: Context) -> Context:
    compiled = value.compiled
    if not isinstance(compiled, Compilation):
        return caller
    match compiled.kind, caller.kind:
        case (ContextKind.OPEN, _):
            if compiled.autograph:
                return caller
            return replace(caller, autograph=False, entry=compiled.entry)
        case (ContextKind.HOST, _):
            return caller
        case (ContextKind.GRAPH, _) if caller.pipeline:
            return caller  # each function of a pipeline becomes part of its graph, which XLA does not see
        case (ContextKind.GRAPH, ContextKind.XLA):
            # A function called inside a compiled one becomes part of it.
            entry = caller.entry if compiled.autograph else compiled.entry
            return replace(caller, autograph=compiled.autograph, entry=entry, plain_python=None)
        case _:
            return compiled.context


def _as_placeholder(value: Value) -> Value:
    """What a compiled function sees of an argument: tensors and arrays are data, Python values are constants."""
    match value:
        case Tensor():
            return value.with_(dependence=Dependence.VALUE)
        case Array(dtype):
            return Tensor(Dependence.VALUE, dtype)
        case Sequence(kind, tuple(items)):
            return Sequence(kind, tuple(map(_as_placeholder, items)))
        case _:
            return value
