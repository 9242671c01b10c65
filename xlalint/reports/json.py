"""The report as data. The keys are a contract: programs read them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..findings.findings import Edit, Finding, FindingContext, Fix, Note, Probed, Report, Span
from .summary import counts

VERSION = 1


def json_report(report: Report) -> str:
    """The whole report as one JSON object, as `--output-format json` prints it, ASCII only."""
    codes: dict[str, int] = {}
    for finding in report.findings:
        codes[finding.code] = codes.get(finding.code, 0) + 1
    content = {
        "version": VERSION,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [{"path": problem.path, "message": problem.message} for problem in report.problems],
        **({"functions": [_probed(function) for function in report.functions]} if report.functions else {}),
        "summary": {
            "files_checked": report.files_checked,
            "files_with_findings": len({finding.path for finding in report.findings}),
            "findings": len(report.findings),
            "fixed": len(report.fixed),
            "severities": {severity.label: number for severity, number in counts(report).items()},
            "codes": dict(sorted(codes.items())),
        },
    }
    return json.dumps(content, indent=2) + "\n"


def json_lines(report: Report) -> str:
    """Each finding as a JSON object on a line of its own, ASCII only."""
    return "".join(f"{json.dumps(_finding(finding))}\n" for finding in report.findings)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "path": finding.path,
        "cell": finding.cell,
        **_span(finding.span),
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "effect": finding.effect,
        "backends": dict(finding.backends) or None,
        "message": finding.message,
        "help": finding.help,
        "notes": [_note(note) for note in finding.notes],
        "context": None if finding.context is None else _context(finding.context),
        "fix": None if finding.fix is None else _fix(finding.fix),
        "verdict": None if finding.verdict is None else asdict(finding.verdict),
    }


def _probed(function: Probed) -> dict[str, Any]:
    """A function that the probe was asked to run; what became of it as a whole has no status, only an outcome."""
    verdict = {key: value for key, value in asdict(function.verdict).items() if key != "status"}
    return {"path": function.path, **verdict, "line": function.line, "details": list(function.details)}


def _span(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _note(note: Note) -> dict[str, Any]:
    return {"path": note.path, "cell": note.cell, **_span(note.span), "text": note.text}


def _context(context: FindingContext) -> dict[str, Any]:
    trail = [{"path": step.path, "cell": step.cell, "line": step.line, "name": step.name} for step in context.trail]
    return {
        "kind": context.kind,
        "autograph": context.autograph,
        "exposure": context.exposure,
        "shown": context.shown or None,
        "backend": context.backend or None,
        "trail": trail,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [_edit(edit) for edit in fix.all_edits]
    return {"safety": fix.safety, "title": fix.title, "differs": fix.differs or None, "edits": edits}


def _edit(edit: Edit) -> dict[str, Any]:
    return {"cell": edit.cell, **_span(edit.span), "text": edit.text}
