"""Functions: each is executed once for each pattern of arguments in a context; the summary serves all such calls."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import Final

from ...syntax import nodes as cst
from ...syntax.expression_builder import NestedTooDeepError
from ..budget import Clock
from ..domain.joins import generalise, join_all, join_environments, pattern
from ..domain.kinds import settled
from ..domain.origins import PERHAPS
from ..domain.values import (
    NONE,
    UNKNOWN,
    ApiObject,
    Dependence,
    Function,
    FunctionValue,
    Instance,
    Origin,
    Sequence,
    Structure,
    Tensor,
    Unknown,
    Value,
)
from ..files.unit import Location, Unit
from ..library.call_kinds import COROUTINE
from ..program.decorators import is_wrapped
from ..program.parameter_uses import Unconvertible, closed_over
from ..program.project import Project
from ..record import replace
from .called_by_hand import is_called_by_hand
from .called_contexts import calling_context, context_of, outside_of
from .changed_arguments import Changes, changed_like, changes_of, passed_as
from .contexts import HOST, NOT_TRACED, Context, ContextKind
from .decorated_scopes import scope_around
from .eager_models import report_past_keras
from .eager_steps import asks_for_graph, begin_step, left
from .events import JoinBranches
from .execution_limits import GENERALISE_AFTER, alike_calls, is_given_up, note_execution
from .fed_back import feedback_of
from .feeding import report_compiled_call, report_own_call
from .filling import counted, returned
from .frames import Act, Aliases, Arguments, Compilation, Frame, Summary, Use, note_use, returned_to_host
from .host_code import is_plain
from .interface import Interpreter, Models, Options
from .jax_compilations import report_jax_call, report_jax_own_call
from .kept import report_cached
from .losses import report_loss
from .other_models import note_call
from .passed_batches import report_batches
from .remade_models import report_remade_for
from .returned_text import report_returned_text
from .traced_builds import report_traced_build
from .trainer_steps import report_own_step

_DEEPEST: Final = 48
_MOST_RAISED: Final = 8  # exceptions of a call that are told apart
_MATCH: Final = re.compile(r"^\s*match\b", re.MULTILINE)


class Functions(Interpreter):
    """Calls of functions of the project, and their summaries."""

    def __init__(
        self, project: Project, options: Options, wanted_apis: frozenset[str], clock: Clock, models: Models
    ) -> None:
        super().__init__(project, options, wanted_apis, clock, models)
        self._unconvertible: dict[cst.CSTNode, str | None] = {}
        self._closed_over: dict[cst.CSTNode, frozenset[str] | None] = {}
        self._depth = 0

    def invoke(
        self, frame: Frame | None, value: FunctionValue, arguments: Arguments, node: cst.CSTNode | None
    ) -> Value:
        """The value of calling a function of the project."""
        if value.compiled is None and value.function.decorator_texts:
            value = self.decorated(value)
        if value.function.module.written and value.compiled is None and frame is not None and frame.context.converted:
            value = value.compiled_by(Compilation(ContextKind.OPEN, False, f"`{value.function.name}`"))
        if frame is not None and frame.context.eager and asks_for_graph(value):
            step, frame.context = frame.context, left(frame.context)
            result = self.invoke(frame, value, arguments, node)
            frame.context = step
            return result
        outer = HOST if frame is None else calling_context(frame, value)
        if value.function.decorator_texts and outer.scope is None and (scope := scope_around(self, value)) is not None:
            outer = replace(outer, scope=scope)
        context = context_of(value, outer)
        again = feedback_of(frame, node) if frame is not None and node is not None and asks_for_graph(value) else None
        given = arguments if again is None else again.marked(arguments)
        summary = self.analyse(frame, value, given, context, node)
        if summary is None:
            if frame is not None and node is not None:
                self.note_done(frame, Act.ELSEWHERE, node)
            return UNKNOWN
        if frame is not None and summary.raised:
            known = frame.summary.raised
            known += [exception for exception in summary.raised if exception not in known][:_MOST_RAISED]
        if frame is not None and summary.finished and summary.leaves != context.scope:
            frame.context = replace(frame.context, scope=summary.leaves)
        if frame is not None and node is not None:
            if value.function.decorator_texts:
                report_cached(self, frame, value, summary.value, node)
            report_past_keras(self, frame, value, arguments, node)
            if summary.predicts and isinstance(node, cst.Call):
                report_remade_for(self, frame, value, summary, arguments, node)
            if not value.function.module.written:
                outside, place = outside_of(frame, node)
                outside.summary.calls.append((Location(outside.unit, place), summary))
                if frame.context.kind in NOT_TRACED:
                    note_call(outside, summary, value, arguments, place, looped=_is_in_loop(frame))
            steps = summary.steps if value.compiled is not None else ()
            runs_steps = any(step.context.kind is ContextKind.XLA for step in steps)
            if isinstance(value.compiled, Compilation) and (runs_steps or self._is_compiled(value.compiled)):
                passed = _with_partial(value, arguments)
                identity = value.function.identity
                report_compiled_call(self, frame, value.compiled, passed, node, identity, runs_steps=runs_steps)
                report_batches(self, frame, passed, node)
                if not value.compiled.perhaps:
                    report_own_call(self, frame, value, node)
            elif isinstance(value.compiled, Compilation) and value.compiled.static is not None:
                report_jax_call(self, frame, value, arguments, node)
                report_jax_own_call(self, frame, value, node)
            if value.compiled is not None or is_called_by_hand(frame, value, arguments):
                (self.piped if context.pipeline else self.called)[value.function.identity] = value.function
        if isinstance(value.compiled, Compilation) and value.compiled.gradient:
            return self._split_gradient(frame, summary.value, node)
        result = summary.value if again is None else again.returned(summary.value)
        if outer.kind is ContextKind.OPEN and context.kind in (ContextKind.GRAPH, ContextKind.XLA):
            return returned_to_host(result)
        return UNKNOWN if self.has_another_result(value.function) else result

    def _is_compiled(self, how: Compilation) -> bool:
        """Whether TensorFlow has XLA compile a function by itself; for a target, and with autoclustering, what becomes
        a graph."""
        graphs = self.options.target is not None or self.project.files.clusters
        if how.context.is_for_jax:
            return False
        return how.jit or (graphs and how.kind is ContextKind.GRAPH)

    def analyse(
        self,
        frame: Frame | None,
        value: FunctionValue,
        arguments: Arguments,
        context: Context,
        call: cst.CSTNode | None = None,
    ) -> Summary | None:
        """The summary of a function for these arguments in this context; None where it is not analysed any deeper."""
        self.project.files.go_on()
        function = value.function
        if context.kind in NOT_TRACED and is_plain(value, arguments, self.project.files.is_installed):
            return None
        try:
            node, unit = function.node, function.unit
        except (SyntaxError, NestedTooDeepError, LookupError) as error:
            self.note_trouble(function, error)
            return None
        self.writes.take_back(self.writes.of_uncalled.pop(function.identity, ()))
        given, arguments = arguments, _with_partial(value, arguments)
        scope = value.scope if value.scope is not None else self.module_frame(function.module)
        crossing = value.compiled is not None and (
            frame is None or (frame.context.kind in NOT_TRACED and not value.compiled.is_plain)
        )
        traced = frame is not None and frame.context.kind not in NOT_TRACED
        if traced and value.compiled is not None and value.compiled.kind in (ContextKind.GRAPH, ContextKind.XLA):
            arguments = arguments.with_tensors()
        context = self._with_reason(context, node, unit)
        env, aliases = self.bind_parameters(scope, node, value, arguments, crossing)
        passed: frozenset[str] = frozenset()
        inputs: frozenset[str] = frozenset()
        if frame is not None and frame.loop:
            passed = frozenset(name for name, item in env.items() if self.is_from_before(frame, item))
        if arguments.inputs or (crossing and frame is not None and context.kind is ContextKind.XLA):
            inputs = _undeclared(node, env, context.by_keras and not arguments.inputs)
            if context.by_keras and not arguments.inputs:  # the first one of a layer may be several tensors
                env, inputs = env | dict.fromkeys(inputs, Structure()), frozenset()
        owner = value.bound.cls if function.name == "__init__" and isinstance(value.bound, Instance) else None
        analysed = function, context.kind is ContextKind.HOST, owner
        count = self.analyses.get(analysed, 0)
        written = function.module.written  # which everything calls: it is executed each time
        if count >= GENERALISE_AFTER and not written:
            env = {name: generalise(item) for name, item in env.items()}
        loop = 1 if frame is not None and frame.loop else 0
        bounded = frame.bounded if frame is not None and frame.context.kind in NOT_TRACED else frozenset[Location]()
        which = self._which(value, node)
        how = (
            context.kind,
            context.converted,
            context.pipeline,
            context.scope,
            context.eager,
            loop,
            passed,
            bool(inputs),
            bounded,
            tuple(map(pattern, env.values())),
        )
        known = None if written else self.memo.get((which, how))
        if known is not None:
            report_traced_build(self, frame, value, known)
            _pass_on(known, aliases, frame, env)
            if known.changes and frame is not None:
                self._note_changes(frame, value, node, known.changes, given)
            return known
        if self._depth >= _DEEPEST:
            return None
        alike = alike_calls(analysed, context, value, env)
        if not written and is_given_up(self.analyses, analysed, context.kind, alike):
            latest = self.memo.get(self.latest.get((which, alike)))
            if latest is not None:
                _pass_on(latest, aliases, frame, env)
            return latest if latest is None or context.kind in NOT_TRACED else replace(latest, value=UNKNOWN)
        summary = Summary(
            function.qualname,
            None,
            function,
            context,
            wrapped=is_wrapped(value),
            traced_apart=_traced_apart(self, value),
            serves=isinstance(value.compiled, Compilation) and value.compiled.kind is ContextKind.HOST,
        )
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
            counted=counted(frame, call),
            bounded=bounded,
            inputs=inputs,
            entered=_is_entered(frame, context) or crossing,
            passed=passed,
            caller=frame if written else None,
            call=call if written else None,
        )
        if not written:
            note_execution(self.analyses, analysed, context.kind)
            self.memo[which, how] = summary
            self.latest[which, alike] = which, how
        mark = self.writes.mark
        self._depth += 1
        try:
            with self.writes.apart() if frame is None and self._depth > 1 else nullcontext():
                self._run(inner, node, env)
        finally:
            self._depth -= 1
        report_traced_build(self, frame, value, summary)
        report_own_step(self, frame, value, summary)
        report_loss(self, inner, summary)
        report_returned_text(self, inner, value)
        if not written and value.scope is not None and self._which(value, node) != which:
            # It changes what is around it, which each scope is to see for itself.
            self._closed_over[node] = None
            del self.memo[which, how]
            which = self._which(value, node)
            self.memo[which, how] = summary
        if not written:
            self.writes.note_analysis(mark, (which, how))
        _pass_on(summary, aliases, frame, env)
        if summary.changes and frame is not None:
            self._note_changes(frame, value, node, summary.changes, given)
        summary.finished = True
        return summary

    def _note_changes(
        self, frame: Frame, value: FunctionValue, node: cst.FunctionDef | cst.Lambda, changes: Changes, given: Arguments
    ) -> None:
        """Containers that a function changed in place, under the names that the caller has."""
        for parameter, held, place in passed_as(node, value, given):
            named = parameter in changes and isinstance(place, cst.Name | cst.Attribute | cst.Subscript)
            if named and self.evaluate(frame, place) is held:  # not a part of what is unpacked
                self.assign_quietly(frame, place, changed_like(held, *changes[parameter]))

    def _split_gradient(self, frame: Frame | None, value: Value, node: cst.CSTNode | None) -> Value:
        """The result of a function with a custom gradient; the gradient's function runs without AutoGraph."""
        match value:
            case Sequence(items=(result, gradient)):
                for function in self.functions_in(gradient):
                    entry = f"`{function.function.qualname}`, the gradient function of a `tf.custom_gradient`"
                    plain = replace(function, compiled=Compilation(ContextKind.OPEN, False, entry))
                    variables = Sequence("list", None, Tensor(Dependence.VALUE, variable=True))
                    given = Arguments(rest=Tensor(Dependence.VALUE), keywords={"variables": variables})
                    self.invoke(frame, plain, given, node)
                return result
            case _:
                return value

    def _which(self, value: FunctionValue, node: cst.FunctionDef | cst.Lambda) -> tuple[Hashable, ...]:
        """What tells a function from others. One that is made inside others is created again by each of their runs: it
        is the same where all that it reads of them looks the same."""
        scope = value.scope
        if scope is None:
            return (value.function,)
        if node not in self._closed_over:
            self._closed_over[node] = value.function.unit.told(closed_over, node)
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
            frame.unpacked, frame.iterated = set(), set()
            frame.returns, frame.yields, frame.unjoined, frame.alternatives = [], [], {}, []
            frame.crossing.clear()
            frame.left = None
            frame.unsure_yields = False
            summary.yields_in.clear()
            summary.optimized.clear()
            orphans, allocated, mark = len(self.orphans), len(self.allocated), self.writes.mark
            if isinstance(node, cst.Lambda):
                frame.returns.append(self.evaluate(frame, node.body))
            else:
                begin_step(self, frame, node.body)
                self.execute_body(frame, node.body)
                if frame.env is not None:
                    if frame.branch_returns is not None and frame.returns:
                        self.emit(frame, JoinBranches, frame.branch_returns.node, name="", reason="no return")
                    frame.returns.append(NONE)
                else:
                    self.compare_returns(frame)
            shared = "" if frame.entered else PERHAPS
            learned: dict[str, Value] = {
                name: Structure(origin=Origin(Location(frame.unit, node), f"`{name}` is an input", shared=shared))
                for name in sorted((frame.inputs & frame.unpacked) - summary.operands)
                if not summary.context.by_keras and isinstance(env.get(name), Unknown)
            }
            learned |= {
                name: Tensor(
                    Dependence.VALUE,
                    origin=Origin(frame.function.label, f"`{name}` is used as a tensor", shared=shared),
                )
                for name in sorted((frame.evidence & frame.doubts) - frame.shapes - frame.iterated | _numbers(frame))
                if frame.function is not None and isinstance(env.get(name), Unknown)
            }
            for parameter, use in summary.uses.items():
                own = env.get(parameter.name.value)
                if use == Use.NUMBER | Use.EITHER and isinstance(own, Structure) and own.parameter is parameter:
                    learned[parameter.name.value] = own.tensor
            if attempt or not learned:
                break
            env = {**env, **learned}
            if _are_sizes(frame, learned):
                frame.context = replace(frame.context, aside=True)
            summary.events.clear()
            summary.calls.clear()
            del self.orphans[orphans:]
            for key in list(self.allocated)[allocated:]:
                del self.allocated[key]
            self.writes.take_back_since(mark)
            frame.branch_returns = None
        frame.env = join_environments(frame.left, frame.env)
        summary.leaves = frame.context.scope
        summary.changes = changes_of(node, env, frame.env or {})
        if frame.yields:
            yielded = join_all(*frame.yields)
            left = join_all(*frame.returns) if frame.returns else None
            items = None if frame.unsure_yields else tuple(frame.yields)
            summary.value = Sequence("list", items, yielded, left=None if left == NONE else left)
        elif not frame.returns and _is_generator(frame.unit, node):
            summary.value = Sequence("list", (), UNKNOWN)  # whatever keeps it from its first element
        else:
            summary.value = returned(frame, join_all(*frame.returns)) if frame.returns else UNKNOWN
            if isinstance(node, cst.FunctionDef) and node.asynchronous is not None:
                summary.value = ApiObject(COROUTINE, payload=summary.value)

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

    def note_trouble(self, function: Function, error: Exception) -> None:
        line = function.stretch.first if function.stretch is not None else 1
        self.note(function.module, line, error, f"`{function.qualname}` cannot be read")


