"""A run: from paths and settings to a report. What is heavy is imported only when the cache has no answer."""

from __future__ import annotations

import gc
import os
import warnings
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .cache import Cache, Digests, Entry, key_of
from .codes import INVALID_SUPPRESSION, SYNTAX_ERROR, UNFINISHED_FILE, UNREADABLE_FILE, UNUSED_SUPPRESSION, rule_names
from .config import Settings
from .findings import Finding, Problem, Report, Severity, Span, TrailStep
from .sources.discovery import FileToCheck, discover
from .sources.suppressions import names_rules, suppressions_in
from .sources.text import (
    OversizedSource,
    Source,
    UnreadableSource,
    digest_of,
    display_path,
    may_matter,
    read_bytes,
    read_source,
    recorded_reads,
    source_of,
)

if TYPE_CHECKING:
    from .dispatch import Candidate
    from .rule import Rule
    from .semantics.events import Event, Run
    from .semantics.files import InternalTrouble, Session, SyntaxTrouble

_START: Final = Span(1, 1, 1, 2)
_SEVERITIES: Final = {SYNTAX_ERROR: Severity.ERROR, UNFINISHED_FILE: Severity.WARNING}


@dataclass(frozen=True, slots=True)
class Stdin:
    """Source text that was piped in, and the file that it stands for."""

    path: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class _Share:
    """What one part of the analysis has to say. `tpu`: a strategy for TPUs is made there."""

    candidates: list[Candidate]
    tpu: bool
    observed: list[Finding]
    failures: list[InternalTrouble]
    trouble: list[SyntaxTrouble]
    given_up: list[str]
    imported: dict[str, str]


@dataclass(slots=True)
class _Input:
    """What was read of the checked files, by the path that reports show.

    `contents`: what stands for the content of files, by their absolute paths. `sources` holds those that can matter:
    that name TensorFlow or Keras, or hold a suppression to account for. `reported`: the files that were asked for; the
    others are those of the project around them.
    """

    files: list[FileToCheck]
    problems: list[Problem]
    reported: frozenset[str]
    contents: Mapping[Path, bytes]
    digests: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    analysed: list[Source] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    skipped: list[Finding] = field(default_factory=list)  # of files that are read, and not checked
    given_up: bool = False  # what is found depends on how fast the machine is

    def read(self) -> None:
        """Take in the files."""
        for file in self.files:
            try:
                data = self.contents.get(file.path)
                self._add(file, read_bytes(file.path) if data is None else data)
            except OversizedSource as error:
                self._skip(file, str(error))
            except UnreadableSource as error:
                self._fail(file, str(error))

    def digested(self, digests: Digests) -> dict[str, str] | None:
        """The digests of all files that can be read; None where one that was asked for cannot."""
        found = {}
        for file in self.files:
            data = self.contents.get(file.path)
            try:
                found[file.display] = digests.of(str(file.path)) if data is None else digest_of(data)
            except UnreadableSource:
                if file.display in self.reported:
                    return None
        return found

    def _add(self, file: FileToCheck, data: bytes) -> None:
        self.digests[file.display] = digest_of(data)
        matters = may_matter(data, file.path)
        if matters or b"xlalint" in data:
            source = source_of(data, file.path, file.display)
            self.sources[file.display] = source
            if matters:
                self.analysed.append(source)

    def _skip(self, file: FileToCheck, message: str) -> None:
        """Note that a file is not checked, although it could be read."""
        self.skipped.append(_own(UNFINISHED_FILE, file.display, _START, message, _SEVERITIES[UNFINISHED_FILE]))

    def _fail(self, file: FileToCheck, message: str) -> None:
        """Note that a file that was asked for cannot be read: a finding about it, and a problem of the run."""
        self.digests.pop(file.display, None)
        if file.display not in self.reported:
            return
        self.findings.append(_own(UNREADABLE_FILE, file.display, _START, message, Severity.ERROR))
        self.problems.append(Problem(file.display, message))


