"""What the probe saw of each function that it was asked to run, and of the findings in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..findings.findings import Probed, Report
from .terminal import Paint, joined, safe

_COLOURS: Final = {
    **dict.fromkeys(("fails", "tpu-fails", "gpu-fails", "diverges"), "red"),
    **dict.fromkeys(("recompiles", "not run"), "yellow"),
}


def probed(report: Report, paint: Paint) -> str:
    """All functions, an empty line after each; the findings behind them."""
    lines = [line for function in report.functions for line in (*_function(function, paint), "")]
    for finding in report.findings:
        if finding.verdict is not None:
            place = f"{safe(finding.path)}:{finding.span.line}:{finding.span.column}"
            named = finding.name == finding.verdict.status  # the rule about what only the probe saw
            status = "" if named else f": {paint(finding.verdict.status, 'bold')}"
            lines.append(f"{place}: {finding.code} {finding.name}{status}: {safe(finding.verdict.text)}")
    return joined(lines)


def _function(function: Probed, paint: Paint) -> Iterator[str]:
    verdict = function.verdict
    outcome = paint(verdict.outcome, "bold", _COLOURS.get(verdict.outcome, "blue"))
    yield f"{outcome}: {paint(safe(verdict.function), 'bold')} ({safe(function.path)}:{function.line})"
    told = function.details or (verdict.text,)
    if verdict.outcome == "not run":
        told = (verdict.text, *function.details)
    yield from (f"  = {safe(line)}" for line in told)
    if verdict.how:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(verdict.versions.items()))
        yield f"  = ran: {safe(verdict.how)} ({safe(versions)}, {verdict.device}; {verdict.seconds:.1f} s)"
