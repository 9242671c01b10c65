"""Runs that fix: findings are asked for, their fixes applied, and the files linted again until nothing changes.

Everything happens in memory; writing comes last, file by file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Final

from ..analysis.budget import Spent
from ..findings.findings import (
    Effect,
    Finding,
    Fix,
    Narrow,
    Problem,
    Report,
    Safety,
    Severity,
    is_applicable,
    unchanged,
)
from ..fixes.apply import apply_fixes
from ..settings.config import Settings
from ..sources.reading import source_of
from ..sources.text import UnreadableSource, decode, display_path, is_notebook, read_bytes
from ..sources.write import UnwritableSource, replace_source
from .run import Stdin, check, files_to_check, without_warnings

if TYPE_CHECKING:
    from ..analysis.files.session import Session
    from ..probe.proof import Proof

_ROUNDS: Final = 50  # rewrites inside rewrites are made one level a round


@dataclass(frozen=True, slots=True)
class Change:
    """A file's content before and after its fixes."""

    path: Path
    display: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Half:
    """A function that unsafe fixes would change and leave failing: they are not made. `path` as it is displayed;
    `codes`: the rules that would still speak of it."""

    path: str
    qualname: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What remains to report, with what was fixed, the files that change, and the functions that are left whole."""

    report: Report
    changes: tuple[Change, ...]
    proofs: tuple[Proof, ...] = ()
    halves: tuple[Half, ...] = ()


def fix(
    paths: Sequence[str | Path],
    settings: Settings,
    stdin: Stdin | None = None,
    narrow: Narrow = unchanged,
    overlay: Mapping[Path, bytes] | None = None,
    session: Session | None = None,
) -> Outcome:
    """Lint and fix in memory what `narrow` does not leave out; nothing is written. `overlay` and `session` are those of
    `engine.check`. Unsafe fixes repair a whole function or change nothing of it, but where the settings ask for them in
    part."""
    halves: dict[tuple[str, str], Half] = {}
    run = None
    while True:  # what a function left alone gives to others may leave these failing; each round leaves more alone
        run = _Run(paths, settings, stdin, narrow, None, halves.keys(), overlay, session, earlier=run)
        outcome = run.outcome()
        fresh = {} if settings.partial_fixes else run.halves(outcome.report)
        if not fresh.keys() - halves.keys():
            return replace(outcome, halves=tuple(halves.values()))
        halves |= fresh


def fix_proven(paths: Sequence[str | Path], settings: Settings, narrow: Narrow = unchanged) -> Outcome:
    """Lint and fix in memory, and leave alone the functions whose rewrites do not hold on the compiler, and what stands
    in no function or in a notebook. This runs the code. Raises ProbeUnavailableError."""
    from ..probe.proof import Rewritten, prove

    failed: dict[tuple[Path, str], Proof] = {}
    while True:  # what a function left alone calls may need another proof; each round leaves more alone
        outcome = _Run(paths, settings, None, narrow, failed.keys()).outcome()
        files = [Rewritten(one.path, decode(one.before), decode(one.after)) for one in outcome.changes]
        proofs = prove(files, settings)
        fresh = {(proof.path, proof.qualname): proof for proof in proofs if not proof.holds}
        if not fresh.keys() - failed.keys():
            return replace(outcome, proofs=(*proofs, *failed.values()))
        failed |= fresh


def write(changes: Sequence[Change], within: Sequence[str | Path], what: str = "fixed") -> list[Problem]:
    """Write what changed; what cannot be written is left as it was, and a problem."""
    problems = []
    for change in changes:
        try:
            replace_source(change.path, change.before, change.after, [Path(path) for path in within])
        except UnwritableSource as error:
            problems.append(Problem(change.display, f"not {what}: {error}"))
    return problems


def written(outcome: Outcome, within: Sequence[str | Path], what: str = "fixed") -> Outcome:
    """Write the changes of an outcome, and what it is then: a file that cannot be written is not `what`."""
    problems = write(outcome.changes, within, what)
    lost = {problem.path for problem in problems}
    fixed = tuple(finding for finding in outcome.report.fixed if finding.path not in lost)
    report = replace(outcome.report, problems=(*outcome.report.problems, *problems), fixed=fixed)
    changes = tuple(change for change in outcome.changes if change.display not in lost)
    return replace(outcome, report=report, changes=changes)


class _Run:
    """`without`: only what stands in functions of files is fixed, these left aside. `halves`: the functions, with
    the displayed paths of their files, in which only safe fixes are made. `earlier`: the run before this one, with
    which it shares the time of each file, and whose files without an end it leaves alone, too."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        settings: Settings,
        stdin: Stdin | None,
        narrow: Narrow,
        without: Collection[tuple[Path, str]] | None = None,
        halves: Collection[tuple[str, str]] = (),
        overlay: Mapping[Path, bytes] | None = None,
        session: Session | None = None,
        earlier: _Run | None = None,
    ) -> None:
        self._paths, self._settings, self._stdin, self._without = paths, settings, stdin, without
        self._narrow, self._halves = narrow, halves
        self._overlay, self._session = overlay or {}, session
        if stdin is None:
            self._files = {file.display: file.path for file in files_to_check(paths, settings)[0]}
        else:
            self._files = {display_path(stdin.path): Path(os.path.abspath(stdin.path))}
        self._before: dict[str, bytes] = {}
        self._after: dict[str, bytes] = {}
        self._fixed: dict[str, list[Finding]] = {}
        self._changed: set[tuple[str, str]] = set()  # functions in which unsafe fixes were made
        self._problems: dict[Problem, None] = {} if earlier is None else earlier._problems
        self._seen: dict[str, set[bytes]] = {}  # what a file has been, round by round
        self._endless: set[str] = set() if earlier is None else earlier._endless
        self._late: set[str] = set() if earlier is None else earlier._late
        self._spent: Spent = Spent() if earlier is None else earlier._spent

    @without_warnings()
    def outcome(self) -> Outcome:
        before = dict(self._spent.seconds)
        report = self._checked()
        for path, seconds in tuple(self._spent.seconds.items()):
            self._spent.add(path, seconds - before.get(path, 0.0))  # to look at it again where it is left as it was
        for _ in range(_ROUNDS):
            if not self._apply(report):
                break
            report = self._checked()
            self._give_up_late()
        else:
            for path in self._fixable(report):
                self._give_up(path, f"after {_ROUNDS} rounds there is still something to fix")
            report = self._checked_again()
        if self._late:
            report = self._checked_again()
        changes = tuple(
            Change(self._files[path], path, self._before[path], after)
            for path, after in self._after.items()
            if after != self._before[path]
        )
        fixed = tuple(finding for findings in self._fixed.values() for finding in findings)
        return Outcome(replace(report, problems=(*report.problems, *self._problems), fixed=fixed), changes)

    def _give_up_late(self) -> None:
        """Leave the files as they were whose fixes have taken the time of the file."""
        limit = self._settings.file_timeout
        late = {path for path, seconds in self._spent.seconds.items() if seconds > limit} | self._spent.given_up
        for path in sorted(late & self._after.keys() - self._endless):
            self._give_up(path, f"its fixes take more than {limit:g} s (file-timeout)")
            self._late.add(path)

    def _checked_again(self) -> Report:
        """What there is to say of files that are left as they were, too."""
        for path in self._late:
            self._spent.seconds.pop(path, None)
        return self._checked()

    def _checked(self) -> Report:
        after = {self._files[path]: data for path, data in self._after.items()}
        stdin = {} if self._stdin is None else dict.fromkeys(self._files, self._stdin.data)
        overlay = {**self._overlay, **after}
        report = check(self._paths, self._settings, self._stdin, overlay, self._session, self._spent)
        return self._narrow(report, stdin | self._after)

    def _fixable(self, report: Report) -> dict[str, list[Finding]]:
        """The findings with a fix to apply, by file."""
        found: dict[str, list[Finding]] = {}
        for finding in report.findings:
            applicable = is_applicable(finding, unsafe=self._settings.unsafe_fixes)
            if applicable and finding.path not in self._endless and not self._is_left(finding):
                found.setdefault(finding.path, []).append(finding)
        return found

    def _is_left(self, finding: Finding) -> bool:
        path = self._files[finding.path]
        if self._without is not None:
            qualname = self._function(finding)
            return qualname is None or (path, qualname) in self._without
        unsafe = finding.fix is not None and finding.fix.safety is Safety.UNSAFE
        return unsafe and bool(self._halves) and (finding.path, self._function(finding)) in self._halves

    def _function(self, finding: Finding) -> str | None:
        """The outermost function or method around a finding; None outside of one, and in what only IPython runs."""
        from ..probe.proof import function_around

        path = self._files[finding.path]
        source = source_of(self._content(finding.path), path, finding.path)
        return None if is_notebook(path) or source.masked else function_around(source.text, finding.span.line)

    def halves(self, report: Report) -> dict[tuple[str, str], Half]:
        """The functions that unsafe fixes have changed and that fail as before, going by what remains to report."""
        codes: dict[tuple[str, str], dict[str, None]] = {}
        changed = {(path, name) for path, name in self._changed if path not in self._endless}
        for finding in report.findings if changed else ():
            context = finding.context
            breaks = finding.effect is Effect.FAILS or (
                finding.effect is Effect.DIVERGES and finding.severity >= Severity.WARNING
            )
            if breaks and (context is None or context.kind != "host") and (name := self._function(finding)) is not None:
                codes.setdefault((finding.path, name), {})[finding.code] = None
        return {place: Half(*place, tuple(sorted(codes[place]))) for place in sorted(changed & codes.keys())}

    def _apply(self, report: Report) -> bool:
        """Apply what the report offers; whether any file has changed."""
        changed = False
        for path, findings in self._fixable(report).items():
            started = thread_time()
            try:
                data = self._content(path)
                fixes = [fix for one in findings if (fix := one.fix) is not None]
                after, applied, broken = apply_fixes(data, fixes, self._files[path])
            except (UnwritableSource, UnreadableSource) as error:
                self._problems[Problem(path, f"not fixed: {error}")] = None
                continue
            for finding in findings:
                if finding.fix in applied:
                    self._note_unsafe(finding)
                    self._fixed.setdefault(path, []).append(finding)
                elif finding.fix in broken:
                    self._problems[_broken(finding, finding.fix)] = None
            if after != data:
                self._after[path] = after
                changed = True
                seen = self._seen.setdefault(path, {data})
                if after in seen:
                    self._give_up(path, "its fixes undo each other")
                seen.add(after)
            self._spent.add(path, thread_time() - started)
        return changed

    def _note_unsafe(self, finding: Finding) -> None:
        assert finding.fix is not None
        if finding.fix.safety is Safety.UNSAFE and (name := self._function(finding)) is not None:
            self._changed.add((finding.path, name))

    def _content(self, path: str) -> bytes:
        if path in self._after:
            return self._after[path]
        if path not in self._before:
            self._before[path] = self._stdin.data if self._stdin is not None else read_bytes(self._files[path])
        return self._before[path]

    def _give_up(self, path: str, why: str) -> None:
        """Leave a file as it was, whose fixes never come to an end."""
        self._endless.add(path)
        self._after[path] = self._before[path]
        codes = ", ".join(sorted({finding.code for finding in self._fixed.pop(path, ())}))
        message = f"not fixed: {why} ({codes})"
        self._problems[Problem(path, message, f"{path}: {message}\n")] = None


def _broken(finding: Finding, fix: Fix) -> Problem:
    message = f"line {finding.span.line}: the fix of {finding.code} would not leave valid Python; it was not applied"
    return Problem(finding.path, message, "".join(f"{edit.span}: {edit.text!r}\n" for edit in fix.all_edits))
