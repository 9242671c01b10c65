"""Fixes applied to the text of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..findings import Edit, Fix, Span
from ..sources.text import line_starts


@dataclass(frozen=True, slots=True)
class Applied:
    """A text with fixes applied: those that found room; the others overlap one of them."""

    text: str
    fixes: tuple[Fix, ...]


def apply_fixes(text: str, fixes: Iterable[Fix]) -> Applied:
    """Apply fixes that do not get in each other's way: of those that do, the outermost, and then the first."""
    taken: list[Fix] = []
    for fix in sorted(fixes, key=_outermost_first):
        if not any(_meet(fix, other) for other in taken):
            taken.append(fix)
    edits = dict.fromkeys(edit for fix in taken for edit in fix.imports)
    return Applied(apply_edits(text, [*edits, *(edit for fix in taken for edit in fix.edits)]), tuple(taken))


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits that do not overlap; all else stays as it is. Insertions at one place are made in order."""
    starts = line_starts(text)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1

    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[done : offset(edit.span.line, edit.span.column)], edit.text]
        done = offset(edit.span.end_line, edit.span.end_column)
    return "".join((*parts, text[done:]))


def _reach(fix: Fix) -> Span:
    """From a fix's first edit to its last: what lies between belongs together."""
    first, last = fix.edits[0].span, fix.edits[-1].span
    return Span(first.line, first.column, last.end_line, last.end_column)


def _outermost_first(fix: Fix) -> tuple[int, int, Span]:
    reach = _reach(fix)
    return reach.line, reach.column, Span(-reach.end_line, -reach.end_column, 0, 0)


def _meet(one: Fix, other: Fix) -> bool:
    """Whether two fixes cannot both be made. The same import, asked for twice, can."""
    first, second = sorted((_reach(one), _reach(other)))
    return (second.line, second.column) < (first.end_line, first.end_column) or first == second
