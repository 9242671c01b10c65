"""A comment for a review: a table of what was found, then each finding with its rewrite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..findings.findings import Finding, Report
from .around import Around, further
from .summary import summary
from .terminal import Paint, joined, place, safe

_ACTIVE: Final = re.compile(r"([\\*_\[\]<>#|~])")
_CODE: Final = re.compile(r"(`+)(?:.+?)\1", re.DOTALL)


def markdown(report: Report, around: Around) -> str:
    """GitHub's and GitLab's Markdown. A fix is a suggestion of whole lines, other advice a block of code."""
    head = summary(report, Paint(), by_rule=False).splitlines()
    lines = [f"### xlalint: {head[0]}", *head[1:]]
    if report.findings:
        lines += ["", "| | rule | place | |", "| --- | --- | --- | --- |"]
        lines += (
            f"| {finding.severity.label} | {finding.code} {finding.name} | {_code(_where(finding))} |"
            f" {_cell(finding.message)} |"
            for finding in report.findings
        )
    for finding in report.findings:
        lines += ["", *_told(finding, around)]
    if report.problems:
        lines += ["", "#### What could not be done", ""]
        lines += (f"- {_prose(f'{problem.path}: ' if problem.path else '')}{_prose(problem.message)}"
                  for problem in report.problems)  # fmt: skip
    return joined(lines)


def _where(finding: Finding) -> str:
    return place(finding.path, finding.cell, finding.span.line, finding.span.column)


def _told(finding: Finding, around: Around) -> Iterator[str]:
    yield f"#### {finding.severity.label} {finding.code} {finding.name}: {_code(_where(finding))}"
    yield ""
    yield _prose(finding.message)
    for note in finding.notes:
        yield f"- {_prose(note.text)}: {_code(place(note.path, note.cell, note.span.line, note.span.column))}"
    for line in further(finding):
        yield ""
        yield _prose(line)
    change, fix = around.replacement(finding), around.fix(finding)
    if change is not None and fix is not None:
        yield ""
        lines = f"line {change.first}" if change.first == change.last else f"lines {change.first} to {change.last}"
        yield f"{_prose(fix.title)} ({fix.safety}{f'; {_prose(fix.differs)}' if fix.differs else ''}), {lines}:"
        yield ""
        yield from _block(change.text, "suggestion")
    elif finding.help:
        yield ""
        yield from _block(finding.help, "python")


def _block(text: str, kind: str) -> Iterator[str]:
    """A block of code, between fences longer than any in it."""
    text = safe(text.replace("\r\n", "\n"), keep_lines=True)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    yield f"{fence}{kind}"
    yield text
    yield fence


def _code(text: str) -> str:
    """Text as a span of code, in a table, too."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}".replace("|", "\\|")


def _prose(text: str) -> str:
    """Text in which only the spans of code are Markdown."""
    text = safe(text)
    pieces, done = [], 0
    for span in _CODE.finditer(text):
        pieces += [_ACTIVE.sub(r"\\\1", text[done : span.start()]), span[0]]
        done = span.end()
    return "".join((*pieces, _ACTIVE.sub(r"\\\1", text[done:]).replace("`", "\\`")))


def _cell(text: str) -> str:
    """Prose in a table, where also code must not hold a bare `|`."""
    return re.sub(r"(?<!\\)\|", r"\\|", _prose(text))
