"""Commands that make GitHub's runners annotate the lines of a pull request."""

from __future__ import annotations

from typing import Final

from ..findings.findings import Finding, Report, Severity
from .around import Around
from .terminal import escaped, joined

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
# In this order: what the escapes are made of comes first.
_DATA: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY: Final = (*_DATA, (":", "%3A"), (",", "%2C"))


def github(report: Report, around: Around) -> str:
    """`::error file=a.py,line=3,..::message`, one command for each finding."""
    return joined(_command(finding, around) for finding in report.findings)


def _command(finding: Finding, around: Around) -> str:
    span = around.span(finding.path, finding.cell, finding.span)
    properties: dict[str, str | int] = {"file": finding.path, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # GitHub takes columns of a single line only; the last one is inside
        properties |= {"col": span.column, "endColumn": max(span.end_column - 1, span.column)}
    properties["title"] = f"{finding.code} {finding.name}"
    listed = ",".join(f"{name}={escaped(str(value), _PROPERTY)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{escaped(finding.message, _DATA)}"
