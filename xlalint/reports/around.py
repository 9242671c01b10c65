"""What a format may ask for besides the findings: how to print, the files, and which fixes to offer."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..findings.findings import Finding, Fix, Report, Safety, Span
from ..sources.views import Replacement, View
from .full import Lines
from .terminal import Paint, place


@dataclass(frozen=True, slots=True)
class Around:
    """`unsafe`: offer unsafe fixes, too; `statistics`, `quiet`, `show_fixes` as on the command line."""

    paint: Paint
    lines: Lines
    view: View
    unsafe: bool = False
    statistics: bool = False
    quiet: bool = False
    show_fixes: bool = False

    def span(self, path: str, cell: int | None, span: Span) -> Span:
        """A place in the file's own lines, also where it counts within a notebook's cell; the file's beginning where
        that cannot be told any more."""
        view = self.view(path)
        if cell is None:
            return span
        return Span(1, 1, 1, 1) if view is None else view.span(cell, span)

    def fix(self, finding: Finding) -> Fix | None:
        """The fix that is offered."""
        fix = finding.fix
        offered = (Safety.SAFE, Safety.UNSAFE) if self.unsafe else (Safety.SAFE,)
        return fix if fix is not None and fix.safety in offered else None

    def replacement(self, finding: Finding) -> Replacement | None:
        """The lines that the fix on offer changes."""
        fix, view = self.fix(finding), self.view(finding.path)
        return None if fix is None or view is None else view.replacement(fix.all_edits)

    def fingerprints(self, report: Report) -> Iterator[str]:
        """For each finding what stays the same when lines come and go above it: a digest of the rule, the path, the
        code, and how many of the same come before."""
        seen: Counter[str] = Counter()
        for finding in report.findings:
            flagged = self.lines(finding.path, finding.cell)[finding.span.line - 1 : finding.span.end_line]
            key = "\n".join((finding.code, finding.path, *(" ".join(line.split()) for line in flagged)))
            digest = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:32]
            seen[digest] += 1
            yield f"{digest}:{seen[digest]}"


def further(finding: Finding) -> list[str]:
    """What there is to say after the message, a line each: how the compiler gets there, and what the probe saw."""
    trail = finding.context.trail if finding.context else ()
    way = " -> ".join(f"`{step.name}` ({place(step.path, step.cell, step.line)})" for step in trail)
    lines = [f"Reached: {way}"] if way else []
    if (verdict := finding.verdict) is not None:
        lines.append(f"Probe: {verdict.status}: {verdict.text}")
    return lines
