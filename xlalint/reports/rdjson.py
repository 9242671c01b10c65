"""Reviewdog's diagnostic format: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf"""

from __future__ import annotations

import json
from typing import Any, Final

from ..findings.findings import Finding, Report, Severity, Span
from ..findings.site import address_of_rule
from .around import Around, further
from .terminal import place

_SEVERITIES: Final = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}
_SOURCE: Final = {"name": "xlalint"}


def rdjson(report: Report, around: Around) -> str:
    """One JSON object, ASCII only. A fix is one suggestion of whole lines: no other can be shown in a review."""
    content = {"source": _SOURCE, "diagnostics": [_diagnostic(finding, around) for finding in report.findings]}
    return json.dumps(content, indent=2) + "\n"


def _diagnostic(finding: Finding, around: Around) -> dict[str, Any]:
    told = [finding.message]
    told += (f"{place(note.path, note.cell, note.span.line, note.span.column)}: {note.text}" for note in finding.notes)
    found: dict[str, Any] = {
        "message": "\n".join([*told, *further(finding)]),
        "location": _location(finding.path, finding.cell, finding.span, around),
        "severity": _SEVERITIES[finding.severity],
        "source": _SOURCE,
        "code": {"value": finding.code},
    }
    if (address := address_of_rule(finding.code)) is not None:
        found["code"]["url"] = address
    if (change := around.replacement(finding)) is not None:
        lines = {"start": {"line": change.first}, "end": {"line": change.last}}
        found["suggestions"] = [{"range": lines, "text": change.text}]
    return found


def _location(path: str, cell: int | None, span: Span, around: Around) -> dict[str, Any]:
    """Columns count bytes of UTF-8."""
    span, view = around.span(path, cell, span), around.view(path)

    def position(line: int, column: int) -> dict[str, int]:
        if view is None or line > len(view.lines):
            return {"line": line, "column": column}
        before = view.lines[line - 1][: column - 1]
        return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}

    start, end = position(span.line, span.column), position(span.end_line, span.end_column)
    return {"path": path, "range": {"start": start, "end": end}}
