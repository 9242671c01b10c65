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

_MADE_OF_FINDINGS: Final = {"json": json_report, "jsonl": json_lines}
_FOR_PEOPLE: Final = ("concise", "full")
# All others are a module here, whose function has the format's name: `sarif.sarif(report, around)`.
_ELSEWHERE: Final = {"html": "page.page"}


def render(name: str, report: Report, around: Around) -> str:
    """The report in the format of that name."""
    if name in _MADE_OF_FINDINGS:
        return _MADE_OF_FINDINGS[name](report)
    if name not in _FOR_PEOPLE:
        module = importlib.import_module(f".{_ELSEWHERE.get(name, name)}", __package__)
        made: str = getattr(module, name)(report, around)
        return made
    if around.statistics:
        body = statistics(report)
    elif name == "concise":
        body = concise(report, around.paint)
    else:
        body = full(report, around.paint, around.lines)
    return body if around.quiet else body + summary(report, around.paint, by_rule=around.show_fixes)
