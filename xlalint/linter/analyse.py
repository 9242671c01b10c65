"""The rules over all files of a run, in partitions. A partition that is recorded and would find the same is not run
again; what executes code, libcst and the rules are imported only where one is to be run."""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from ..analysis.budget import Clock, Spent
from ..analysis.files.dependencies import Reads, noted_in
from ..analysis.files.files import Files
from ..analysis.files.session import Session
from ..analysis.fixpoint.exchange import Transcript, TranscriptMessages, Transcripts
from ..analysis.fixpoint.partitions import (
    ROUNDS,
    GatheredMessages,
    Member,
    Partition,
    Round,
    ask_first,
    fit_in_memory,
    rounds_of,
    run_group,
    shares,
)
from ..analysis.fixpoint.processes import CAN_FORK, ProcessLostError, run_each, run_in_turns, run_parts
from ..analysis.fixpoint.recursion import run_deep
from ..analysis.program.backends import ON_TENSORFLOW, Ran, Required, backends, is_distributed, is_of_tensorflow
from ..analysis.program.exposure import LIBRARY, NOT_EXPOSED, Exposed, exposures
from ..analysis.program.guards import allowed
from ..analysis.program.signs import ModuleSigns
from ..findings.codes import UNFINISHED_FILE
from ..findings.findings import Backend, Exposure, Finding, Problem, Span
from ..settings.config import Settings
from ..sources.distributions import is_installed
from ..sources.reading import Jax
from ..sources.text import UnreadableSource, display_path
from .cache import Cache, Memory
from .gravest import gravest_of
from .incremental import End, Record, Records, World
from .inputs import Inputs
from .own_findings import about_file

if TYPE_CHECKING:
    from ..analysis.interpreter.contexts import Run
    from ..analysis.interpreter.events import Event
    from .rule import Rule

T = TypeVar("T")
# By the number of each partition: what it came to, and what it said.
_Ran: TypeAlias = dict[int, tuple[bytes | End, Transcript]]
# Objects that partitions create before no other runs beside them: some three hundred megabytes; of a project with very
# many files fewer, since what a run knows of each file takes as much room as these objects.
_MOST_OBJECTS: Final = 2_200_000
_OBJECTS_OF_A_FILE: Final = 20
_OBJECTS_OF_A_LINE: Final = 10  # as long as what was parsed of it is kept
_WORTH_COLLECTING: Final = 200_000
# How many processes one job may take turns with, since many partitions are run twice where some end before others
# begin, and from what share of the room on one takes no more, counted with what its partitions are expected to take.
_TURNS: Final = 3
_FULL: Final = 0.75


@dataclass(slots=True)
class Outcome:
    """What the rules and the parser find, and what watchers say, in no order. `imported`: the digests of the files that
    were read besides those to check; `lasts`: the same files will give the same another time; `backends`: what runs
    each of those to check that not TensorFlow alone runs, by its path as reports show it."""

    findings: list[Finding] = field(default_factory=list)
    observed: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    lasts: bool = True
    backends: dict[str, frozenset[Backend]] = field(default_factory=dict)


