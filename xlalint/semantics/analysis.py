"""From sources to events: where analysis starts, in which order, and which of the analyses count in the end."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from ..sources.text import Source
from . import api
from .attributes import method_value
from .core import Entry, Options
from .events import Context, ContextKind, Event, Trail
from .frames import Arguments, Compilation, Summary
from .interpreter import Interpreter
from .project import Class, Function, InternalTrouble, Module, Project
from .values import NONE, Dependence, FunctionValue, Nest, OneOf, Origin, Tensor, Value

_WORD: Final = re.compile(r"[^\W\d]\w*")
_KINDS: Final = ("layer", "model", "loss", "metric", "optimizer", "schedule", "regularizer", "constraint")
_HOST: Final = Context(ContextKind.HOST, True, "code that runs on the host")
_OPEN: Final = Context(ContextKind.OPEN, True, "code that uses tensors and whose callers are not seen")
_TESTS: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|(^|/)tests?/")
_TEST_CASES: Final = ("unittest.TestCase", "tf.test.TestCase")
# Abstract execution nests deeper than Python's default allows; every level costs no C stack.
_RECURSION_LIMIT: Final = 20_000


def analyse(
    sources: Sequence[Source],
    options: Options,
    emit: Callable[[Event], None],
    wanted_apis: frozenset[str],
) -> Project:
    """Execute all sources abstractly, hand each event that counts to `emit`; returns the project and its troubles."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        project = Project(list(sources))
        analysis = _Analysis(project, options, wanted_apis)
        analysis.run()
        for event in analysis.events():
            with _noted(project, event.place.path, event.place.unit.first_line, "applying the rules"):
                emit(event)
        return project
    finally:
        sys.setrecursionlimit(limit)


@contextmanager
def _noted(project: Project, path: str, line: int, doing: str) -> Iterator[None]:
    """An exception inside costs only what stands inside: it is noted, and the run goes on."""
    try:
        yield
    except Exception as error:
        project.failures.append(InternalTrouble.of(error, path, line, doing))


