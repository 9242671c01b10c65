"""Comments that switch findings off, put where they stand: above the statement, whatever its own form."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from ..findings.findings import Edit, Finding, Span
from .text import Source, newline_of, split_lines

_QUIET: Final = frozenset((tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER))


def ignorable(finding: Finding) -> bool:
    """Whether a comment may switch a finding off: those about files and comments themselves are for repair."""
    return not finding.code.startswith("XLA9")


def ignore_edits(source: Source, findings: Iterable[Finding], reason: str | None) -> list[Edit]:
    """An `ignore` comment above each statement with findings in a source: one for all of its rules, which gives the
    reason, or else the names of the rules. What stands behind a syntax error gets none."""
    by_cell: dict[int | None, list[Finding]] = {}
    for finding in findings:
        by_cell.setdefault(finding.cell, []).append(finding)
    lines = split_lines(source.text)
    newline = newline_of(source.text)
    cells = {cell.cell: lines[cell.first - 1 : cell.last] for cell in source.cells}
    edits = []
    for cell, here in by_cell.items():
        own = lines if cell is None else cells[cell]
        starts = _statements(own)
        rules: dict[int, dict[str, str]] = {}
        for finding in here:
            if index := bisect_right(starts, finding.span.line):
                rules.setdefault(starts[index - 1], {})[finding.code] = finding.name
        for line, names in sorted(rules.items()):
            text = own[line - 1]
            indent = text[: len(text) - len(text.lstrip())]
            listed = ", ".join(sorted(names))
            said = reason or ", ".join(names[code] for code in sorted(names))
            edits.append(Edit(Span(line, 1, line, 1), f"{indent}# xlalint: ignore[{listed}] {said}{newline}", cell))
    return edits


def _statements(lines: Sequence[str]) -> list[int]:
    """The first line of each statement, up to where the text is no Python."""
    starts: list[int] = []
    text = "\n".join(lines) + "\n"
    try:
        tokens = [one for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type not in _QUIET]
    except (tokenize.TokenError, SyntaxError):
        return starts
    if tokens:
        starts.append(tokens[0].start[0])
    starts += (after.start[0] for before, after in pairwise(tokens) if before.type == tokenize.NEWLINE)
    return starts
