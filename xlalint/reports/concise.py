"""One line for each finding, for editors and grep."""

from __future__ import annotations

from ..findings.findings import Finding, Report
from .terminal import SEVERITY_COLOURS, Paint, joined, place, safe


def verdict_of(finding: Finding) -> str:
    """What the probe says of a finding, to stand behind it."""
    if finding.verdict is None:
        return ""
    return f" [{finding.verdict.status}: {safe(finding.verdict.text)}]"


def concise(report: Report, paint: Paint) -> str:
    """`path:line:column: CODE message`; in a notebook the cell stands before the line."""
    return joined(
        f"{paint(safe(finding.path), 'bold')}{place('', finding.cell, finding.span.line, finding.span.column)}: "
        f"{paint(finding.code, 'bold', SEVERITY_COLOURS[finding.severity])} {safe(finding.message)}"
        f"{verdict_of(finding)}"
        for finding in report.findings
    )