@contextmanager
def without_warnings() -> Iterator[None]:
    """Python's parser warns of the code that it reads, and by the user's settings may even refuse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@without_warnings()
def check(
    paths: Sequence[str | Path],
    settings: Settings,
    stdin: Stdin | None = None,
    overlay: Mapping[Path, bytes] | None = None,
    session: Session | None = None,
) -> Report:
    """Lint files and folders (or the text of `stdin`) and report. `overlay`: what is to be in files, by their absolute
    paths, in place of what is on the disk; those that are not linted are read with the others. `session`: what earlier
    runs left; with it this one may raise Stopped."""
    inputs = _inputs(paths, settings, stdin, overlay or {})
    cache = Cache(settings.cache_dir) if settings.cache_dir else None
    if cache is not None and not inputs.problems:
        digests = inputs.digested(cache.digests)
        entry = None if digests is None else cache.load(key_of(_key_parts(inputs, digests, settings)))
        if digests is not None and entry is not None:
            cache.digests.save()
            inputs.digests = digests
            return _report(inputs, settings, entry)
    inputs.read()
    entry = _analyse(inputs, settings, session=session)
    if cache is not None and not inputs.problems and not inputs.given_up:
        cache.store(key_of(_key_parts(inputs, inputs.digests, settings)), entry)
        cache.digests.save()
    return _report(inputs, settings, entry)


@without_warnings()
def observe(
    paths: Sequence[str | Path], settings: Settings, watchers: Sequence[Rule]
) -> tuple[Report, tuple[Finding, ...]]:
    """Lint files and folders, and report; beside that, what the watchers have to say, which is no finding and which no
    comment suppresses. Nothing is cached."""
    inputs = _inputs(paths, settings, None, {})
    inputs.read()
    observed: list[Finding] = []
    entry = _analyse(inputs, settings, watchers, observed)
    observed = [finding for finding in observed if finding.path in inputs.reported]
    return _report(inputs, settings, entry), tuple(sorted(observed, key=lambda finding: finding.sort_key))


def _report(inputs: _Input, settings: Settings, entry: Entry) -> Report:
    """What there is to say of the files that were asked for."""
    found = [finding for finding in entry.findings if finding.path in inputs.reported]
    found += _selected(inputs.findings, inputs, settings)
    checked = len(inputs.reported & inputs.digests.keys())
    return Report(tuple(sorted(found, key=lambda one: one.sort_key)), tuple(inputs.problems), checked)


def files_to_check(paths: Sequence[str | Path], settings: Settings) -> tuple[list[FileToCheck], list[Problem]]:
    """The files that a run over `paths` reports on."""
    return discover([Path(path) for path in paths], settings.exclude, force=settings.force_exclude)


def _inputs(
    paths: Sequence[str | Path], settings: Settings, stdin: Stdin | None, overlay: Mapping[Path, bytes]
) -> _Input:
    contents = dict(overlay)
    if stdin is not None:
        paths = [stdin.path]
        contents.setdefault(Path(os.path.abspath(stdin.path)), stdin.data)
    # What is given need not be on the disk.
    given = {path: Path(os.path.abspath(path)) for path in paths}
    files, problems = files_to_check([path for path in paths if given[path] not in contents], settings)
    excluded = settings.exclude.covers_any_part if settings.force_exclude else lambda path: False
    held = [FileToCheck(path, display_path(path)) for path in contents]
    files += [file for file in held if file.path in given.values() and not excluded(file.path)]
    around = held if files else []
    around += discover([settings.project], settings.exclude)[0] if settings.project and files else []
    every = sorted(dict.fromkeys((*files, *around)), key=lambda file: file.display)
    return _Input(every, problems, frozenset(file.display for file in files), contents)


def _key_parts(inputs: _Input, digests: Mapping[str, str], settings: Settings) -> Iterator[str]:
    """Everything that findings depend on, besides the tool and the files that are imported."""
    yield os.getcwd()
    yield from settings_parts(settings)
    folders = {folder for parent in {file.path.parent for file in inputs.files} for folder in _import_folders(parent)}
    for folder in sorted(filter(os.path.isdir, folders)):  # standard input may stand for a file in a folder to come
        yield folder
        yield from sorted(name for name in os.listdir(folder) if name.endswith(".py") or "." not in name)
    for display, digest in digests.items():
        yield display
        yield digest


def settings_parts(settings: Settings) -> Iterator[str]:
    """What findings depend on of the settings, the same in every process; which files are read is not of it."""
    yield ",".join(sorted(settings.codes))
    yield repr((settings.include_host, settings.keras, settings.tensorflow, settings.unrolled_rounds, settings.target))
    yield repr(settings.external)
    yield repr(sorted(settings.severities.items()))
    yield repr([(patterns, sorted(codes)) for patterns, codes in settings.per_file_ignores])


def _import_folders(folder: Path) -> Iterator[str]:
    """The folders whose listing decides what imports in a folder mean: itself, those of its packages, the one above."""
    yield str(folder)
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
        yield str(folder)


def _analyse(
    inputs: _Input,
    settings: Settings,
    watchers: Sequence[Rule] = (),
    observed: list[Finding] | None = None,
    session: Session | None = None,
) -> Entry:
    """Every finding of the readable files, after selection and suppression. What `watchers` say goes to `observed`."""
    found: list[Finding] = []
    imported: dict[str, str] = {}
    seen: list[Finding] = observed if observed is not None else []
    if inputs.analysed:
        with _collector_off():
            found, imported, told = _run_rules(inputs, settings, watchers, session)
            seen += told
    found = _selected(found, inputs, settings)
    found = [*_after_comments(found, inputs, settings), *_selected(inputs.skipped, inputs, settings)]
    if notebooks := {path: source for path, source in inputs.sources.items() if source.cells}:
        found = [_in_cells(finding, notebooks) for finding in found]
        seen[:] = [_in_cells(finding, notebooks) for finding in seen]
    return Entry(tuple(sorted(found, key=lambda finding: finding.sort_key)), imported)


def _run_rules(
    inputs: _Input, settings: Settings, watchers: Sequence[Rule], session: Session | None
) -> tuple[list[Finding], dict[str, str], list[Finding]]:
    """What the rules and the parser find, the digests of the files that were imported for it, and what watchers say."""
    from .dispatch import Dispatcher, gravest_of
    from .processes import ProcessLostError, run_parts
    from .rule import all_rules
    from .semantics.analysis import Options, analyse, deep_recursion
    from .semantics.clock import Clock
    from .semantics.files import Files
    from .semantics.parts import Part, shares

    all_rules()  # one that cannot be loaded is told here, not by each process
    shown = {str(file.path): file.display for file in inputs.files}
    linted = shown.keys() | shown.values()
    files = Files(inputs.analysed, session)
    options = Options(keras=settings.keras, include_host=settings.include_host)

    def part(share: range | None) -> Part[_Share]:
        clock = Clock(settings.file_timeout)
        dispatcher = Dispatcher.of_codes(settings.codes, settings.tensorflow, settings.unrolled_rounds)
        watching = Dispatcher(watchers)

        def hear(event: Event, run: Run) -> None:
            dispatcher.hear(event, run)
            watching.hear(event, run)

        wanted = dispatcher.wanted_apis | watching.wanted_apis
        project = yield from analyse(files, share, options, hear if watchers else dispatcher.hear, wanted, clock=clock)
        candidates = list(dispatcher.candidates(linted.__contains__, settings.severities, clock, settings.target))
        observed = [candidate.finding for candidate in watching.candidates(linted.__contains__, {})]
        failures = files.failures + project.failures + dispatcher.failures + watching.failures
        trouble = files.trouble + project.trouble
        return _Share(candidates, dispatcher.tpu, observed, failures, trouble, list(clock.given_up), imported)

    ranges = shares(files.checked)
    parts = [partial(part, share if len(ranges) > 1 else None) for share in ranges] or [partial(part, None)]
    with deep_recursion(), recorded_reads() as imported:
        try:
            told = run_parts(parts, settings.jobs or _processors())
        except ProcessLostError as error:
            message = "a process of the analysis ended early; everything was analysed again in one"
            inputs.problems.append(Problem(None, message, f"{error}\n"))
            told = run_parts(parts, 1)
    tpu = settings.target is None and any(one.tpu for one in told)
    candidates = chain.from_iterable(one.candidates for one in told)
    found = [_shown(finding, shown) for finding in gravest_of(candidates, tpu)]
    for failure in dict.fromkeys(chain.from_iterable(one.failures for one in told)):
        path = shown.get(failure.path, failure.path)
        inputs.problems.append(Problem(path, failure.message, failure.detail, failure.rule))
    for trouble in dict.fromkeys(chain.from_iterable(one.trouble for one in told)):
        if trouble.path in linted:
            span = Span(trouble.line, trouble.column, trouble.line, trouble.column + 1)
            severity = settings.severities.get(trouble.code, _SEVERITIES[trouble.code])
            path = shown.get(trouble.path, trouble.path)
            found.append(_own(trouble.code, path, span, trouble.message, severity))
    for given_up in dict.fromkeys(chain.from_iterable(one.given_up for one in told)):
        inputs.given_up = True
        if given_up in linted:
            message = f"it takes more than {settings.file_timeout:g} s (file-timeout): not all of it is checked"
            severity = settings.severities.get(UNFINISHED_FILE, _SEVERITIES[UNFINISHED_FILE])
            path = shown.get(given_up, given_up)
            found = [replace(one, fix=None) if one.path == path else one for one in found]  # not all callers were seen
            found.append(_own(UNFINISHED_FILE, path, _START, message, severity))
    observed = [_shown(finding, shown) for one in told for finding in one.observed]
    return list(dict.fromkeys(found)), dict(ChainMap(*(one.imported for one in told))), observed


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shown(finding: Finding, shown: dict[str, str]) -> Finding:
    """With every path as reports show it: a file that was read by way of an import comes with its absolute one."""

    def name(path: str) -> str:
        return shown.get(path) or display_path(Path(path))

    context = finding.context
    if context is not None:
        context = replace(context, trail=tuple(replace(step, path=name(step.path)) for step in context.trail))
    notes = tuple(replace(note, path=name(note.path)) for note in finding.notes)
    return replace(finding, path=name(finding.path), context=context, notes=notes)


def _selected(findings: Iterable[Finding], inputs: _Input, settings: Settings) -> list[Finding]:
    """Those whose rule is selected and not ignored for their file."""
    paths = {file.display: file.path for file in inputs.files}
    return [
        finding
        for finding in findings
        if finding.code in settings.codes
        and not any(
            finding.code in codes and patterns.covers_any_part(paths[finding.path])
            for patterns, codes in settings.per_file_ignores
        )
    ]


def _after_comments(findings: Sequence[Finding], inputs: _Input, settings: Settings) -> Iterator[Finding]:
    """Those that no comment suppresses, and what there is to say of the comments themselves."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    paths = {file.display: file.path for file in inputs.files}
    for display in dict.fromkeys((*by_path, *inputs.sources)):
        here = by_path.get(display, [])
        try:
            source = inputs.sources.get(display) or read_source(paths[display], display)
        except UnreadableSource as error:  # it could be read a moment ago
            inputs.problems.append(Problem(display, str(error)))
            yield from here
            continue
        if not here and not names_rules(source.text):
            continue
        suppressions = suppressions_in(source)
        yield from [finding for finding in here if not suppressions.suppress(finding)]
        about = [
            _own(INVALID_SUPPRESSION, display, misuse.span, misuse.message, Severity.WARNING)
            for misuse in suppressions.misuses
            if not misuse.selector.upper().startswith(settings.external)
        ]
        about += [
            _own(UNUSED_SUPPRESSION, display, entry.span, message, Severity.WARNING)
            for entry, message in suppressions.unused(settings.codes)
        ]
        about = [
            replace(finding, severity=settings.severities.get(finding.code, finding.severity)) for finding in about
        ]
        yield from (f for f in _selected(about, inputs, settings) if not suppressions.suppress(f))


