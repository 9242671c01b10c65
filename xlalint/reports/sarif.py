"""SARIF 2.1.0, for GitHub's code scanning and others: https://docs.oasis-open.org/sarif/sarif/v2.1.0/"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from .. import __version__
from ..authoring.verdicts import page as whole_page
from ..findings.findings import Edit, Finding, Fix, Problem, Report, Severity, Span
from ..findings.site import FRONT, address_of, address_of_rule
from ..linter.rule import Rule, all_rules
from .around import Around, further

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT: Final = "SRCROOT"
_AROUND: Final = 2  # lines shown above and below a finding


def sarif(report: Report, around: Around) -> str:
    """One run as a log, ASCII only."""
    used = {finding.code for finding in report.findings}
    rules = [rule for rule in all_rules() if rule.code in used]
    places = {rule.code: index for index, rule in enumerate(rules)}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "xlalint",
                        "version": __version__,
                        "semanticVersion": __version__,
                        **_linked("informationUri", address_of(FRONT)),
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "automationDetails": {"id": "xlalint/"},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
                "invocations": [_invocation(report)],
                "results": [
                    _result(finding, places[finding.code], fingerprint, around)
                    for finding, fingerprint in zip(report.findings, around.fingerprints(report), strict=True)
                ],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(rule: type[Rule]) -> dict[str, Any]:
    page = whole_page(rule)
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": rule.summary()},
        **_linked("helpUri", address_of_rule(rule.code)),
        "help": {"text": page, "markdown": f"# {rule.code} {rule.name}\n\n{page}"},
        "properties": {"tags": ["tensorflow", "xla"]},
    }


def _linked(key: str, address: str | None) -> dict[str, str]:
    """A key with an address; nothing where there is none."""
    return {} if address is None else {key: address}


def _invocation(report: Report) -> dict[str, Any]:
    made: dict[str, Any] = {"executionSuccessful": not report.problems}
    if report.problems:
        made["toolExecutionNotifications"] = [_notification(problem) for problem in report.problems]
    return made


def _notification(problem: Problem) -> dict[str, Any]:
    made: dict[str, Any] = {"level": "error", "message": {"text": problem.message}}
    if problem.path is not None:
        made["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(problem.path)}}]
    return made


def _result(finding: Finding, index: int, fingerprint: str, around: Around) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join([finding.message, *further(finding)])},
        "locations": [_flagged(finding, around)],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if finding.notes:
        made["relatedLocations"] = [
            {"id": number, **_location(note.path, note.cell, note.span, around), "message": {"text": note.text}}
            for number, note in enumerate(finding.notes, 1)
        ]
    if finding.context is not None:
        if steps := finding.context.trail:
            frames = [
                {
                    "location": {
                        **_location(step.path, step.cell, Span(step.line, 1, step.line, 1), around),
                        "message": {"text": f"`{step.name}`"},
                    }
                }
                for step in steps
            ]
            frames.append({"location": {**made["locations"][0], "message": {"text": finding.message}}})
            made["codeFlows"] = [{"threadFlows": [{"locations": frames}]}]
        made["properties"] = {
            "effect": finding.effect,
            "context": finding.context.kind,
            "autograph": finding.context.autograph,
            **({"backends": dict(finding.backends)} if finding.backends else {}),
        }
    if (fix := around.fix(finding)) is not None and (edits := _edits(finding, fix, around)):
        made["fixes"] = [_fix(finding, fix, edits)]
    return made


def _location(path: str, cell: int | None, span: Span, around: Around) -> dict[str, Any]:
    region = _region(around.span(path, cell, span))
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _flagged(finding: Finding, around: Around) -> dict[str, Any]:
    """The place of a finding, with its text and some lines around it for readers who do not have the files."""
    made = _location(finding.path, finding.cell, finding.span, around)
    view, span = around.view(finding.path), around.span(finding.path, finding.cell, finding.span)
    if view is None or span.end_line > len(view.lines):
        return made
    lines = view.lines
    first, last = max(span.line - _AROUND, 1), min(span.end_line + _AROUND, len(lines))
    whole = {"startLine": first, "endLine": last, "snippet": {"text": "".join(lines[first - 1 : last])}}
    place = made["physicalLocation"]
    place["region"]["snippet"] = {"text": view.text_of(span)}
    if last - first > span.end_line - span.line:  # it must hold more than the region
        place["contextRegion"] = whole
    return made


def _artifact(path: str) -> dict[str, str]:
    """Relative to the folder of the run, where the file lies below it."""
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _edits(finding: Finding, fix: Fix, around: Around) -> list[Edit]:
    """The edits of a fix in the file's own lines; of a notebook, which is JSON, whole lines of that."""
    if finding.cell is None:
        return list(fix.all_edits)
    view, change = around.view(finding.path), around.replacement(finding)
    if view is None or change is None:
        return []
    width = len(view.lines[change.last - 1].rstrip("\r\n"))
    return [Edit(Span(change.first, 1, change.last, width + 1), change.text)]


def _fix(finding: Finding, fix: Fix, edits: list[Edit]) -> dict[str, Any]:
    differs = f" (unsafe: {fix.differs})" if fix.differs else ""
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in edits]
    return {
        "description": {"text": f"{fix.title}{differs}"},
        "artifactChanges": [{"artifactLocation": _artifact(finding.path), "replacements": replacements}],
    }
