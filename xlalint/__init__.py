"""xlalint: where XLA will refuse, recompile or quietly change TensorFlow and Keras code.

    import xlalint

    report = xlalint.lint_paths(["src"])
    for finding in report.findings:
        print(finding.path, finding.span.line, finding.code, finding.message)

The names in `__all__` are what other programs may rely on; they are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .api import apply_fixes, fix_source, lint_paths, lint_source, load_settings, use_rules
    from .findings.findings import (
        Edit,
        Effect,
        Finding,
        FindingContext,
        Fix,
        Note,
        Problem,
        Report,
        Safety,
        Severity,
        Span,
        TrailStep,
    )
    from .findings.rule_files import RulesError
    from .linter.fix_runs import Change, Outcome
    from .reports.json import json_report
    from .settings.config import Settings
    from .settings.layers import ConfigurationError

__version__ = "0.1.0"

_HOMES: Final = {
    "api": ("apply_fixes", "fix_source", "lint_paths", "lint_source", "load_settings", "use_rules"),
    "settings.config": ("Settings",),
    "settings.layers": ("ConfigurationError",),
    "findings.findings": (
        *("Edit", "Effect", "Finding", "FindingContext", "Fix", "Note"),
        *("Problem", "Report", "Safety", "Severity", "Span", "TrailStep"),
    ),
    "linter.fix_runs": ("Change", "Outcome"),
    "findings.rule_files": ("RulesError",),
    "reports.json": ("json_report",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Change",
    "ConfigurationError",
    "Edit",
    "Effect",
    "Finding",
    "FindingContext",
    "Fix",
    "Note",
    "Outcome",
    "Problem",
    "Report",
    "RulesError",
    "Safety",
    "Settings",
    "Severity",
    "Span",
    "TrailStep",
    "__version__",
    "apply_fixes",
    "fix_source",
    "json_report",
    "lint_paths",
    "lint_source",
    "load_settings",
    "use_rules",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
