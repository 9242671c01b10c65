"""The formats by name, and a report in one of them."""

from __future__ import annotations

import importlib
from typing import Final

from ..findings.findings import Report
from .around import Around
from .concise import concise
from .full import full
from .json import json_lines, json_report
from .summary import statistics, summary

# The formats that are made for other programs and need the files: the module, whose function has the format's name.
_MADE_OF_FILES: Final = {
    **{name: name for name in ("sarif", "rdjson", "github", "gitlab", "junit", "markdown")},
    "html": "page.page",
}
_MADE_OF_FINDINGS: Final = {"json": json_report, "jsonl": json_lines}


def render(name: str, report: Report, around: Around) -> str:
    """The report in the format of that name."""
    if name in _MADE_OF_FINDINGS:
        return _MADE_OF_FINDINGS[name](report)
    if name in _MADE_OF_FILES:
        module = importlib.import_module(f".{_MADE_OF_FILES[name]}", __package__)
        made: str = getattr(module, name)(report, around)
        return made
    if around.statistics:
        body = statistics(report)
    elif name == "concise":
        body = concise(report, around.paint)
    else:
        body = full(report, around.paint, around.lines)
    return body if around.quiet else body + summary(report, around.paint, by_rule=around.show_fixes)