def _in_cells(finding: Finding, notebooks: Mapping[str, Source]) -> Finding:
    """With the lines of notebooks counted within their cells, and without a fix that they cannot take."""

    def cell(path: str, line: int) -> tuple[int | None, int]:
        """The cell of a line, and how many lines stand above it."""
        found = notebooks[path].cell_at(line) if path in notebooks else None
        return (found.cell, found.first - 1) if found is not None else (None, 0)

    def placed(path: str, span: Span) -> dict[str, Any]:
        number, above = cell(path, span.line)
        return {"cell": number, "span": replace(span, line=span.line - above, end_line=span.end_line - above)}

    def step(given: TrailStep) -> TrailStep:
        number, above = cell(given.path, given.line)
        return replace(given, cell=number, line=given.line - above)

    context, fix = finding.context, finding.fix
    if context is not None:
        context = replace(context, trail=tuple(map(step, context.trail)))
    if fix is not None and finding.path in notebooks:
        masked = notebooks[finding.path].masked
        fix = fix if masked.isdisjoint(line for edit in fix.all_edits for line in edit.span.lines) else None
    if fix is not None:
        edits, imports = (
            tuple(replace(edit, **placed(finding.path, edit.span)) for edit in part)
            for part in (fix.edits, fix.imports)
        )
        fix = replace(fix, edits=edits, imports=imports)
    notes = tuple(replace(note, **placed(note.path, note.span)) for note in finding.notes)
    return replace(finding, **placed(finding.path, finding.span), context=context, notes=notes, fix=fix)


def _own(code: str, path: str, span: Span, message: str, severity: Severity) -> Finding:
    """A finding of the linter about its own work: without effect or context."""
    return Finding(path, span, code, rule_names()[code], severity, None, message)


@contextmanager
def _collector_off() -> Iterator[None]:
    """Trees are large, have no cycles to free while they are built, and would be searched for them again and again."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
