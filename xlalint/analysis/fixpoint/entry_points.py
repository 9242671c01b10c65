"""From sources to events: where analysis starts, in which order, and which of the analyses count in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

from ...sources.words import words_in
from ..budget import Clock, Work
from ..domain.values import Class, Function, FunctionValue, Instance, Module
from ..files.files import Files
from ..files.troubles import InternalTrouble
from ..interpreter.attribute_writes import Noted
from ..interpreter.contexts import HOST, Context, ContextKind, Run
from ..interpreter.events import Event
from ..interpreter.frames import Arguments, Entry, Summary
from ..interpreter.interface import Options
from ..interpreter.interpreter import ProjectInterpreter
from ..models.registry import MODELS
from ..program.creations import Creations
from ..program.creators import Creators
from ..program.project import Project
from ..program.signs import Shows, Sign
from ..program.trainer_steps import replaced_for_jax
from ..record import replace
from .call_paths import (
    ClassRuns,
    around_steps,
    calls_from,
    entered_by_host,
    events_of_host,
    events_reached_from,
    file_key,
    functions_of,
    is_aside,
    is_run_by_host,
    reached_from,
    root_key,
    spread_host_only,
    that_train,
)
from .direct_calls import DirectCalls, called_directly
from .inherited_roles import InheritedRoles
from .keras_entries import keras_entries
from .partitions import GatheredMessages, Key, Message, Messages, Partition, Round, UncalledFunction
from .returned_batches import returned_batches
from .role_calls import RoleCalls
from .roles import is_eager_by_role, may_take_tensors
from .second_traces import second_traces
from .setup_calls import compiled_entries, files_that_set_up, setup_events
from .stages import Stages
from .trainers import trainer_entries
from .training_loops import training_loops

_Position: TypeAlias = tuple[int, str, int]
_Question: TypeAlias = Callable[[Function], bool]  # whether other partitions named a function
_OPEN: Final = Context(ContextKind.OPEN, True, "code that uses tensors and has no known caller")
# Objects that are made for each line of a function that nothing calls; a test runs much besides its own lines (measured
# on transformers, tf-models-official and tf-agents).
_OBJECTS_OF_A_LINE: Final = 17
_OBJECTS_OF_A_TEST: Final = 40


def analyse(
    files: Files,
    share: Sequence[Path] | None,
    options: Options,
    emit: Callable[[Event, Run], None],
    wanted_apis: frozenset[str],
    learned: Callable[[Summary], None] | None = None,
    clock: Clock | None = None,
    rounds: list[Round] | None = None,
) -> Partition[Project]:
    """Execute a share of the files abstractly, and pass each event that counts to `emit`. `share`: the files, None for
    all, where this is the only partition; `learned` is answer of every analysis of a function; `clock` says which files
    take too long; `rounds` is filled with what the partitions sent to each other. Returns the project with the troubles
    that were met."""
    project, clock = Project(files, share), clock or Clock()
    analysis = _Analysis(project, share is None, options, wanted_apis, clock, [] if rounds is None else rounds)
    yield from analysis.run()
    if learned is not None:
        for summary in analysis.interpreter.memo.values():
            learned(summary)
    for path, events in groupby(analysis.events(), key=lambda noted: noted[0].location.path):
        with clock.spent_on(path, Work.RULES):
            for event, run in events:
                clock.check()
                with _noted(project, path, event.location.unit.first_line, "applying the rules"):
                    emit(event, run)
    return project


@contextmanager
def _noted(project: Project, path: str, line: int, doing: str) -> Iterator[None]:
    """An exception inside costs only what stands inside: it is noted, and the run goes on."""
    try:
        yield
    except Exception as error:
        project.failures.append(InternalTrouble.of(error, path, line, doing))


class _Analysis:
    """The order of work: what is compiled for certain, then module code, then what nobody was seen to call."""

    def __init__(
        self,
        project: Project,
        alone: bool,
        options: Options,
        wanted_apis: frozenset[str],
        clock: Clock,
        rounds: list[Round],
    ) -> None:
        self.project = project
        self.alone = alone
        self.options = options
        self._rounds = rounds
        self.interpreter = ProjectInterpreter(project, options, wanted_apis, clock, MODELS)
        self.roots: list[Summary] = []
        self.open_roots: list[tuple[_Position, Summary]] = []
        self._reached: set[object] = set()  # identities of functions
        self._reached_elsewhere: _Question = _nobody
        self._called_elsewhere: _Question = _nobody
        self._piped_elsewhere: _Question = _nobody
        self._piped_beside: _Question = _nobody
        self._walked: set[Summary] = set()
        self._opened: list[Summary] = []
        self._piped: set[Summary] = set()
        self._by_steps: dict[Summary, None] | None = None
        self._is_direct: Callable[[Key], bool] = lambda key: False
        self._direct: set[Summary] = set()
        self._unseen: set[Summary] = set()
        self._compiled: list[tuple[Entry, Sequence[Noted]]] = []  # with what the first analysis assigned
        self._by_keras: list[Entry] = []  # the methods that Keras calls besides `call`
        self._noted = [0, 0]
        self._inherited = InheritedRoles(self.interpreter)

    def run(self) -> Partition[None]:
        """Analyse everything; the events are there afterwards."""
        interpreter = self.interpreter
        if self.options.creators:
            yield from self._learn_creators()
        for module in self.project.read():  # what was parsed of one is used before the next ones are parsed
            interpreter.register_in(module)
            for cls in list(module.classes):
                with self._about(module, cls.name):
                    self._enter_keras(cls)
            for function in module.all_functions():
                if function.decorator_texts:
                    with self._about(module, function.qualname, function):
                        if interpreter.may_be_compiled(function):
                            interpreter.enter_compiled(interpreter.decorated(interpreter.as_called(function)))
        self._drain()
        for module in self.project.modules:
            runs = module.file.is_script or module.file.runs_alone
            if module.concerns_keras or (runs and module.serves_tensorflow):
                with self._about(module, module.name):
                    interpreter.execute_module(module)
        self._drain()
        self._run_restated()
        expected = self._expected()
        self.project.files.expected += expected
        yield from self._learn_reached()
        self._enter_tests()
        yield from self._learn_reached()
        self._run_unreached()
        self._run_restated()
        self.project.files.expected -= expected
        yield from self._learn_called()
        self._run_inputs()
        others = [*interpreter.host_roots, *interpreter.fragments.values(), *(root for _, root in self.open_roots)]
        roles = RoleCalls(calls_from([*self.roots, *others]), interpreter.handed)
        direct = called_directly([*self.roots, *others])
        is_named = yield from self._exchanged(roles.keys | direct)
        self.roots = roles.without_left(self.roots, is_named)
        self._is_direct = lambda key: key in direct or is_named(key)
        self._unseen = roles.unseen(self.roots, is_named)
        yield from self._learn_called()
        yield from self._find_opened()
        yield from self._find_piped()
        yield from self._find_steps()

    @contextmanager
    def _about(self, module: Module, name: str, function: Function | None = None) -> Iterator[None]:
        """What is done about a definition; no exception leaves it."""
        line = function.stretch.first if function is not None and function.stretch is not None else 1
        path, clock = module.source.display, self.interpreter.clock
        with clock.spent_on(path, Work.ANALYSIS), _noted(self.project, path, line, f"reading `{name}`"):
            yield

    def _drain(self) -> None:
        """Analyse everything that is known to be entered, and what that brings to light."""
        interpreter = self.interpreter
        while interpreter.entries or interpreter.local_classes:
            for cls in interpreter.local_classes:
                with self._about(cls.module, cls.name):
                    self._enter_keras(cls)
            interpreter.local_classes.clear()
            entries, interpreter.entries = interpreter.entries, []
            for entry in entries:
                function, mark = entry.value.function, interpreter.writes.mark
                with self._about(function.module, function.qualname, function):
                    summary = interpreter.analyse(None, entry.value, entry.arguments, entry.context)
                    if summary is not None:
                        self.roots.append(summary)
                if entry.context.becomes_graph and (entry.value.compiled or function.name == "call"):
                    self._compiled.append((entry, interpreter.writes.since(mark)))
                elif entry.context.by_keras:
                    self._by_keras.append(entry)
        self._note_reached(self._fresh_roots())

    def _run_restated(self) -> None:
        """The methods that Keras calls, once more where the host changes what they read of an object or a module."""
        restated, self.interpreter.writes.restated = self.interpreter.writes.restated, set()
        for entry in list(self._by_keras) if restated else ():
            bound = entry.value.bound
            if entry.value.function.module in restated or (isinstance(bound, Instance) and bound.cls in restated):
                self._by_keras.remove(entry)
                self.interpreter.entries.append(entry)
        self._drain()

    def _fresh_roots(self) -> Iterator[Summary]:
        """The roots that came since this was asked last."""
        for position, roots in enumerate((self.roots, self.interpreter.host_roots)):
            yield from roots[self._noted[position] :]
            self._noted[position] = len(roots)
        yield from self.interpreter.fragments.values()

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

    def _is_reached(self, function: Function) -> bool:
        return function.identity in self._reached or self._reached_elsewhere(function)

    def _learn_creators(self) -> Partition[None]:
        """Exchange who creates objects of which classes, and with what."""
        installed = self.project.files.is_installed
        creations = Creations(self.project, self.project.read(lambda path: not installed(path)))
        if self.project.files.jax:
            creations.facts.update(replaced_for_jax(self.project))
        is_named = yield from self._exchanged(creations.facts)
        self.interpreter.creators = Creators(self.project, creations, is_named)

    def _learn_reached(self) -> Partition[None]:
        """Exchange which functions are reached."""
        mine = (summary.function for summary in self._walked if summary.function is not None)
        self._reached_elsewhere = yield from self._named_by_others(mine)

    def _learn_called(self) -> Partition[None]:
        """Exchange which functions the project runs itself."""
        interpreter = self.interpreter
        self._called_elsewhere = yield from self._named_by_others(interpreter.called.values())
        files = {file_key(function) for function in interpreter.piped.values()}
        keys = files.union(function.key for function in interpreter.piped.values())
        is_named = yield from self._exchanged(keys)
        self._piped_elsewhere = lambda function: is_named(function.key)
        self._piped_beside = lambda function: file_key(function) in files or is_named(file_key(function))

    # -- entry points -------------------------------------------------------------------------------------------------

    def _enter_keras(self, cls: Class) -> None:
        """The methods that Keras runs in a step that it may compile, and those that other libraries' loops run."""
        for value, context, arguments in trainer_entries(self.interpreter, cls):
            self.interpreter.enter(value, context, arguments, "trainer")
        for value, context, given in keras_entries(self.interpreter, cls, self._inherited):
            self.interpreter.enter(value, context, given, "keras")

    def _enter_tests(self) -> None:
        """Tests are host code, and so is what only they call; the layers that these call are mostly not compiled."""
        for function in self._unreached():
            if is_run_by_host(function):
                called, context = self.interpreter.as_called(function), replace(HOST, aside=function.module.is_test)
                with self._about(function.module, function.qualname, function):
                    self.interpreter.enter(called, context, Arguments(unknown=True), "test")
        self._drain()

    def _unreached(self) -> Iterator[Function]:
        """The functions that use TensorFlow and that nothing was seen to call so far."""
        for function in chain.from_iterable(module.all_functions() for module in self.project.modules):
            if function.uses_tensorflow and not self._is_reached(function):
                yield function

    def _expected(self) -> int:
        """About how many objects will be made where functions are run that nothing calls."""
        if self.alone:
            return 0
        lines = Counter[bool]()
        for function in self._unreached():
            if function.stretch is not None and not is_eager_by_role(function):
                lines[is_run_by_host(function)] += function.stretch.last - function.stretch.first + 1
        return _OBJECTS_OF_A_TEST * lines[True] + _OBJECTS_OF_A_LINE * lines[False]

    # -- what nobody calls --------------------------------------------------------------------------------------------

    def _run_unreached(self) -> None:
        """Functions without a caller, those first that nobody even names; then functions made inside others."""
        self.project.files.let_go()
        named = self._named()
        candidates = [
            ((int(named[function.name] > 1), module.source.display, position), function)
            for module in self.project.modules
            for position, function in enumerate(module.all_functions())
        ]
        for position, function in sorted(candidates, key=itemgetter(0)):
            # What others know is asked last: each answer is one that may turn out otherwise.
            if not is_eager_by_role(function) and function.uses_tensorflow and not self._is_reached(function):
                with self._about(function.module, function.qualname, function):
                    self._run_open(self.interpreter.decorated(self.interpreter.as_called(function)), _OPEN, position)
        for number, (value, context) in enumerate(self.interpreter.orphans):
            if not context.pipeline and may_take_tensors(value, context) and not self._is_reached(value.function):
                kind = ContextKind.OPEN if context.kind is ContextKind.HOST else context.kind
                position = (2, value.function.module.source.display, number)
                self._run_open(value, context if kind is context.kind else _OPEN, position)

    def _named(self) -> Counter[str]:
        """How often the files of this partition name its functions."""
        names = frozenset(self.project.defined_names())
        found = Counter[str]()
        for module in self.project.modules:
            counts = Counter(filter(names.__contains__, words_in(module.file.text)))
            found.update(counts.keys())
            # What the file itself uses stands in it more than once.
            found.update(function.name for function in module.functions if counts[function.name] > 1)
        return found

    def _run_open(self, value: FunctionValue, context: Context, position: _Position) -> None:
        summary, writes, mark = None, self.interpreter.writes, self.interpreter.writes.mark
        with self._about(value.function.module, value.function.qualname, value.function):
            summary = self.interpreter.analyse(None, value, Arguments(unknown=True), context)
        writes.of_uncalled[value.function.identity] = writes.since(mark)
        if summary is not None:
            if context.kind is ContextKind.OPEN:
                self.open_roots.append((position, summary))
            else:
                self.roots.append(summary)
            self._note_reached([summary])
        self._drain()

    def _run_inputs(self) -> None:
        """Compiled functions that the project does not call itself: what they are passed are tensors, unless they use
        it in another way."""
        interpreter = self.interpreter
        for entry, noted in self._compiled:
            function = entry.value.function
            if function.identity not in interpreter.called and not self._called_elsewhere(function):
                interpreter.writes.take_back(noted)
                with self._about(function.module, function.qualname, function):
                    given = replace(entry.arguments, inputs=True)
                    summary = interpreter.analyse(None, entry.value, given, entry.context)
                    if summary is not None:
                        self.roots.append(summary)
        self._drain()

    # -- the outcome --------------------------------------------------------------------------------------------------

    def events(self) -> Iterator[tuple[Event, Run]]:
        """The events of all analyses that count, each with the shortest trail to it and the analysis it is of. Which
        others there are of that function is known once all have been asked for."""
        hosts = self.interpreter.host_roots
        loops = around_steps((*self.roots, *self._opened))
        compiled = [*self.roots, *entered_by_host(hosts), *self.interpreter.fragments.values(), *self._opened]
        asked = sorted([*compiled, *hosts] if self.options.include_host else compiled, key=root_key)
        trainings = training_loops(asked, targeted=self.options.target is not None)
        ways = trainings.told, trainings.leads, self._piped, that_train(asked)
        yield from events_reached_from(asked, loops, *ways, self._by_steps, self._direct, self._unseen)
        whole = Run([], ())  # what the host does to what is compiled is no matter of one function's arguments
        everywhere = sorted([*compiled, *hosts], key=root_key)
        entries = compiled_entries(sorted(self.roots, key=root_key))
        yield from ((event, whole) for event in chain(events_of_host(everywhere), second_traces(everywhere), entries))
        if self.options.target is not None:
            yield from ((event, whole) for event in returned_batches(self._opened))
        if self.interpreter.set_up:
            yield from ((event, whole) for event in setup_events(everywhere))

    def _find_piped(self) -> Partition[None]:
        """The analyses of each plain `tf.function` that all partitions together run, and in input pipelines only."""
        roots = [*self.roots, *self.interpreter.fragments.values(), *self._opened, *self.interpreter.host_roots]
        piped = {summary for summary in reached_from(roots) if self._runs_in_pipelines(summary)}
        others = reached_from([root for root in roots if root not in piped], is_aside)
        called = functions_of(summary for summary in others if summary.context.kind is not ContextKind.HOST)
        called_elsewhere = yield from self._named_by_others(called.values())
        self._piped = {
            summary
            for summary in piped
            if summary.function is not None
            and summary.function.identity not in called
            and not called_elsewhere(summary.function)
        }

    def _find_steps(self) -> Partition[None]:
        """What the steps of training and evaluation lead to, if there are any."""
        roots = [*self.roots, *self.interpreter.fragments.values(), *self._opened, *self.interpreter.host_roots]
        roots += entered_by_host(self.interpreter.host_roots)
        stages = Stages(roots)
        for module in self.project.modules:
            if module.source.display in stages.scripts:
                self.project.show(module, Shows.SCRIPT, Sign(1, "the top-level code trains"))
        calls = DirectCalls(roots, self.interpreter.handed, self._is_direct)
        is_named = yield from self._exchanged(stages.keys | calls.keys)
        self._by_steps, self._direct = stages.reached(roots, is_named), calls.alone(is_named)

    def _runs_in_pipelines(self, summary: Summary) -> bool:
        """Whether this is a plain `tf.function` that input pipelines run, and perhaps others as well."""
        function = summary.function
        if function is None or summary.context.kind is not ContextKind.GRAPH:
            return False
        return function.identity in self.interpreter.piped or self._piped_elsewhere(function)

    def _find_opened(self) -> Partition[None]:
        """The roots that turned out to have no caller: who calls a function may come to light after it was taken for
        one that nobody calls, in this partition or another."""
        spread_host_only([root for _, root in self.open_roots])
        others = (*self.roots, *self.interpreter.host_roots, *self.interpreter.fragments.values())
        called = functions_of(reached_from(others))
        classes = ClassRuns(others, {root for _, root in self.open_roots})
        is_named = yield from self._exchanged(classes.keys.union(function.key for function in called.values()))
        matters = self._matters(others)
        mine, asked = list[UncalledFunction](), list[bool]()
        for position, root in self.open_roots:
            assert root.function is not None
            below = reached_from((root,))
            keys = frozenset(function.key for function in functions_of(below).values())
            mine.append(UncalledFunction(position, root.function.key, keys))
            asked.append(root.function.identity not in called and any(map(matters, below)))
        followed = yield from self._followed(mine, asked)
        for (_, root), follows in zip(self.open_roots, followed, strict=True):
            assert root.function is not None
            if follows is not False or is_named(root.function.key):
                continue
            if not classes.is_for_pipelines(root.function.owner, is_named):
                self._opened.append(root)

    def _matters(self, others: Sequence[Summary]) -> Callable[[Summary], bool]:
        """Whether an uncalled function that leads to an analysis may make a difference, when it counts: where any
        analysis of that function says something, or what sets a program up runs when its file is imported, or a
        pipeline may run the function. Most do not, and nothing is asked about them, so that no answer can outdate what
        was found. `others`: all but the uncalled functions."""
        summaries = reached_from((*others, *(root for _, root in self.open_roots)))
        telling = functions_of(summary for summary in summaries if summary.tells)
        setting_up = files_that_set_up(others) if self.interpreter.set_up else frozenset()

        def matters(summary: Summary) -> bool:
            function = summary.function
            if function is None:
                return bool(summary.events)
            return (
                function.identity in telling
                or function.module.source.display in setting_up
                or self._piped_beside(function)
            )

        return matters

    # -- the other partitions -----------------------------------------------------------------------------------------

    def _named_by_others(self, functions: Iterable[Function]) -> Partition[_Question]:
        """Name functions to the other partitions; whether they, in turn, name one."""
        is_named = yield from self._exchanged(function.key for function in functions)
        return lambda function: is_named(function.key)

    def _exchanged(self, keys: Iterable[Key]) -> Partition[Callable[[Key], bool]]:
        """Name functions, or files, to the other partitions; whether they, in turn, name one."""
        if self.alone:
            return lambda key: False
        made = Round(Message(frozenset(keys)))
        self._rounds.append(made)
        received: Messages = yield made.sent
        return lambda key: made.is_named(key, received)

    def _followed(self, roots: Sequence[UncalledFunction], asked: Sequence[bool]) -> Partition[list[bool | None]]:
        """Name uncalled functions to the other partitions; whether another one leads to each of which that is
        `asked`."""
        made = Round(Message(roots=tuple(roots)))
        received: Messages = GatheredMessages([made.sent])
        if not self.alone:
            self._rounds.append(made)
            received = yield made.sent
        made.followed = [received.follows(root) if ask else None for root, ask in zip(roots, asked, strict=True)]
        return made.followed


def _nobody(function: Function) -> bool:
    """What other partitions say where there are none."""
    return False


__all__ = ["Options", "analyse"]
