"""One trial: a file is linted, reported in all formats and fixed. What goes wrong is told, and nothing is printed."""

from __future__ import annotations

import ast
import json
import unicodedata
import warnings
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from xlalint.findings.findings import Report
from xlalint.linter.fix_runs import fix
from xlalint.reports.around import Around
from xlalint.reports.diff import diff
from xlalint.reports.formats import render
from xlalint.reports.terminal import Paint
from xlalint.settings.choices import OUTPUT_FORMATS
from xlalint.settings.config import Settings
from xlalint.sources.lines import line_reader
from xlalint.sources.reading import source_of
from xlalint.sources.text import UnreadableSource, is_notebook
from xlalint.sources.views import viewer

_JSON: Final = ("json", "sarif", "rdjson", "gitlab")
_ANNOTATIONS: Final = ("::error ", "::warning ", "::notice ")
_TERMINAL: Final = ("full", "concise", "github", "markdown")


def complaints(path: Path) -> list[str]:
    """What the linter does wrong with a file: each a line. Its own exceptions are let through."""
    settings = Settings(jobs=1, unsafe_fixes=True)
    outcome = fix([path], settings)
    found = _of_report(outcome.report)
    for change in outcome.changes:
        diff(change.display, change.before, change.after, Paint())
        if _is_python(change.before, path) and not _is_python(change.after, path):
            found.append("what was Python is none after the fixes")
    return found


def _of_report(report: Report) -> list[str]:
    found = [f"{problem.message}\n{problem.detail}" for problem in report.problems if problem.detail]
    around = Around(Paint(), line_reader({}), viewer({}), unsafe=True)
    for name in OUTPUT_FORMATS:
        text = render(name, report, around)
        if name in _JSON:
            json.loads(text)
        elif name == "jsonl":
            for line in text.splitlines():
                json.loads(line)
        elif name == "junit":
            ElementTree.fromstring(text)
        elif name in _TERMINAL and (obeyed := controls(text)):
            found.append(f"{name}: characters that a terminal obeys: {obeyed}")
        if name == "github" and not all(line.startswith(_ANNOTATIONS) for line in lines(text)):
            found.append("github: a line that is no annotation")
    return found


def lines(text: str) -> list[str]:
    """The lines as a terminal or a runner takes them."""
    return [line for line in text.replace("\r", "\n").split("\n") if line]


def controls(text: str) -> list[str]:
    """The characters in a text that are not shown but obeyed."""
    return sorted({one for one in set(text) - {"\n"} if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")})


def _is_python(data: bytes, path: Path) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source_of(data, path, path.name).text)
    except (UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not is_notebook(path) or not source_of(data, path, path.name).trouble
