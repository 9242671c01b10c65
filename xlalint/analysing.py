"""The rules over all files of a run, in parts. A part that is recorded and would find the same is not run again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from .cache import Cache
from .codes import UNFINISHED_FILE
from .config import Settings
from .dispatch import Dispatcher, gravest_of
from .findings import Finding, Problem, Span
from .inputs import Inputs, settings_parts
from .own import about_file
from .processes import ProcessLostError, run_parts
from .records import End, Record, Records, World
from .rule import Rule, all_rules
from .semantics.analysis import Options, analyse, deep_recursion
from .semantics.clock import Clock
from .semantics.events import Event, Run
from .semantics.files import Files, Session
from .semantics.parts import Heard, Member, Part, Round, shares
from .semantics.reads import Reads, noted_in
from .sources.text import UnreadableSource, display_path

T = TypeVar("T")


@dataclass(slots=True)
class Outcome:
    """What the rules and the parser find, and what watchers say, in no order. `imported`: the digests of the files that
    were read besides those to check; `lasts`: the same files will give the same another time."""

    findings: list[Finding] = field(default_factory=list)
    observed: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    lasts: bool = True


class Analysis:
    """The analysis of one run. With a `cache`, what its parts leave is kept there, and what others left is used."""

    def __init__(
        self,
        inputs: Inputs,
        settings: Settings,
        watchers: Sequence[Rule] = (),
        session: Session | None = None,
        cache: Cache | None = None,
    ) -> None:
        all_rules()  # one that cannot be loaded is told here, not by each process
        self._inputs, self._settings, self._watchers, self._cache = inputs, settings, watchers, cache
        self._shown = {str(file.path): file.display for file in inputs.files}
        self._linted = self._shown.keys() | self._shown.values()
        checked = inputs.checked
        read = {file.path: partial(inputs.source, file.display) for file in checked}
        self._files = Files(read, inputs.strategies, session)
        ranges = shares([(file.display, inputs.facts[file.display].size + 1) for file in checked])
        self._shares = [tuple(checked[position].path for position in share) for share in ranges]
        self._world = World(self._files, self._linted, self._digest)

    def run(self) -> Outcome:
        """Run what has to be run. What a process that is lost had to do is done again in this one."""
        records = self._records()
        members = [
            Member(partial(self._part, share), None if records is None else records.load(share))
            for share in self._shares
        ]
        outcome = Outcome()
        with deep_recursion():
            try:
                ends = run_parts(members, self._settings.jobs or _processors(), Heard)
            except ProcessLostError as error:
                message = "a process of the analysis ended early; everything was analysed again in one"
                outcome.problems.append(Problem(None, message, f"{error}\n"))
                ends = run_parts(members, 1, Heard)
        self._judge(ends, outcome)
        for share, end in zip(self._shares, ends, strict=True):
            # No file was written to while it was read; what is recorded of others holds for what they are now.
            same = all(self._digest(read.path) == read.digest for read in end.record.reads if read.checked)
            if records is not None and end.fresh and end.lasts and same:
                records.store(share, end.record)
            outcome.lasts = outcome.lasts and (same or not end.fresh)
            for read in end.record.reads:
                digest = read.digest if end.fresh else self._digest(read.path)
                if digest and not read.checked:
                    outcome.imported[read.path] = digest
        return outcome

    def _records(self) -> Records | None:
        if self._cache is None:
            return None
        return Records(self._cache, settings_parts(self._settings), self._shares, self._world)

    def _digest(self, path: str) -> str | None:
        """The digest of a file as it is now; None where it cannot be read."""
        display = self._shown.get(path)
        if display is not None:
            return self._inputs.digests.get(display)
        try:
            return None if self._cache is None else self._cache.digests.of(path)
        except UnreadableSource:
            return None

    def _part(self, share: Sequence[Path]) -> Part[End]:
        """The work on some of the files, or on all where there is only this part."""
        reads, rounds = Reads(), list[Round]()
        work = self._rules_over(None if len(self._shares) == 1 else share, rounds)
        end = yield from (work if self._cache is None else _noting(work, reads))
        if self._cache is not None:
            self._world.describe(end.record, reads, share)
        return end

    def _rules_over(self, share: Sequence[Path] | None, rounds: list[Round]) -> Part[End]:
        settings = self._settings
        clock = Clock(settings.file_timeout)
        dispatcher = Dispatcher.of_codes(settings.codes, settings.tensorflow, settings.unrolled_rounds)
        watching = Dispatcher(self._watchers)

        def hear(event: Event, run: Run) -> None:
            dispatcher.hear(event, run)
            watching.hear(event, run)

        options = Options(keras=settings.keras, include_host=settings.include_host)
        project = yield from analyse(
            self._files,
            share,
            options,
            hear if self._watchers else dispatcher.hear,
            dispatcher.wanted_apis | watching.wanted_apis,
            clock=clock,
            rounds=rounds,
        )
        linted = self._linted.__contains__
        candidates = list(dispatcher.candidates(linted, settings.severities, clock, settings.target))
        observed = [candidate.finding for candidate in watching.candidates(linted, {})]
        failures = project.failures + dispatcher.failures + watching.failures
        record = Record(rounds, candidates, project.trouble, dispatcher.tpu)
        return End(record, True, tuple(observed), tuple(failures), tuple(clock.given_up))

    def _judge(self, ends: Sequence[End], outcome: Outcome) -> None:
        """Put together what the parts found."""
        candidates = chain.from_iterable(end.record.candidates for end in ends)
        tpu = self._settings.target is None and any(end.record.tpu for end in ends)
        found = [self._as_shown(finding) for finding in gravest_of(candidates, tpu)]
        for failure in dict.fromkeys(chain.from_iterable(end.failures for end in ends)):
            path = self._shown.get(failure.path, failure.path)
            outcome.problems.append(Problem(path, failure.message, failure.detail, failure.rule))
        for trouble in dict.fromkeys(chain.from_iterable(end.record.trouble for end in ends)):
            if trouble.path in self._linted:
                path = self._shown.get(trouble.path, trouble.path)
                span = Span(trouble.line, trouble.column, trouble.line, trouble.column + 1)
                found.append(about_file(trouble.code, path, trouble.message, self._settings, span))
        for given_up in dict.fromkeys(chain.from_iterable(end.given_up for end in ends)):
            outcome.lasts = False  # what is found depends on how fast the machine is
            if given_up in self._linted:
                limit = self._settings.file_timeout
                message = f"it takes more than {limit:g} s (file-timeout): not all of it is checked"
                path = self._shown.get(given_up, given_up)
                # Not all callers were seen.
                found = [replace(one, fix=None) if one.path == path else one for one in found]
                found.append(about_file(UNFINISHED_FILE, path, message, self._settings))
        outcome.findings = list(dict.fromkeys(found))
        outcome.observed = [self._as_shown(finding) for end in ends for finding in end.observed]

    def _as_shown(self, finding: Finding) -> Finding:
        """With every path as reports show it: a file that was read by way of an import comes with its absolute one."""

        def name(path: str) -> str:
            return self._shown.get(path) or display_path(Path(path))

        context = finding.context
        if context is not None:
            context = replace(context, trail=tuple(replace(step, path=name(step.path)) for step in context.trail))
        notes = tuple(replace(note, path=name(note.path)) for note in finding.notes)
        return replace(finding, path=name(finding.path), context=context, notes=notes)


def _noting(part: Part[T], reads: Reads) -> Part[T]:
    """A part, with what it reads noted."""
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