class _Analysis:
    """The order of work: what is compiled for certain, then module code, then what nobody was seen to call."""

    def __init__(self, project: Project, options: Options, wanted_apis: frozenset[str]) -> None:
        self.project = project
        self.options = options
        self.machine = Interpreter(project, options, wanted_apis)
        self.roots: list[Summary] = []
        self.open_roots: list[Summary] = []
        self._reached: set[object] = set()  # identities of functions
        self._walked: set[Summary] = set()
        self._compiled: list[Entry] = []
        self._noted = [0, 0]

    def run(self) -> None:
        machine = self.machine
        for module in self.project.modules:
            for cls in list(module.classes):
                with self._about(module, cls.name):
                    self._enter_keras(cls)
            for function in module.all_functions():
                with self._about(module, function.qualname, function):
                    if machine.may_be_compiled(function):
                        machine.enter_compiled(machine.decorated(machine.as_called(function)))
        self._drain()
        for module in self.project.modules:
            if module.concerns_tensorflow(None) or module.may_be_fragment:
                with self._about(module, module.name):
                    machine.execute_module(module)
        self._drain()
        self._enter_tests()
        self._run_unreached()
        self._run_inputs()

    def _about(self, module: Module, name: str, function: Function | None = None) -> AbstractContextManager[None]:
        """What is done about a definition; no exception leaves it."""
        line = function.stretch.first if function is not None and function.stretch is not None else 1
        return _noted(self.project, module.source.display, line, f"reading `{name}`")

    def _drain(self) -> None:
        """Analyse everything that is known to be entered, and what that brings to light."""
        machine = self.machine
        while machine.entries or machine.local_classes:
            for cls in machine.local_classes:
                with self._about(cls.module, cls.name):
                    self._enter_keras(cls)
            machine.local_classes.clear()
            entries, machine.entries = machine.entries, []
            for entry in entries:
                if entry.value.compiled is not None and entry.context.kind is ContextKind.XLA:
                    self._compiled.append(entry)
                function = entry.value.function
                with self._about(function.module, function.qualname, function):
                    summary = machine.analyse(None, entry.value, entry.arguments, entry.context)
                    if summary is not None:
                        self.roots.append(summary)
        self._note_reached(self._fresh_roots())

    def _fresh_roots(self) -> Iterator[Summary]:
        """The roots that came since this was asked last."""
        for position, roots in enumerate((self.roots, self.machine.host_roots)):
            yield from roots[self._noted[position] :]
            self._noted[position] = len(roots)
        yield from self.machine.fragments.values()

    def _note_reached(self, roots: Iterable[Summary]) -> None:
        pending = list(roots)
        while pending:
            summary = pending.pop()
            if summary in self._walked:
                continue
            self._walked.add(summary)
            if summary.function is not None:
                self._reached.add(summary.function.identity)
            pending.extend(callee for _, callee in summary.calls)

    # -- entry points -------------------------------------------------------------------------------------------------

    def _enter_keras(self, cls: Class) -> None:
        """The methods that Keras runs in a step that it may compile."""
        for kind in _KINDS:
            if not cls.is_keras(kind):
                continue
            autograph = self.machine.keras_version(cls.module) == 2
            how = "which Keras 2 converts with AutoGraph" if autograph else "which Keras 3 runs without AutoGraph"
            for name in api.keras_roles(kind):
                method = cls.find(name)
                if method is None or method.owner is None:
                    continue
                value = self.machine.decorated(method_value(method, self.machine.canonical_instance(cls)))
                entry = f"`{cls.name}.{name}`, {how}"
                own = value.compiled
                if isinstance(own, Compilation) and own.kind is not ContextKind.OPEN:
                    autograph_here, entry = own.autograph, f"`{cls.name}.{name}`, which Keras may compile"
                else:
                    autograph_here = autograph and not (isinstance(own, Compilation) and not own.autograph)
                context = Context(ContextKind.XLA, autograph_here, entry)
                self.machine.enter(replace(value, compiled=None), context, _role_arguments(kind, name, method), "keras")

    def _enter_tests(self) -> None:
        """Tests are host code, and so is what only they call."""
        for module in self.project.modules:
            in_tests = bool(_TESTS.search(PurePath(module.source.display).as_posix()))
            for function in module.all_functions():
                if not function.uses_tensorflow:
                    continue
                owner = function.owner
                is_case = owner is not None and any(base.endswith(_TEST_CASES) for base in owner.external_bases)
                is_callback = owner is not None and owner.is_keras("callback")
                if (in_tests or is_case or is_callback) and function not in self._reached:
                    self.machine.enter(self.machine.as_called(function), _HOST, Arguments(unknown=True), "test")
        self._drain()

    # -- what nobody calls --------------------------------------------------------------------------------------------

    def _run_unreached(self) -> None:
        """Functions without a caller, those first that nobody even names; then functions made inside others."""
        named = Counter[str]()
        for module in self.project.modules:
            named.update(set(_WORD.findall(module.source.text)))
            named.update(_named_twice(module))
        candidates = [function for module in self.project.modules for function in module.all_functions()]
        candidates.sort(key=lambda function: named[function.name] > 1)
        for function in candidates:
            if function not in self._reached and not _is_eager_by_role(function) and function.uses_tensorflow:
                with self._about(function.module, function.qualname, function):
                    self._run_open(self.machine.decorated(self.machine.as_called(function)), _OPEN)
        for value, context in self.machine.orphans:
            if value.function.identity not in self._reached:
                kind = ContextKind.OPEN if context.kind is ContextKind.HOST else context.kind
                self._run_open(value, context if kind is context.kind else _OPEN)

    def _run_open(self, value: FunctionValue, context: Context) -> None:
        summary = None
        with self._about(value.function.module, value.function.qualname, value.function):
            summary = self.machine.analyse(None, value, Arguments(unknown=True), context)
        if summary is not None:
            (self.open_roots if context.kind is ContextKind.OPEN else self.roots).append(summary)
            self._note_reached([summary])
        self._drain()

    def _run_inputs(self) -> None:
        """Compiled functions that the project does not call itself: what they are handed are tensors, unless they use
        it in another way."""
        for entry in self._compiled:
            if entry.value.function not in self.machine.called:
                given = replace(entry.arguments, inputs=True)
                summary = self.machine.analyse(None, entry.value, given, entry.context)
                if summary is not None:
                    self.roots.append(summary)
        self._drain()

    # -- the outcome --------------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """The events of all analyses that count, each with its trail, in the order of entry points."""
        _spread_host_only(self.open_roots)
        called_by_open = self._called_from(self.open_roots)
        # Who calls a function may come to light after it was taken for one that nobody calls.
        called = _functions_below((*self.roots, *self.machine.host_roots, *self.machine.fragments.values()))
        opened = [
            root
            for root in self.open_roots
            if root.function is not None
            and root.function.identity not in called
            and not called_by_open.get(root.function, set()) - {root}
        ]
        hosts = self.machine.host_roots if self.options.include_host else ()
        seen: set[Summary] = set()
        for root in (*self.roots, *self.machine.fragments.values(), *opened, *hosts):
            yield from _events_below(root, seen)

    @staticmethod
    def _called_from(roots: Sequence[Summary]) -> dict[Function | None, set[Summary]]:
        """For each function, the roots analysed before or after it that lead to it."""
        callers: dict[Function | None, set[Summary]] = {}
        own = {root.function: position for position, root in enumerate(roots)}
        for position, root in enumerate(roots):
            pending, seen = [root], {root}
            while pending:
                for _, callee in pending.pop().calls:
                    if callee not in seen:
                        seen.add(callee)
                        pending.append(callee)
                        # Two functions that call each other: the first keeps being the root.
                        if own.get(callee.function, -1) > position or (
                            callee.function in own and not _leads_to(roots[own[callee.function]], root.function)
                        ):
                            callers.setdefault(callee.function, set()).add(root)
        return callers


