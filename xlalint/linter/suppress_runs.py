"""Runs that switch findings off: each gets a comment, and the files are linted again to see that it is silent.

Everything happens in memory; writing comes last, file by file.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..findings.findings import Finding, Narrow, Problem, unchanged
from ..settings.config import Settings
from ..sources.ignoring import ignorable, ignore_edits
from ..sources.outline import OutlineError, parsed
from ..sources.reading import source_of
from ..sources.text import UnreadableSource, read_bytes
from ..sources.write import UnwritableSource, edited
from .fix_runs import Change, Outcome
from .run import check, files_to_check


def suppress(
    paths: Sequence[str | Path], settings: Settings, reason: str | None = None, narrow: Narrow = unchanged
) -> Outcome:
    """Lint, and give what is found, less what `narrow` leaves out, a comment that switches it off; nothing is written.

    The outcome's report holds what remains, and as `fixed` what is suppressed.
    """
    files = {file.display: file.path for file in files_to_check(paths, settings)[0]}
    report = narrow(check(paths, settings), {})
    by_path: dict[str, list[Finding]] = {}
    for finding in filter(ignorable, report.findings):
        by_path.setdefault(finding.path, []).append(finding)
    changes, problems = [], []
    for path, findings in by_path.items():
        try:
            before = read_bytes(files[path])
            edits = ignore_edits(source_of(before, files[path], path), findings, reason)
            changed = edited(before, edits, files[path])
            if _code(before, files[path]) != _code(changed, files[path]):  # as by an encoding that the reason names
                raise UnwritableSource("with the comments the file would be a different program")
            changes.append(Change(files[path], path, before, changed))
        except (UnreadableSource, UnwritableSource) as error:
            problems.append(Problem(path, f"not suppressed: {error}"))
    overlay = {change.path: change.after for change in changes}
    after = narrow(check(paths, settings, overlay=overlay), {change.display: change.after for change in changes})
    silenced = {change.display for change in changes}
    for finding in after.findings:
        if finding.path in silenced and ignorable(finding):
            message = f"line {finding.span.line}: {finding.code} is still reported below its comment"
            problems.append(Problem(finding.path, message))
    gone = tuple(finding for path in silenced for finding in by_path[path])
    return Outcome(replace(after, problems=(*after.problems, *problems), fixed=gone), tuple(changes))


def _code(data: bytes, path: Path) -> str:
    """A file as a program. Raises UnreadableSource, also for what is none."""
    try:
        return ast.dump(parsed(source_of(data, path, path.name).text))
    except (OutlineError, RecursionError) as error:
        raise UnreadableSource(str(error)) from error
