"""The last lines of a report: how much was found, and of what."""

from __future__ import annotations

from collections import Counter

from ..findings.findings import Report, Safety, Severity
from .terminal import SEVERITY_COLOURS, Paint, counted, joined, safe

_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info finding"}


def counts(report: Report) -> dict[Severity, int]:
    """How many findings there are of each severity, gravest first."""
    found = Counter(finding.severity for finding in report.findings)
    return {severity: found[severity] for severity in sorted(_NOUNS, reverse=True)}


def summary(report: Report, paint: Paint, *, by_rule: bool = False) -> str:
    """What was fixed, what was found, and what of that could be fixed.

    `Found 3 errors, 2 warnings in 2 files (5 files checked).`
    """
    fixed = fixes_shown(report, paint, by_rule=by_rule) if report.fixed else ""
    return fixed + _found(report, paint) + _fixable(report) + joined(map(safe, report.remarks)) + _lowered(report)


def fixes_shown(report: Report, paint: Paint, *, would: bool = False, by_rule: bool = False) -> str:
    """`Fixed 3 findings in 2 files.`, or what would be; `by_rule`: with the rules of each file."""
    if not report.fixed:
        return "Would fix nothing.\n" if would else "Nothing fixed.\n"
    by_path: dict[str, Counter[tuple[str, str]]] = {}
    for finding in report.fixed:
        by_path.setdefault(finding.path, Counter())[finding.code, finding.name] += 1
    number, files = counted(len(report.fixed), "finding"), counted(len(by_path), "file")
    head = f"{'Would fix' if would else 'Fixed'} {number} in {files}"
    if not by_rule:
        return f"{head}.\n"
    lines = [f"{head}:"]
    for path, rules in sorted(by_path.items()):
        lines.append(f"- {paint(safe(path), 'bold')}:")
        lines += (f"    {times} × {code} ({name})" for (code, name), times in sorted(rules.items()))
    return joined(lines)


def _fixable(report: Report) -> str:
    """`2 fixable with --fix, 1 more with --unsafe-fixes.`"""
    found = Counter(finding.fix.safety for finding in report.findings if finding.fix is not None)
    parts = [f"{found[Safety.SAFE]} fixable with --fix"] if found[Safety.SAFE] else []
    if unsafe := found[Safety.UNSAFE]:
        parts.append(f"{unsafe} more with --unsafe-fixes" if parts else f"{unsafe} fixable with --fix --unsafe-fixes")
    return f"{', '.join(parts)}.\n" if parts else ""


def _lowered(report: Report) -> str:
    """How many findings are only information because nothing shows that XLA compiles the program, and what would."""
    number = sum(finding.context is not None and finding.context.lowered for finding in report.findings)
    if not number:
        return ""
    lowered = f"{counted(number, 'finding')} {'has' if number == 1 else 'have'} a lower severity"
    return (
        f"xlalint sees nothing that makes XLA compile this code, so {lowered}. If XLA will compile it, set "
        '`jit_compile=True` in the code, pass `--target tpu` (or cpu, gpu), or set `exposure = "certain"` in the '
        "settings. `xlalint readiness` counts them anyway.\n"
    )


def _found(report: Report, paint: Paint) -> str:
    checked = f"({counted(report.files_checked, 'file')} checked)"
    if not report.findings and report.problems and not report.files_checked:
        return ""  # nothing was looked at, as the problems say
    if not report.findings:
        return f"No findings {checked}.\n{_probed(report)}"
    parts = [
        paint(counted(number, _NOUNS[severity]), "bold", SEVERITY_COLOURS[severity])
        for severity, number in counts(report).items()
        if number
    ]
    files = len({finding.path for finding in report.findings})
    return f"Found {', '.join(parts)} in {counted(files, 'file')} {checked}.\n{_probed(report)}"


def _probed(report: Report) -> str:
    """`Probed 5 functions (1 not run): 3 findings confirmed, 1 refuted, 1 open, 1 seen by the probe only.`"""
    if not report.functions:
        return ""
    missed = sum(function.verdict.outcome == "not run" for function in report.functions)
    found = Counter(finding.verdict.status for finding in report.findings if finding.verdict)
    parts = [f"{found['confirmed']} confirmed", f"{found['refuted']} refuted", f"{found['open']} open"]
    if only := found["probe-only"]:
        parts.append(f"{only} found only by the probe")
    functions = counted(len(report.functions), "function")
    return f"Probed {functions}{f' ({missed} not run)' if missed else ''}: findings {', '.join(parts)}.\n"


def statistics(report: Report) -> str:
    """One line for each rule that found something, the most frequent first."""
    found = Counter((finding.code, finding.name) for finding in report.findings)
    width = max((len(str(number)) for number in found.values()), default=0)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return joined(f"{number:>{width}}  {code}  {name}" for (code, name), number in ranked)
