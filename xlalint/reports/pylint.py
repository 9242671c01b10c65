"""Lines as Pylint prints them for other programs: `path:line: [code, name] message`."""

from __future__ import annotations

from ..findings.findings import Finding, Report
from .around import Around
from .terminal import joined, safe


def pylint(report: Report, around: Around) -> str:
    """One line for each finding."""
    return joined(_line(finding, around) for finding in report.findings)


def _line(finding: Finding, around: Around) -> str:
    span = around.span(finding.path, finding.cell, finding.span)
    return f"{safe(finding.path)}:{span.line}: [{finding.code}, {finding.name}] {safe(finding.message)}"
