"""Commands that make Azure Pipelines show findings in a run: https://aka.ms/vstslogcommands"""

from __future__ import annotations

from typing import Final

from ..findings.findings import Finding, Report, Severity
from .around import Around
from .terminal import escaped, joined

_TYPES: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "warning"}  # it has no third
# In this order: what the escapes are made of comes first.
_DATA: Final = (("%", "%AZP25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY: Final = (*_DATA, (";", "%3B"), ("]", "%5D"))


def azure(report: Report, around: Around) -> str:
    """`##vso[task.logissue type=error;sourcepath=a.py;..]message`, one command for each finding."""
    return joined(_command(finding, around) for finding in report.findings)


def _command(finding: Finding, around: Around) -> str:
    span = around.span(finding.path, finding.cell, finding.span)
    properties = {
        "type": _TYPES[finding.severity],
        "sourcepath": finding.path,
        "linenumber": str(span.line),
        "columnnumber": str(span.column),
        "code": finding.code,
    }
    listed = "".join(f"{name}={escaped(value, _PROPERTY)};" for name, value in properties.items())
    return f"##vso[task.logissue {listed}]{escaped(finding.message, _DATA)}"
