"""Findings of the linter about its own work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..findings.codes import SYNTAX_ERROR, UNFINISHED_FILE, UNREADABLE_FILE, rule_names
from ..findings.findings import Finding, Severity, Span
from ..settings.config import Settings

_START: Final = Span(1, 1, 1, 2)
_SEVERITIES: Final = {
    SYNTAX_ERROR: Severity.ERROR,
    UNREADABLE_FILE: Severity.ERROR,
    UNFINISHED_FILE: Severity.WARNING,
}


def about_file(
    code: str, path: str, message: str, settings: Settings, span: Span = _START, *, aside: bool = False
) -> Finding:
    """What keeps a file, or a part of it, from being checked: without effect or context. `aside`: it is not about
    TensorFlow, for all that can be seen."""
    severity = _near(path, settings).severities.get(code, Severity.INFO if aside else _SEVERITIES[code])
    return Finding(path, span, code, rule_names()[code], severity, None, message)


def about_comment(code: str, path: str, message: str, settings: Settings, span: Span) -> Finding:
    """What is wrong with a comment that suppresses findings."""
    severity = _near(path, settings).severities.get(code, Severity.WARNING)
    return Finding(path, span, code, rule_names()[code], severity, None, message)


def _near(path: str, settings: Settings) -> Settings:
    """The settings for a file, by its path as reports show it."""
    return settings.of(Path(os.path.abspath(path)).parent)
