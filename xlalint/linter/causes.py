"""One cause, few findings: what follows from a value that several findings name already is information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ..findings.findings import Effect, Finding, Note, Severity, Span

# Rules about sizes and positions that a value decides, whose first note says where the value comes from: whoever makes
# it a number has mended them all.
_OF_VALUES: Final = frozenset(("XLA205", "XLA206"))
_ENOUGH: Final = 3  # findings of one value, by which its reader knows
_SAME: Final = "here, too, the same value decides"


def few_of_a_cause(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings in the order of the lines of their files. Where several say that XLA compiles again for one value,
    the further ones become information."""
    first: dict[tuple[str, str, str, Span, str], list[Finding]] = {}
    for finding in findings:
        if (
            finding.code in _OF_VALUES
            and finding.effect is Effect.RECOMPILES
            and finding.severity is Severity.WARNING
            and finding.notes
        ):
            origin = finding.notes[0]
            alike = first.setdefault((finding.path, finding.code, origin.path, origin.span, origin.text), [])
            alike.append(finding)
            if len(alike) > _ENOUGH:
                notes = (*finding.notes, Note(alike[0].path, alike[0].span, _SAME))
                finding = replace(finding, severity=Severity.INFO, notes=notes)
        yield finding