class Analysis:
    """The analysis of one run. With a `cache`, what its partitions leave is kept there, and what others left is used.
    `spent`: what earlier runs took of the time of the files, to which it adds."""

    def __init__(
        self,
        inputs: Inputs,
        settings: Settings,
        watchers: Sequence[Rule] = (),
        session: Session | None = None,
        cache: Cache | Memory | None = None,
        spent: Spent | None = None,
    ) -> None:
        self._inputs, self._settings, self._watchers, self._cache = inputs, settings, watchers, cache
        self._forks, self._kept = CAN_FORK, session is not None
        self._spent = Spent() if spent is None else spent
        self._shown = {str(file.path): file.display for file in inputs.files}
        self._displays: dict[str, str] = {}  # of the paths in findings
        self._linted = self._shown.keys() | self._shown.values()
        checked = inputs.checked
        read = {file.path: partial(inputs.source, file.display) for file in checked}
        self._files = Files(read, inputs.strategies, inputs.clusters, inputs.jax(settings), session)
        ranges = shares([(file.display, inputs.facts[file.display].size + 1) for file in checked])
        self._shares = [tuple(checked[position].path for position in share) for share in ranges]
        self._text = sum(inputs.facts[file.display].size for file in checked)
        self._world = World(self._files, self._linted, self._digest, session)
        self._keras_near = inputs.keras_near(settings)
        self._of_tensorflow_1 = inputs.of_tensorflow_1
        self._near = inputs.settings_near(settings)
        self._folders = {file.display: file.path.parent for file in inputs.files}
        self._records = None
        if cache is not None:
            known = inputs.settings_parts(settings)
            self._records = Records(cache, known, self._shares, rounds_of(self._text), self._world, session)

    def run(self) -> Outcome:
        """Run what has to be run. What a process that is lost had to do is done again in this one."""
        outcome = Outcome()
        try:
            ends = run_deep(partial(self._ends, self._settings.jobs or _processors()))
        except ProcessLostError as error:
            message = "a process of the analysis ended early; one process analysed everything again"
            outcome.problems.append(Problem(None, message, f"{error}\n"))
            self._forks = False
            ends = run_deep(partial(self._ends, 1))
        self._judge(ends, outcome)
        self._account(ends)
        for end in ends:
            outcome.lasts = outcome.lasts and end.same
            for read in end.record.reads:
                if not read.checked:
                    # What is recorded of other files holds for what they are now.
                    digest = read.digest if end.fresh else self._digest(read.path)
                    if digest:
                        outcome.imported[read.path] = digest
        return outcome

    def _account(self, ends: Sequence[End]) -> None:
        """Note what was taken of each file's time: each partition has all of it, and the one that took most counts."""
        most: dict[str, float] = {}
        for path, seconds in chain.from_iterable(end.seconds for end in ends):
            most[path] = max(most.get(path, 0.0), seconds)
        for path, seconds in most.items():
            self._spent.add(self._shown.get(path, path), seconds)
        given_up = chain.from_iterable(end.given_up for end in ends)
        self._spent.given_up |= {self._shown.get(path, path) for path in given_up}

    def _ends(self, processes: int) -> list[End]:
        """What all partitions come to."""
        processes = processes if self._forks else 1
        if fit_in_memory(self._text, processes):
            return run_parts(self._members(), processes, GatheredMessages)
        if processes == 1 and self._forks and not self._kept and fit_in_memory(self._text, _TURNS):
            return run_in_turns(
                self._members(), _TURNS, lambda: self._filled(self._files.expected) > _FULL, GatheredMessages
            )
        return self._in_turn(processes)

    def _members(self) -> list[Member[End]]:
        return [Member(partial(self._part, share), self._recorded(share)) for share in self._shares]

    def _filled(self, expected: int = 0) -> float:
        """How much of the room for partitions that run beside each other is taken, with so many objects more: 1 or more
        is all."""
        room = max(_MOST_OBJECTS - _OBJECTS_OF_A_FILE * len(self._inputs.files), 1)
        return (gc.get_count()[0] - _OBJECTS_OF_A_LINE * self._files.kept_lines + expected) / room

    def _in_turn(self, processes: int) -> list[End]:
        """Run partitions in groups, one after another, until each partition has received what all have to send."""
        transcripts, ends = Transcripts(), dict[int, bytes | End]()  # packed: findings take many times the room

        def keep(ran: _Ran) -> None:
            for number, (end, transcript) in ran.items():
                ends[number] = end
                transcripts.put(number, transcript)

        for number, share in enumerate(self._shares):
            record = self._recorded(share)
            if record is not None and self._records is not None:
                end = record.result  # which a session holds in any case
                keep({number: (end if self._kept else _packed(end), self._records.transcript(share, record))})
            elif self._records is not None:
                # It will hardly send anything else: who runs before it need not run again then.
                transcripts.put(number, self._records.latest_transcript(share))
            self._files.forget_most(share)
        due = [number for number in range(len(self._shares)) if number not in ends]
        for _ in range(ROUNDS + 1):  # and no more, where what is found depends on how fast the machine is
            # The last ones first, which are more likely to call the others: scripts, tests.
            if processes > 1:
                run_each(partial(self._group, transcripts), [[number] for number in reversed(due)], processes, keep)
                due.clear()
            while due:
                self._next_group(transcripts, due, keep)
            due = transcripts.outdated()
            if not due:
                break
        return [_unpacked(ends[number]) for number in range(len(self._shares))]

    def _next_group(self, transcripts: Transcripts, due: list[int], keep: Callable[[_Ran], None]) -> None:
        """Run the last ones of those that are due, which are due no more."""
        if not self._forks or self._kept:  # a session keeps what is read
            if gc.get_count()[0] > _WORTH_COLLECTING:
                gc.collect()
            keep(self._group(transcripts, due))
            return
        # What a group knows refers to itself in many ways: to end its process takes no time, to collect it seconds.
        ran = list[_Ran]()
        run_each(partial(self._group, transcripts), [due], 1, ran.append)
        keep(ran[0])
        due[:] = [number for number in due if number not in ran[0]]

    def _group(self, transcripts: Transcripts, waiting: list[int]) -> _Ran:
        """Run some of the partitions that are waiting, as many of the last ones as memory is to hold."""
        group: list[int] = []

        def parts() -> Iterator[tuple[int, Partition[End]]]:
            while waiting:
                group.append(waiting.pop())
                yield group[-1], self._part(self._shares[group[-1]])

        ends = run_group(parts(), self._filled, TranscriptMessages(transcripts).after)
        waiting += (number for number in reversed(group) if number not in ends)
        self._files.forget_most([path for number in group for path in self._shares[number]])
        return {number: (_packed(end), Transcript.of(end.record.rounds)) for number, end in ends.items()}

    def _recorded(self, share: tuple[Path, ...]) -> Record | None:
        found = None if self._records is None else self._records.load(share)
        if found is None:
            _load()  # not in each process that is to run it
        return found

    def _digest(self, path: str) -> str | None:
        """The digest of a file as it is now; None where it cannot be read."""
        display = self._shown.get(path)
        if display is not None:
            return self._inputs.digests.get(display)
        try:
            return None if self._cache is None else self._cache.digests.of(path)
        except UnreadableSource:
            return None

    def _part(self, share: tuple[Path, ...]) -> Partition[End]:
        """The work on some of the files, or on all where there is only this partition."""
        reads, rounds = Reads(), list[Round]()
        work = self._rules_over(None if len(self._shares) == 1 else share, rounds)
        if self._records is None:
            return (yield from work)
        end = yield from _noting(work, reads)
        self._world.describe(end.record, reads, share)
        # What is recorded of files to check holds for what they were at the beginning.
        checked = (read for read in end.record.reads if read.checked)
        end = replace(end, same=all(self._digest(read.path) == read.digest for read in checked))
        if end.lasts:
            self._records.store(share, end.record)
        return end

    def _rules_over(self, share: Sequence[Path] | None, rounds: list[Round]) -> Partition[End]:
        from ..analysis.fixpoint.entry_points import Options, analyse
        from .dispatch import Dispatcher
        from .dispatchers import Dispatchers

        settings = self._settings
        clock = Clock(settings.file_timeout, self._spent.seconds)
        dispatcher = Dispatchers(settings, self._near.values(), self._settings_at)
        watching = Dispatcher(self._watchers)

        def handle(event: Event, run: Run) -> None:
            dispatcher.handle(event, run)
            watching.handle(event, run)

        creators = ask_first(self._text)
        options = Options(settings.keras, self._keras_near, dispatcher.include_host, settings.target, creators)
        project = yield from analyse(
            self._files,
            share,
            options,
            handle if self._watchers else dispatcher.handle,
            dispatcher.wanted_apis | watching.wanted_apis,
            clock=clock,
            rounds=rounds,
        )
        linted = self._linted.__contains__
        modules = project.signs()
        candidates = list(dispatcher.candidates(linted, clock, self._may_run_on_jax(modules)))
        observed = [candidate.finding for candidate in watching.candidates(linted)]
        failures = project.failures + dispatcher.failures + watching.failures
        record = Record(rounds, candidates, project.trouble, dispatcher.tpu, modules)
        record.defined = " ".join(project.defined_names())
        took = tuple(clock.seconds.items())
        return End(record, True, True, tuple(observed), tuple(failures), tuple(clock.given_up), took)

    def _may_run_on_jax(self, modules: Iterable[ModuleSigns]) -> Callable[[str], bool]:
        """Whether JAX may run a file, by its path as reports show it, whatever other partitions find."""
        if self._files.jax is Jax.NAMED:
            alone = {self._shown.get(module.path, module.path) for module in modules if is_of_tensorflow(module)}
            return lambda path: path not in alone
        return lambda path: self._files.jax is Jax.CHOSEN

    def _settings_at(self, path: str) -> Settings:
        """The settings for a file, by its absolute path or that which reports show."""
        if not self._near:
            return self._settings
        return self._near.get(self._folder_of(path), self._settings)

    def _judge(self, ends: Sequence[End], outcome: Outcome) -> None:
        """Put together what the partitions found."""
        candidates = chain.from_iterable(end.record.candidates for end in ends)
        tpu = any(end.record.tpu for end in ends)
        modules = self._modules(ends)
        exposed = self._exposed(modules)
        ran = self._ran(modules, exposed)
        gravest = gravest_of(candidates, tpu, exposed, ran)
        if self._files.jax:
            of_each = {path: ran(path) for path in self._shown.values()}
            outcome.backends = {path: found.backends for path, found in of_each.items() if found.on_jax}
        found = [self._as_shown(finding) for finding in gravest]
        for failure in dict.fromkeys(chain.from_iterable(end.failures for end in ends)):
            path = self._shown.get(failure.path, failure.path)
            outcome.problems.append(Problem(path, failure.message, failure.detail, failure.rule))
        for trouble in dict.fromkeys(chain.from_iterable(end.record.trouble for end in ends)):
            if trouble.path in self._linted:
                path = self._shown.get(trouble.path, trouble.path)
                span = Span(trouble.line, trouble.column, trouble.line, trouble.column + 1)
                found.append(about_file(trouble.code, path, trouble.message, self._settings, span, aside=trouble.aside))
        for given_up in dict.fromkeys(chain.from_iterable(end.given_up for end in ends)):
            outcome.lasts = False  # what is found depends on how fast the machine is
            if given_up in self._linted:
                limit = self._settings.file_timeout
                message = f"it takes more than {limit:g} s (file-timeout): the rest is not checked"
                path = self._shown.get(given_up, given_up)
                # Not all callers were seen.
                found = [replace(one, fix=None) if one.path == path else one for one in found]
                found.append(about_file(UNFINISHED_FILE, path, message, self._settings))
        outcome.findings = list(dict.fromkeys(found))
        outcome.observed = [self._as_shown(finding) for end in ends for finding in end.observed]

    @staticmethod
    def _modules(ends: Sequence[End]) -> Collection[ModuleSigns]:
        """What all files show, whichever partition read them."""
        modules: dict[str, ModuleSigns] = {}
        for module in chain.from_iterable(end.record.modules for end in ends):
            before = modules.setdefault(module.path, module)
            if module != before:
                modules[module.path] = before.joined_with(module)
        return modules.values()

    def _ran(self, modules: Collection[ModuleSigns], exposed: Callable[[str], Exposed]) -> Callable[[str], Ran]:
        """What runs a file, by its path as reports show it."""
        if not self._files.jax:
            return lambda path: ON_TENSORFLOW

        def required(folder: Path) -> Required | None:
            found = self._inputs.required.get(folder)
            return None if found is None or not found.backends else (found.backends, display_path(found.file))

        found = backends(modules, lambda path: self._shown.get(path, path), required)
        shown = {self._shown.get(path, path): ran for path, ran in found.items()}
        left = {self._shown.get(path, path): backends for path, backends in allowed(modules).items()}
        strategies = {self._shown.get(module.path, module.path) for module in modules if is_distributed(module)}

        def ran(path: str) -> Ran:
            found = whoever(path)
            if path in strategies and found.on_tensorflow:
                return ON_TENSORFLOW
            return found if path not in left else found._replace(backends=found.backends & left[path])

        def whoever(path: str) -> Ran:
            settings = self._settings_at(path)
            if settings.backends is not None:
                return Ran(settings.backends, f"the setting `backend = {' '.join(sorted(settings.backends))}`")
            found = shown.get(path, ON_TENSORFLOW)
            of_keras_2 = self._keras_at(path) == 2 or (exposed(path).keras_2 and not found.told)
            return ON_TENSORFLOW if of_keras_2 else found

        return ran

    def _keras_at(self, path: str) -> int | None:
        """The Keras that runs a file, where settings or requirements say so."""
        return self._keras_near.get(self._folder_of(path), self._settings.keras)

    def _folder_of(self, path: str) -> Path:
        return self._folders.get(path) or Path(path).parent

    def _exposed(self, modules: Iterable[ModuleSigns]) -> Callable[[str], Exposed]:
        """How sure it is of a file that XLA compiles its program, by its path as reports show it."""
        used = self._inputs.used_elsewhere
        found = exposures(modules, lambda path: self._shown.get(path, path), is_installed, used)
        shown = {self._shown.get(path, path): exposed for path, exposed in found.items()}

        def exposed(path: str) -> Exposed:
            seen, told = shown.get(path, NOT_EXPOSED), _told_exposure(self._settings_at(path))
            if told is None:
                by_default = seen.keras_decides or seen.shown == LIBRARY.shown
                old = by_default and self._folder_of(path) in self._of_tensorflow_1
                return Exposed(Exposure.NONE, whole=seen.whole, keras_2=True) if old else seen
            return Exposed(
                told.exposure,
                told.shown,
                whole=told.whole and seen.whole,
                keras_2=seen.keras_2,
                told=True,
                trains=seen.trains,
                functions=seen.functions,
            )

        return exposed

    def _as_shown(self, finding: Finding) -> Finding:
        """With every path as reports show it: a file that was read by way of an import comes with its absolute one."""

        def name(path: str) -> str:
            if path not in self._displays:
                self._displays[path] = self._shown.get(path) or display_path(path)
            return self._displays[path]

        context = finding.context
        if context is not None:
            context = replace(context, trail=tuple(replace(step, path=name(step.path)) for step in context.trail))
        notes = tuple(replace(note, path=name(note.path)) for note in finding.notes)
        return replace(finding, path=name(finding.path), context=context, notes=notes)


def _told_exposure(settings: Settings) -> Exposed | None:
    """How sure the settings are that XLA compiles the program; None where they leave it to the program."""
    if settings.exposure is None and settings.target is None:
        return None
    said = f"exposure = {settings.exposure!r}" if settings.exposure else f"target = {settings.target!r}"
    of_steps = settings.exposure is None  # of a program that is for a device, its steps run there
    return Exposed(Exposure.CERTAIN, f"the setting `{said}`", whole=of_steps)


def _load() -> None:
    """Import what executes code, and the rules. Raises RulesError."""
    from ..analysis.fixpoint import entry_points  # noqa: F401
    from .dispatchers import Dispatchers  # noqa: F401
    from .rule import all_rules

    all_rules()


def _packed(end: End) -> bytes:
    return pickle.dumps(end.findings_only())


def _unpacked(end: bytes | End) -> End:
    if isinstance(end, End):
        return end
    found: End = pickle.loads(end)
    return found


def _noting(part: Partition[T], reads: Reads) -> Partition[T]:
    """A partition, with what it reads noted."""
    heard: Any = None
    while True:
        try:
            with noted_in(reads):
                said = part.send(heard)
        except StopIteration as end:
            result: T = end.value
            return result
        heard = yield said


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
