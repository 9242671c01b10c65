"""The last lines of a report: how much was found, and of what."""

from __future__ import annotations

from collections import Counter

from ..findings import Report, Severity
from .terminal import SEVERITY_COLOURS, Paint, counted, joined

_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def counts(report: Report) -> dict[Severity, int]:
    """How many findings there are of each severity, gravest first."""
    found = Counter(finding.severity for finding in report.findings)
    return {severity: found[severity] for severity in sorted(_NOUNS, reverse=True)}


def summary(report: Report, paint: Paint) -> str:
    """`Found 3 errors, 2 warnings in 2 files (5 files checked).`"""
    checked = f"({counted(report.files_checked, 'file')} checked)"
    if not report.findings:
        return f"No findings {checked}.\n"
    parts = [
        paint(counted(number, _NOUNS[severity]), "bold", SEVERITY_COLOURS[severity])
        for severity, number in counts(report).items()
        if number
    ]
    files = len({finding.path for finding in report.findings})
    return f"Found {', '.join(parts)} in {counted(files, 'file')} {checked}.\n"


def statistics(report: Report) -> str:
    """One line for each rule that found something, the most frequent first."""
    found = Counter((finding.code, finding.name) for finding in report.findings)
    width = max((len(str(number)) for number in found.values()), default=0)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return joined(f"{number:>{width}}  {code}  {name}" for (code, name), number in ranked)
