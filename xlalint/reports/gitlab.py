"""GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/"""

from __future__ import annotations

import json
from typing import Any, Final

from ..findings.findings import Finding, Report, Severity
from .around import Around

_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(report: Report, around: Around) -> str:
    """A JSON list of issues, ASCII only."""
    issues = [
        _issue(finding, fingerprint, around)
        for finding, fingerprint in zip(report.findings, around.fingerprints(report), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, around: Around) -> dict[str, Any]:
    span = around.span(finding.path, finding.cell, finding.span)
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code} {finding.name}: {finding.message}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": finding.path, "lines": {"begin": span.line, "end": span.end_line}},
    }