def _is_entered(frame: Frame | None, context: Context) -> bool:
    """Whether code begins here that Keras or a strategy runs, so that its arguments are data."""
    return frame is None or (context.in_replica and not frame.summary.context.in_replica)


def _with_partial(value: FunctionValue, arguments: Arguments) -> Arguments:
    """The arguments of a call with those that `functools.partial` has passed already."""
    if not (value.partial_args or value.partial_keywords):
        return arguments
    return replace(
        arguments,
        positional=[*value.partial_args, *arguments.positional],
        keywords={**value.partial_keywords, **arguments.keywords},
    )


def _is_generator(unit: Unit, node: cst.FunctionDef | cst.Lambda) -> bool:
    return any(isinstance(part, cst.Yield) and unit.function_around(part) is node for part in cst.within(node.body))


def _undeclared(node: cst.FunctionDef | cst.Lambda, env: dict[str, Value], by_keras: bool) -> frozenset[str]:
    """The parameters of which nothing is said: no annotation, no default, no argument that is known. `by_keras`: code
    that is seen calls a layer, of whose arguments but the first is sure to be a tensor: sizes are Python numbers."""
    positional = (*node.params.posonly_params, *node.params.params)
    parameters = positional[:2] if by_keras else (*positional, *node.params.kwonly_params)  # `self`, and the inputs
    return frozenset(
        parameter.name.value
        for parameter in parameters
        if parameter.annotation is None and parameter.default is None and isinstance(env[parameter.name.value], Unknown)
    )