def _leads_to(start: Summary, function: Function | None) -> bool:
    pending, seen = [start], {start}
    while pending:
        for _, callee in pending.pop().calls:
            if callee.function is function:
                return True
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return False


def _functions_below(roots: Iterable[Summary]) -> set[object]:
    """The functions that these analyses lead to, by identity."""
    pending = list(roots)
    seen = set(pending)
    while pending:
        for _, callee in pending.pop().calls:
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return {summary.function.identity for summary in seen if summary.function is not None}


def _spread_host_only(roots: Sequence[Summary]) -> None:
    """What calls a function that only eager code can call is eager itself, and so is what nothing else calls."""
    callers: dict[Summary, list[Summary]] = {}
    eager: list[Summary] = []
    pending, seen = list(roots), set(roots)
    while pending:
        summary = pending.pop()
        if summary.host_only:
            eager.append(summary)
        for _, callee in summary.calls:
            if callee.context.kind is ContextKind.OPEN:
                callers.setdefault(callee, []).append(summary)
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
    while eager:
        for caller in callers.get(eager.pop(), ()):
            if caller.context.kind is ContextKind.OPEN and not caller.host_only:
                caller.host_only = True
                eager.append(caller)


def _events_below(root: Summary, seen: set[Summary]) -> Iterator[Event]:
    """Breadth first, so that a trail is the shortest way from the entry point. Where nobody is seen to compile
    anything, what only eager code can do ends the way."""
    start = None if root.function is None else Trail(root.name, root.function.label)
    pending: list[tuple[Summary, Trail | None]] = [(root, start)]
    while pending:
        following: list[tuple[Summary, Trail | None]] = []
        for summary, trail in pending:
            if summary in seen or (summary.host_only and summary.context.kind is ContextKind.OPEN):
                continue
            seen.add(summary)
            for event in summary.events:
                yield replace(event, trail=trail)
            following += [(callee, Trail(callee.name, place, trail)) for place, callee in summary.calls]
        pending = following


def _named_twice(module: Module) -> Iterator[str]:
    """Names of definitions that the file itself uses: they stand in it more than once."""
    counts = Counter(_WORD.findall(module.source.text))
    for function in module.functions:
        if counts[function.name] > 1:
            yield function.name


def _is_eager_by_role(function: Function) -> bool:
    """Methods that Python or Keras calls while nothing is traced."""
    return function.owner is not None and function.name in (
        "__init__",
        "build",
        "get_config",
        "from_config",
        "__repr__",
        "__str__",
        "compute_output_shape",
        "setup",
        "__init_subclass__",
        "__new__",
    )


def _role_arguments(kind: str, name: str, method: Function) -> Arguments:
    """What Keras hands a method: a layer gets tensors in whatever structure, a loss gets two tensors."""
    place = method.label

    def tensor(dtype: str | None = None) -> Value:
        return Tensor(Dependence.VALUE, dtype, origin=Origin(place, f"Keras calls `{name}` with tensors"))

    nest = Nest(origin=Origin(place, f"Keras calls `{name}` with tensors"))
    match kind, name:
        case ("loss", _) | ("optimizer", "update_step"):
            given: list[Value] = [tensor(), tensor()]
        case ("optimizer", "apply"):
            given = [nest, nest]
        case ("metric", "update_state"):
            given = [tensor(), tensor(), OneOf((NONE, tensor()))]
        case ("metric", _):
            given = []
        case ("schedule", _):
            given = [tensor()]
        case ("regularizer" | "constraint", _):
            given = [tensor("float")]
        case _:
            given = [nest]
    node = method.node.params
    count = len(node.posonly_params) + len(node.params) - 1
    return Arguments(given[: max(count, 0)], unknown=True)


__all__ = ["Options", "analyse"]
