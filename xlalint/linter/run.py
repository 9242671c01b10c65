"""A run: from paths and settings to a report. What is heavy is imported only when the cache has no answer."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cache.keys import key_of
from ..findings.codes import INVALID_SUPPRESSION, UNFINISHED_FILE, UNREADABLE_FILE, UNUSED_SUPPRESSION
from ..findings.findings import Backend, Finding, Problem, Report, Span, TrailStep, is_applicable
from ..settings.config import Settings
from ..sources.checkout import Projects, folders_around, together
from ..sources.discovery import FileToCheck, discover
from ..sources.suppressions import suppressions_in
from ..sources.text import Source, UnreadableSource, display_path, is_notebook
from .cache import Cache, Entry, Memory
from .inputs import Inputs
from .own_findings import about_comment, about_file

if TYPE_CHECKING:
    from ..analysis.budget import Spent
    from ..analysis.files.session import Session
    from .rule import Rule


# What earlier runs of this process left, for those that are given nothing.
kept: ContextVar[Session | None] = ContextVar("kept", default=None)


@dataclass(frozen=True, slots=True)
class Stdin:
    """Source text that was piped in, and the file that it stands for."""

    path: Path
    data: bytes


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
    spent: Spent | None = None,
) -> Report:
    """Lint files and folders (or the text of `stdin`) and report. `overlay`: what is to be in files, by their absolute
    paths, in place of what is on the disk; those that are not linted are read with the others. `session`: what earlier
    runs left; with it this one may raise Stopped. `spent`: what earlier runs took of the time of the same files, and
    this one, too."""
    session = kept.get() if session is None else session
    inputs = _inputs(paths, settings, stdin, overlay or {})
    cache = Cache(settings.cache_dir) if settings.cache_dir else None
    digests = None
    if cache is not None and not inputs.problems:
        digests = inputs.digested(cache.digests)
    if cache is None or digests is None:
        inputs.read()
        memory = None if session is None else Memory.of(session)
        return _report(inputs, settings, _analyse(inputs, settings, memory, session=session, spent=spent)[0])
    around = tuple(_around(inputs, settings))
    entry = cache.load(_key_of(around, digests))
    if entry is not None:
        inputs.digests = digests
    else:
        known = cache.facts()
        inputs.read(digests, known)
        entry, _, lasts = _analyse(inputs, settings, cache, session=session, spent=spent)
        if lasts and not inputs.problems:
            cache.store(_key_of(around, inputs.digests), entry)
        cache.note_facts(known, inputs.facts_by_path())
    cache.digests.save()
    return _report(inputs, settings, entry)


@without_warnings()
def observe(
    paths: Sequence[str | Path], settings: Settings, watchers: Sequence[Rule]
) -> tuple[Report, tuple[Finding, ...], tuple[Finding, ...]]:
    """Lint files and folders, and report; beside that, what the watchers have to say, which is no finding and which no
    comment suppresses; and the findings that comments suppress. Nothing is cached."""
    inputs = _inputs(paths, settings, None, {})
    inputs.read()
    suppressed: list[Finding] = []
    entry, observed, _ = _analyse(inputs, settings, watchers=watchers, suppressed=suppressed)
    return _report(inputs, settings, entry), _reported(observed, inputs), _reported(suppressed, inputs)


def _reported(findings: Iterable[Finding], inputs: Inputs) -> tuple[Finding, ...]:
    """Those in the files that were asked for, in order."""
    here = (finding for finding in findings if finding.path in inputs.reported)
    return tuple(sorted(here, key=lambda finding: finding.sort_key))


def _report(inputs: Inputs, settings: Settings, entry: Entry) -> Report:
    """What there is to say of the files that were asked for."""
    found = [finding for finding in entry.findings if finding.path in inputs.reported]
    unreadable = [about_file(UNREADABLE_FILE, *one, settings) for one in inputs.unreadable.items()]
    found += _selected(unreadable, inputs, settings)
    checked = len(inputs.reported & inputs.digests.keys())
    found.sort(key=lambda one: one.sort_key)
    return Report(tuple(found), tuple(inputs.problems), checked, backends=entry.backends)


def files_to_check(paths: Sequence[str | Path], settings: Settings) -> tuple[list[FileToCheck], list[Problem]]:
    """The files that a run over `paths` reports on."""
    return _discovered([Path(path) for path in paths], settings, force=settings.force_exclude)


def _discovered(paths: Sequence[Path], settings: Settings, *, force: bool) -> tuple[list[FileToCheck], list[Problem]]:
    nearest = None if settings.nearest is None else lambda folder: settings.of(folder).exclude
    return discover(paths, settings.exclude, force=force, nearest=nearest)


def _inputs(
    paths: Sequence[str | Path], settings: Settings, stdin: Stdin | None, overlay: Mapping[Path, bytes]
) -> Inputs:
    contents = dict(overlay)
    if stdin is not None:
        paths = [stdin.path]
        contents.setdefault(Path(os.path.abspath(stdin.path)), stdin.data)
    # What is given need not be on the disk.
    given = {path: Path(os.path.abspath(path)) for path in paths}
    files, problems = files_to_check([path for path in paths if given[path] not in contents], settings)

    def excluded(path: Path) -> bool:
        return settings.force_exclude and settings.of(path.parent).exclude.covers_any_part(path)

    held = [FileToCheck(path, display_path(path)) for path in contents]
    files += [file for file in held if file.path in given.values() and not excluded(file.path)]
    around = held if files else []
    around += _discovered([settings.project], settings, force=False)[0] if settings.project and files else []
    every = sorted(dict.fromkeys((*files, *around)), key=lambda file: file.display)
    return Inputs(every, frozenset(file.display for file in files), contents, problems)


def _key_of(around: Iterable[str], digests: Mapping[str, str]) -> str:
    """The key of everything that findings depend on, besides the tool and the files that are imported."""
    return key_of(chain(around, chain.from_iterable(digests.items())))


def _around(inputs: Inputs, settings: Settings) -> Iterator[str]:
    """What findings depend on around the files: the settings, and the names of what else is there."""
    yield os.getcwd()
    yield from inputs.settings_parts(settings)
    projects = Projects()
    packages = _together(_packages_of(folder) for folder in inputs.folders)
    checked = together(inputs.folders)
    programs = _together(folders_around(folder, projects, checked) for folder in inputs.folders)
    folders = {str(folder) for folder in packages | programs}
    for folder in sorted(filter(os.path.isdir, folders)):  # standard input may stand for a file in a folder to come
        yield folder
        yield from sorted(name for name in os.listdir(folder) if name.endswith(".py") or "." not in name)


def _together(ways: Iterable[Iterable[Path]]) -> set[Path]:
    """The folders on ways upward; where one is met again, the rest of the way is known."""
    found = set[Path]()
    for way in ways:
        for folder in way:
            if folder in found:
                break
            found.add(folder)
    return found


def _packages_of(folder: Path) -> Iterator[Path]:
    """The packages that a folder is part of, and the folder above; their listing decides what imports mean, beside that
    of the folders in which the program may be started."""
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
        yield folder


def _analyse(
    inputs: Inputs,
    settings: Settings,
    cache: Cache | Memory | None = None,
    watchers: Sequence[Rule] = (),
    session: Session | None = None,
    spent: Spent | None = None,
    suppressed: list[Finding] | None = None,
) -> tuple[Entry, list[Finding], bool]:
    """Every finding of the readable files, after selection and suppression; what `watchers` say; and whether the same
    files would give the same another time. `suppressed` is filled with what comments suppress."""
    found: list[Finding] = []
    observed: list[Finding] = []
    imported: dict[str, str] = {}
    lasts = True
    backends: dict[str, frozenset[Backend]] = {}
    if inputs.checked:
        from .analyse import Analysis

        with _collector_off():
            outcome = Analysis(inputs, settings, watchers, session, cache, spent).run()
        found, observed, imported, lasts = outcome.findings, outcome.observed, outcome.imported, outcome.lasts
        backends = outcome.backends
        inputs.problems += outcome.problems
    selected = _selected(found, inputs, settings)
    found = list(_after_comments(selected, inputs, settings))
    if suppressed is not None:
        kept = set(map(id, found))
        suppressed += [finding for finding in selected if id(finding) not in kept]
    skipped = [about_file(UNFINISHED_FILE, *one, settings) for one in inputs.oversized.items()]
    found += _selected(skipped, inputs, settings)
    if notebooks := {file.display for file in inputs.checked if is_notebook(file.path)}:
        cells = {path: inputs.source(path) for path in notebooks & set(_named_in(found, observed))}
        found, observed = ([_in_cells(finding, cells) for finding in told] for told in (found, observed))
    entry = Entry(tuple(sorted(found, key=lambda finding: finding.sort_key)), imported, backends)
    return entry, observed, lasts


def _named_in(*told: Iterable[Finding]) -> Iterator[str]:
    """The files that findings name."""
    for finding in chain(*told):
        yield finding.path
        yield from (note.path for note in finding.notes)
        yield from (step.path for step in (finding.context.trail if finding.context is not None else ()))


def _selected(findings: Iterable[Finding], inputs: Inputs, settings: Settings) -> list[Finding]:
    """Those whose rule is selected and not ignored for their file, without the fixes that are not to be made."""
    paths = {file.display: file.path for file in inputs.files}
    kept = []
    for finding in findings:
        path = paths[finding.path]
        here = settings.of(path.parent)
        if finding.code in here.codes and not here.ignores(finding.code, path):
            unfixable = finding.code in here.unfixable and is_applicable(finding, unsafe=True)
            kept.append(replace(finding, fix=None) if unfixable else finding)
    return kept


def _after_comments(findings: Sequence[Finding], inputs: Inputs, settings: Settings) -> Iterator[Finding]:
    """Those that no comment suppresses, and what there is to say of the comments themselves."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    for display in dict.fromkeys((*by_path, *inputs.commented)):
        here = by_path.get(display, [])
        if not inputs.may_suppress(display):
            yield from here
            continue
        try:
            source = inputs.source(display)
        except UnreadableSource as error:  # it could be read a moment ago
            inputs.problems.append(Problem(display, str(error)))
            yield from here
            continue
        suppressions, near = suppressions_in(source), settings.of(inputs.path(display).parent)
        yield from [finding for finding in here if not suppressions.suppress(finding)]
        about = [
            about_comment(INVALID_SUPPRESSION, display, misuse.message, settings, misuse.span)
            for misuse in suppressions.misuses
            if not misuse.selector.upper().startswith(near.external)
        ]
        about += [
            about_comment(UNUSED_SUPPRESSION, display, message, settings, entry.span)
            for entry, message in suppressions.unused(near.codes)
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