def _numbers(frame: Frame) -> frozenset[str]:
    """The inputs of a compiled function that may be tensors, for all that is said of them."""
    return frame.inputs - (frame.summary.structures - frame.summary.operands)


def _are_sizes(frame: Frame, names: Iterable[str]) -> bool:
    """Whether some of the inputs of a layer, of which nothing shows that they are tensors, decide a shape: what callers
    pass there is mostly a Python number."""
    return frame.context.by_keras and not frame.summary.sizes.isdisjoint(set(names) & frame.inputs - frame.evidence)


def _is_in_loop(frame: Frame) -> bool:
    """Whether a Python loop is around code that is at work, or it is what a comprehension does for each item."""
    return frame.python_loop > 0 or (frame.parent is not None and frame.parent.summary is frame.summary)


def _pass_on(summary: Summary, aliases: Aliases, caller: Frame | None, env: Mapping[str, Value]) -> None:
    """What a function's uses say of its parameters (and what it closes over) holds for the caller's arguments."""
    if caller is None:
        return
    for name in tuple(summary.structures):  # a function that calls itself is its own caller
        caller.summary.structures |= aliases.names.get(name, frozenset()) if name in env else {name}
    for name in tuple(summary.sizes):
        caller.summary.sizes |= aliases.names.get(name, frozenset()) if name in env else {name}
    if not caller.conditional:
        for name in tuple(summary.operands):
            caller.summary.operands |= aliases.names.get(name, frozenset()) if name in env else {name}
    for parameter, use in tuple(summary.uses.items()):
        own = env.get(parameter.name.value)
        if isinstance(own, Structure) and own.parameter is parameter:
            outer = aliases.structures.get(parameter)
        else:
            outer = parameter
        if outer is not None:
            note_use(caller, outer, use & ~Use.NUMBER if caller.conditional else use)


def _traced_apart(interpreter: Interpreter, value: FunctionValue) -> Location | None:
    """Where a function is made a `tf.function` of its own, whoever calls it: its decorator, or its definition where it
    has none; None where it is no `tf.function`."""
    compiled = value.compiled
    if value.function.decorator_texts and (not isinstance(compiled, Compilation) or _is_run_by_keras(compiled)):
        compiled = interpreter.decorated(value.compiled_by(None)).compiled
    if not isinstance(compiled, Compilation) or _is_run_by_keras(compiled):
        return None
    if compiled.kind not in (ContextKind.GRAPH, ContextKind.XLA):
        return None
    return compiled.decorator or value.function.label


def _is_run_by_keras(compiled: Compilation) -> bool:
    """Whether this is how Keras runs a method, inside of what calls it."""
    return compiled.by_keras or compiled.keras is not None
