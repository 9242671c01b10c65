"""Findings and fixes in the words of the Language Server Protocol."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path

from ..findings.codes import UNUSED_SUPPRESSION
from ..findings.findings import Edit, Finding, Safety, Severity, Span
from ..findings.site import address_of_rule
from ..sources.text import decode, is_notebook, kept_lines
from .documents import Document, Part
from .positions import Text

SOURCE: Final = "xlalint"
FIX_ALL: Final = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
QUICK_FIX: Final = types.CodeActionKind.QuickFix.value

_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
# What an editor may show faded.
_UNNECESSARY: Final = frozenset((UNUSED_SUPPRESSION,))


@dataclass(frozen=True)
class Shown:
    """What was found in a document as it was then; `others`: all documents that were read with it. `root`: the folder
    that paths are relative to."""

    document: Document
    findings: tuple[Finding, ...]
    others: tuple[Document, ...]
    root: Path

    def diagnostics(self, part: Part) -> list[types.Diagnostic]:
        """What to show in a part of the document."""
        return [self.diagnostic(finding, part) for finding in self.of(part)]

    def of(self, part: Part) -> list[Finding]:
        """The findings in a part of the document."""
        return [finding for finding in self.findings if finding.cell == part.cell]

    def diagnostic(self, finding: Finding, part: Part) -> types.Diagnostic:
        """One finding."""
        page = address_of_rule(finding.code)
        return types.Diagnostic(
            range=part.text.range(finding.span),
            message=finding.message if finding.help is None else f"{finding.message}\n{finding.help}",
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=None if page is None else types.CodeDescription(page),
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
            related_information=list(self._related(finding)),
        )

    def _related(self, finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
        for note in finding.notes:
            yield types.DiagnosticRelatedInformation(self._location(note.path, note.cell, note.span), note.text)
        for step in finding.context.trail if finding.context is not None else ():
            span = Span(step.line, 1, step.line, 1)
            message = f"reached through `{step.name}`"
            yield types.DiagnosticRelatedInformation(self._location(step.path, step.cell, span), message)

    def _location(self, shown: str, cell: int | None, span: Span) -> types.Location:
        path = self.root / shown
        for document in (self.document, *self.others):
            if document.path == path and (part := document.by_cell.get(cell)) is not None:
                return types.Location(part.uri, part.text.range(span))
        uri = from_fs_path(str(path)) or path.as_uri()
        start, end = (types.Position(span.line - 1, span.column - 1), types.Position(span.end_line - 1, 0))
        return types.Location(uri, types.Range(start, start if end < start else end))


def touches(span: Span, first: tuple[int, int], last: tuple[int, int]) -> bool:
    """Whether a span and what is between two places, both included, have a place in common."""
    return (span.line, span.column) <= last and first <= (span.end_line, span.end_column)


def is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether an editor that asks for some kinds of actions wants this one."""
    return only is None or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def quick_fixes(shown: Shown, finding: Finding) -> Iterator[tuple[str, bool, dict[str, list[Edit]]]]:
    """What can be done about a finding: what it is called, whether it is the one to prefer, and the edits of each
    part."""
    fix = finding.fix
    if fix is None or fix.safety is Safety.DISPLAY:
        return
    parts: dict[str, list[Edit]] = {}
    for edit in fix.all_edits:
        parts.setdefault(shown.document.by_cell[edit.cell].uri, []).append(edit)
    safe = fix.safety is Safety.SAFE
    title = fix.title if safe else f"{fix.title} (unsafe: {fix.differs or 'may give another result'})"
    yield f"{finding.code}: {title}", safe, parts


def changes_of(before: Document, after: bytes) -> Iterator[tuple[Part, list[types.TextEdit]]]:
    """The lines of a document that differ from what it is to become."""
    for part, text in _texts(before, after):
        if part.text.text != text:
            yield part, list(_line_edits(part.text, text))


def _texts(before: Document, after: bytes) -> Iterable[tuple[Part, str]]:
    if not is_notebook(before.path):
        return [(before.parts[0], decode(after))]
    cells = json.loads(after)["cells"]
    sources: Mapping[int, str] = {number: "".join(cell["source"]) for number, cell in enumerate(cells, 1)}
    return [(part, sources[part.cell]) for part in before.parts if part.cell is not None]


def _line_edits(text: Text, after: str) -> Iterator[types.TextEdit]:
    old, new = kept_lines(text.text), kept_lines(after)
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            span = Span(start + 1, 1, end + 1, 1)
            yield types.TextEdit(text.range(span), "".join(new[new_start:new_end]))
