"""Notebooks, run as the programs that they are: their cells one below the other in a file, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..findings.findings import Finding, FindingContext, Note, Probed, Report, Span, TrailStep, Verdict
from ..sources.reading import read_source
from ..sources.text import CellLines, display_path
from .target import Target
from .targets import NoTarget

_Pairs: TypeAlias = list[tuple[Target | NoTarget, list[Finding]]]


@dataclass(frozen=True)
class _Program:
    """A notebook, the file that stands for it, and the lines of its cells there."""

    notebook: str
    path: Path
    cells: Sequence[CellLines]

    def line(self, line: int, cell: int | None) -> int:
        """A line of a cell as a line of the program."""
        return line + next((one.first - 1 for one in self.cells if one.cell == cell), 0)

    def span(self, span: Span, cell: int | None) -> Span:
        """A place in a cell as a place in the program."""
        return replace(span, line=self.line(span.line, cell), end_line=self.line(span.end_line, cell))

    def cell(self, line: int) -> CellLines:
        """The cell that a line of the program is in."""
        return next((one for one in reversed(self.cells) if one.first <= line), self.cells[0])


@dataclass
class Programs:
    """The notebooks of a report as files in a folder."""

    folder: Path
    _known: dict[str, _Program] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """The files that stand for notebooks."""
        return [program.path for program in self._known.values()]

    def flat(self, report: Report) -> Report:
        """The report as if each notebook were its program."""
        findings = tuple(map(self._flat, report.findings))
        backends = {self._file(path): found for path, found in report.backends.items()}
        return replace(report, findings=findings, backends=backends)

    def placed(self, pairs: _Pairs) -> _Pairs:
        """Targets that import what lies beside their notebook, which is the user's own, too."""
        return [(self._placed(target), findings) for target, findings in pairs]

    def back(self, report: Report) -> Report:
        """A report on programs as one on their notebooks."""
        findings = sorted(map(self._back, report.findings), key=lambda finding: finding.sort_key)
        return replace(report, findings=tuple(findings), functions=tuple(map(self._function, report.functions)))

    # -- there --------------------------------------------------------------------------------------------------------

    def _program(self, path: str) -> _Program:
        if path not in self._known:
            notebook = Path(path).absolute()
            source = read_source(notebook, path)
            file = self.folder / str(len(self._known)) / f"{notebook.stem}.py"
            file.parent.mkdir()
            file.write_text(source.text, encoding="utf-8")
            self._known[path] = _Program(path, file, source.cells)
        return self._known[path]

    def _flat(self, finding: Finding) -> Finding:
        if finding.cell is None:
            return finding
        program = self._program(finding.path)
        context = finding.context and replace(finding.context, trail=tuple(map(self._step, finding.context.trail)))
        span, notes = program.span(finding.span, finding.cell), tuple(map(self._note, finding.notes))
        return replace(finding, path=str(program.path), span=span, cell=None, context=context, notes=notes)

    def _file(self, path: str) -> str:
        return str(self._known[path].path) if path in self._known else path

    def _step(self, step: TrailStep) -> TrailStep:
        if step.cell is None:
            return step
        program = self._program(step.path)
        return replace(step, path=str(program.path), line=program.line(step.line, step.cell), cell=None)

    def _note(self, note: Note) -> Note:
        if note.cell is None:
            return note
        program = self._program(note.path)
        return replace(note, path=str(program.path), span=program.span(note.span, note.cell), cell=None)

    def _placed(self, target: Target | NoTarget) -> Target | NoTarget:
        program = None if isinstance(target, NoTarget) else self._of(target.file)
        if program is None or isinstance(target, NoTarget):
            return target
        beside = str(Path(program.notebook).absolute().parent)
        return replace(target, search=(*target.search, beside), roots=(*target.roots, beside))

    # -- and back -----------------------------------------------------------------------------------------------------

    def _of(self, path: str) -> _Program | None:
        absolute = Path(path).absolute()
        return next((program for program in self._known.values() if program.path == absolute), None)

    def _back(self, finding: Finding) -> Finding:
        program = self._of(finding.path)
        verdict = finding.verdict and self._verdict(finding.verdict, program)
        if program is None:
            return replace(finding, verdict=verdict)
        cell = program.cell(finding.span.line)
        before, span = cell.first - 1, finding.span
        return replace(
            finding,
            path=program.notebook,
            span=replace(span, line=span.line - before, end_line=span.end_line - before),
            cell=cell.cell,
            message=self._text(finding.message),
            verdict=verdict,
            context=finding.context and self._context(finding.context),
            notes=tuple(map(self._note_back, finding.notes)),
        )

    def _context(self, context: FindingContext) -> FindingContext:
        return replace(context, trail=tuple(map(self._step_back, context.trail)))

    def _step_back(self, step: TrailStep) -> TrailStep:
        if (program := self._of(step.path)) is None:
            return step
        cell = program.cell(step.line)
        return replace(step, path=program.notebook, line=step.line - cell.first + 1, cell=cell.cell)

    def _note_back(self, note: Note) -> Note:
        if (program := self._of(note.path)) is None:
            return note
        cell = program.cell(note.span.line)
        before = cell.first - 1
        span = replace(note.span, line=note.span.line - before, end_line=note.span.end_line - before)
        return replace(note, path=program.notebook, span=span, cell=cell.cell)

    def _verdict(self, verdict: Verdict, program: _Program | None) -> Verdict:
        line = verdict.line
        if program is not None and line is not None:
            line -= program.cell(line).first - 1
        return replace(verdict, text=self._text(verdict.text), line=line)

    def _function(self, probed: Probed) -> Probed:
        program = self._of(probed.path)
        details = tuple(map(self._text, probed.details))
        verdict = self._verdict(probed.verdict, program)
        if program is None:
            return replace(probed, verdict=verdict, details=details)
        line = probed.line - program.cell(probed.line).first + 1
        return replace(probed, path=program.notebook, line=line, verdict=verdict, details=details)

    def _text(self, text: str) -> str:
        """A text in which the places of programs are those of notebooks."""
        for program in self._known.values():
            for shown in dict.fromkeys((display_path(program.path), str(program.path))):

                def place(match: re.Match[str], program: _Program = program) -> str:
                    cell = program.cell(int(match[1]))
                    return f"{program.notebook}:cell {cell.cell}:{int(match[1]) - cell.first + 1}"

                text = re.sub(rf"{re.escape(shown)}:(\d+)", place, text).replace(shown, program.notebook)
        return text


@contextmanager
def programs() -> Iterator[Programs]:
    """A place for the programs of notebooks, which is gone afterwards."""
    with TemporaryDirectory(prefix="xlalint-notebooks-") as folder:
        yield Programs(Path(folder).resolve())
