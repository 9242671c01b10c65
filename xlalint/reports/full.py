"""Each finding with its source, the way compilers show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ..findings.findings import Backend, Edit, Exposure, Finding, Fix, Note, Report, Safety, Severity, Span
from .terminal import SEVERITY_COLOURS, Paint, counted, joined, laid_out, place, safe

Lines = Callable[[str, int | None], Sequence[str]]
"""The lines of a file, or of a notebook's cell, by its path as reports show it; empty when it is gone."""

BACKENDS: Final = {Backend.TENSORFLOW: "TensorFlow", Backend.JAX: "JAX"}
_SHOWN: Final = 4  # lines of a span; the middle of a longer one is left out
_COLOURS: Final = {"-": "red", "+": "green"}
_INFORMED: Final = 3  # of what a rule informs of: more says no more
_NOTES: Final = 3  # of a finding, the nearest way first; more are other ways to the same place


def full(report: Report, paint: Paint, lines: Lines) -> str:
    """All findings, an empty line after each; of what is only information the first few of each rule."""
    told: dict[str, list[Finding]] = {}
    shown = []
    for finding in report.findings:
        alike = told.setdefault(finding.code, []) if finding.severity is Severity.INFO else []
        alike.append(finding)
        if len(alike) <= _INFORMED:
            shown.append(joined([*_Frame(finding, paint, lines).render(), ""]))
    return "".join(shown) + "".join(_further(alike[_INFORMED:], paint) for alike in told.values())


def _further(found: Sequence[Finding], paint: Paint) -> str:
    """How much more one rule informs of."""
    if not found:
        return ""
    title = paint(f"{Severity.INFO.label}[{found[0].code}]", "bold", SEVERITY_COLOURS[Severity.INFO])
    files = counted(len({finding.path for finding in found}), "file")
    more = f"{len(found)} more in {files}; list them with `--output-format concise`"
    return joined([f"{title} {paint(found[0].name, 'bold')}: {more}", ""])


class _Frame:
    """One finding: heading, source, notes, how it is reached, what to write instead."""

    def __init__(self, finding: Finding, paint: Paint, lines: Lines) -> None:
        self._finding, self._paint, self._lines = finding, paint, lines
        self._notes, self._more = finding.notes[:_NOTES], len(finding.notes[_NOTES:])
        last = max((finding.span.end_line, *(note.span.end_line for note in self._notes)))
        self._margin = len(str(last))

    def render(self) -> Iterator[str]:
        finding, paint = self._finding, self._paint
        colour = SEVERITY_COLOURS[finding.severity]
        title = paint(f"{finding.severity.label}[{finding.code}]", "bold", colour)
        yield f"{title} {paint(finding.name, 'bold')}: {safe(finding.message)}"
        yield from self._source(finding.path, finding.span, "^", colour, finding.cell)
        for note in self._notes:
            yield from self._note(note)
        if self._more:
            yield from self._attached("notes", f"{self._more} more; list them with `--output-format json`")
        context = finding.context
        if context is not None and context.trail:
            steps = (f"`{safe(step.name)}` ({place(step.path, step.cell, step.line)})" for step in context.trail)
            yield from self._attached("reached", "\n-> ".join(steps))
        if context is not None and context.shown and not (_is_jax_s(finding) and context.exposure is Exposure.LIKELY):
            label = "may be compiled" if context.exposure is Exposure.LIKELY else "compiled"
            yield from self._attached(label, safe(context.shown))
        if context is not None and context.backend:
            names = " and ".join(BACKENDS[backend] for backend, _ in finding.backends)
            yield from self._attached("runs on", safe(f"{names}: {context.backend}"))
        if finding.verdict is not None:
            yield from self._attached("probe", f"{finding.verdict.status}: {finding.verdict.text}")
            if finding.verdict.how:
                yield from self._attached("ran", f"`{finding.verdict.function}`, {finding.verdict.how}")
            for other in finding.verdict.others:
                yield from self._attached("probe", f"{other.status}: {other.text}")
        if finding.fix is not None and finding.fix.safety is not Safety.DISPLAY:
            yield from self._fix(finding.fix)
        elif finding.help:
            yield from self._attached("help", finding.help)
        yield from self._attached("more", f"xlalint explain {finding.code}")

    def _note(self, note: Note) -> Iterator[str]:
        yield f"{' ' * self._margin} {self._paint('note', 'bold', 'cyan')}: {safe(note.text)}"
        yield from self._source(note.path, note.span, "-", "cyan", note.cell)

    def _fix(self, fix: Fix) -> Iterator[str]:
        """The lines that a fix changes, before and after, and those between them."""
        from .diff import changed_lines

        title = f"{fix.title} (differs {fix.differs})" if fix.differs else fix.title
        yield from self._attached(f"fix, {fix.safety}", title)
        by_cell: dict[int | None, list[Edit]] = {}
        for edit in fix.all_edits:
            by_cell.setdefault(edit.cell, []).append(edit)
        path = self._finding.path
        changes = [one for cell, edits in by_cell.items() for one in changed_lines(self._lines(path, cell), edits)]
        width = max((len(str(number)) for _, number, _ in changes), default=0)
        for sign, number, text in changes:
            shown = f"{sign} {number:>{width}} | {laid_out(text)[0]}".rstrip()
            colour = _COLOURS.get(sign)
            yield f"{' ' * (self._margin + 3)}{self._paint(shown, colour) if colour else shown}"

    def _attached(self, label: str, text: str) -> Iterator[str]:
        """A line hung under the source; what follows its first line is aligned with it, so code keeps its shape."""
        first, *rest = safe(text, keep_lines=True).split("\n")
        yield f"{' ' * self._margin} {self._rule('=')} {self._paint(label, 'bold')}: {first}"
        indent = " " * (self._margin + 3 + len(f"{label}: "))
        yield from (f"{indent}{line}".rstrip() for line in rest)

    def _rule(self, sign: str) -> str:
        return self._paint(sign, "bold", "blue")

    def _source(self, path: str, span: Span, mark: str, colour: str, cell: int | None) -> Iterator[str]:
        margin = " " * self._margin
        yield f"{margin}{self._rule('-->')} {place(path, cell, span.line, span.column)}"
        source = self._lines(path, cell)
        if not 1 <= span.line <= span.end_line <= len(source):
            return  # the file has changed or gone since it was read
        yield f"{margin} {self._rule('|')}"
        for number in _numbers(span):
            if number is None:
                yield f"{margin} {self._rule('...')}"
                continue
            text = source[number - 1]
            shown, columns = laid_out(text)
            blank = len(text) - len(text.lstrip())
            first = span.column - 1 if number == span.line else blank
            last = span.end_column - 1 if number == span.end_line else len(text.rstrip())
            start, end = columns[min(first, len(text))], columns[min(max(last, first), len(text))]
            yield f"{self._rule(f'{number:>{self._margin}} |')} {shown.rstrip()}".rstrip()
            marks = self._paint(mark * max(end - start, 1), "bold", colour)
            yield f"{margin} {self._rule('|')} {' ' * start}{marks}"
        yield f"{margin} {self._rule('|')}"


def _is_jax_s(finding: Finding) -> bool:
    """Whether a finding is about JAX alone, which traces all that Keras runs, on every device."""
    return bool(finding.backends) and all(backend is Backend.JAX for backend, _ in finding.backends)


def _numbers(span: Span) -> Iterator[int | None]:
    """The line numbers to show, None for what is left out."""
    numbers = range(span.line, span.end_line + 1)
    if len(numbers) <= _SHOWN:
        yield from numbers
    else:
        yield from (*numbers[:2], None, numbers[-1])
