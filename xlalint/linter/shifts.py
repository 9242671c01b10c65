"""What earlier runs left of files whose comments, docstrings or blank lines have changed since, or definitions that
were not read for it: the same, on other lines. Where the change may matter to what was found, nothing is said, and the
files are analysed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from operator import attrgetter
from typing import Final

import msgspec

from ..analysis.files.file import SMALL, File, names_tensorflow, stores
from ..analysis.fixpoint.partitions import Key, Message, Round, UncalledFunction
from ..analysis.program.decorator_texts import names_compilers
from ..analysis.program.signs import ModuleSigns
from ..findings.findings import Edit, Finding, Fix, Note, Span, TrailStep
from ..sources.outline import Stretch
from ..sources.text import Source
from ..sources.trivia import shift
from ..sources.words import words_in
from .gravest import Candidate

_PLAIN: Final = re.compile(r"[\w.]*(?:: \w+)?")  # the name in the key of a function that is not made inside another


class MovedTooFarError(Exception):
    """What was recorded of a file may be otherwise now."""


@dataclass(frozen=True)
class FileShift:
    """A file whose code is the same in two versions, but for that of the `edited` definitions, by where they stood.
    `lines`, `altered`: as in `Shift`."""

    before: File
    after: File
    lines: Mapping[int, int]
    altered: frozenset[int]
    edited: Mapping[Stretch, Stretch] = field(default_factory=dict)

    @classmethod
    def between(cls, before: Source, after: File, *, whole: bool) -> FileShift | None:
        """None where other code is not the same, or what has changed tells the analysis something. `whole`: no
        definition may have changed."""
        if before.cells or after.source.cells:
            return None
        found = shift(before.text, after.source.text)
        if found is None and whole:
            return None
        earlier = File(before)
        if earlier.interface != after.interface or _facts(earlier) != _facts(after):
            return None
        moved = _edited(earlier, after) if found is None else cls(earlier, after, found.lines, found.altered)
        return moved if moved is not None and moved._holds() else None

    def _holds(self) -> bool:
        """Whether each definition says the same to those who search its text."""
        try:
            return all(
                _answers(self.before.peek(stretch)) == _answers(self.after.peek(self._now(stretch)))
                for stretch in self.changed
            ) and self.words.isdisjoint(self.before.outline.bindings)
        except MovedTooFarError:
            return False

    def _now(self, stretch: Stretch) -> Stretch:
        return self.edited.get(stretch) or self.stretch(stretch)

    @cached_property
    def changed(self) -> frozenset[Stretch]:
        """The definitions, by where they stood, whose text is another. Raises MovedTooFarError where one is gone."""
        found = set(self.edited)
        for stretch in self.before.stretches:
            if stretch in self.edited:
                continue
            state = self.after.state_of(self.stretch(stretch))
            if state is None:
                raise MovedTooFarError
            if state != self.before.state_of(stretch):
                found.add(stretch)
        return frozenset(found)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that the versions have not at all, once, or more than once alike."""
        old, new = (Counter(words_in(file.source.text)) for file in (self.before, self.after))
        return frozenset(word for word in old.keys() | new.keys() if min(old[word], 2) != min(new[word], 2))

    @cached_property
    def _has_other_words(self) -> bool:
        old, new = (set(words_in(file.source.text)) for file in (self.before, self.after))
        return old != new

    def line(self, number: int) -> int:
        """Where a line stands now. Raises MovedTooFarError."""
        try:
            return self.lines[number]
        except KeyError:
            raise MovedTooFarError from None

    def stretch(self, stretch: Stretch) -> Stretch:
        """Where a stretch stands now. Raises MovedTooFarError where its code is another one."""
        if stretch in self.edited:
            raise MovedTooFarError
        return Stretch(self.line(stretch.first), self.line(stretch.last))

    def span(self, span: Span) -> Span:
        """Where a span stands now. Raises MovedTooFarError where its lines read otherwise."""
        return replace(
            span, line=self._same(span.line, span.column), end_line=self._same(span.end_line, span.end_column)
        )

    def _same(self, number: int, column: int) -> int:
        if number not in self.lines and column == 1:  # the end of the line before
            return self._same(number - 1, 0) + 1
        if number in self.altered:
            raise MovedTooFarError
        return self.line(number)

    def check_place(self, span: Span) -> None:
        """Raises MovedTooFarError where a rewrite of what stands there may have to do with what has changed."""
        around = [one for one in self.before.stretches if one.first <= span.line <= one.last]
        if not self.changed.isdisjoint(around) or (self._has_other_words and not self._is_function(around)):
            raise MovedTooFarError

    def _is_function(self, around: list[Stretch]) -> bool:
        return any(stretch in self.before.function_stretches for stretch in around)

    def name(self, line: int, name: str) -> str:
        """The name of a function in its key: its text, if it is made inside another one. Raises MovedTooFarError."""
        if _PLAIN.fullmatch(name) or not any(one.first == line for one in self.changed):
            return name
        if name not in self.after.source.text:
            raise MovedTooFarError
        return name


def _edited(before: File, after: File) -> FileShift | None:
    """Two versions with the same definitions in the same order, some of which have other code, or other comments
    around them."""
    old, new = (sorted(file.stretches, key=attrgetter("first", "last")) for file in (before, after))
    if [before.addresses[stretch] for stretch in old] != [after.addresses[stretch] for stretch in new]:
        return None
    lines, edited = dict[int, int](), dict[Stretch, Stretch]()
    for here, there in zip(_parts(before, old), _parts(after, new), strict=True):
        one, other = before.peek_lines(here), after.peek_lines(there)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        if one != other:
            edited[here] = there
        lines.update(zip(range(here.first, here.first + same), range(there.first, there.first + same), strict=True))
    return FileShift(before, after, lines, frozenset(), edited)


def _parts(file: File, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """All lines of a file, each once: its stretches, in their order, and what stands between them, nothing perhaps."""
    first = 1
    for stretch in stretches:
        yield Stretch(first, stretch.first - 1)
        yield stretch
        first = stretch.last + 1
    yield Stretch(first, file.last_line)


def _facts(file: File) -> object:
    """What the text of a file says as a whole to those who search it, beside its interface."""
    return file.is_script, file.tells_keras, len(file.source.text) < SMALL


def _answers(text: str) -> object:
    return names_tensorflow(text), stores(text), names_compilers(text)


@dataclass(frozen=True, slots=True)
class Moved:
    """What is recorded of some files, as it reads now. `by_path`: their shifts, by the paths in records. All of it
    raises MovedTooFarError where something may be otherwise now."""

    by_path: Mapping[str, FileShift]

    def candidate(self, candidate: Candidate) -> Candidate:
        on_tpu = None if candidate.on_tpu is None else self.candidate(candidate.on_tpu)
        alone = None if candidate.on_tpu_alone is None else self.candidate(candidate.on_tpu_alone)
        return replace(candidate, finding=self._finding(candidate.finding), on_tpu=on_tpu, on_tpu_alone=alone)

    def _finding(self, finding: Finding) -> Finding:
        context, fix, here = finding.context, finding.fix, self.by_path.get(finding.path)
        if context is not None and any(step.path in self.by_path for step in context.trail):
            context = replace(context, trail=tuple(map(self._step, context.trail)))
        notes = tuple(map(self._note, finding.notes))
        if here is None:
            return replace(finding, context=context, notes=notes)
        here.check_place(finding.span)
        if fix is not None:
            fix = replace(fix, edits=self._edits(here, fix), imports=tuple(_edit(here, edit) for edit in fix.imports))
        return replace(finding, span=here.span(finding.span), context=context, notes=notes, fix=fix)

    def _edits(self, here: FileShift, fix: Fix) -> tuple[Edit, ...]:
        for edit in fix.edits:
            here.check_place(edit.span)
        return tuple(_edit(here, edit) for edit in fix.edits)

    def _step(self, step: TrailStep) -> TrailStep:
        shift = self.by_path.get(step.path)
        return step if shift is None else replace(step, line=shift.line(step.line))

    def _note(self, note: Note) -> Note:
        shift = self.by_path.get(note.path)
        return note if shift is None else replace(note, span=shift.span(note.span))

    def signs(self, module: ModuleSigns) -> ModuleSigns:
        shift = self.by_path.get(module.path)
        if shift is None:
            return module
        signs = {
            shows: msgspec.structs.replace(sign, line=shift.line(sign.line)) if sign.line else sign
            for shows, sign in module.signs.items()
        }
        return msgspec.structs.replace(module, signs=signs)

    def round(self, made: Round) -> Round:
        return Round(self._message(made.sent), self._keys(made.named), self._keys(made.unnamed), made.followed)

    def _message(self, message: Message) -> Message:
        roots = tuple(
            UncalledFunction(root.position, self.key(root.key), frozenset(map(self.key, root.below)))
            for root in message.roots
        )
        return Message(frozenset(map(self.key, message.functions)), roots)

    def _keys(self, keys: set[Key]) -> set[Key]:
        return set(map(self.key, keys))

    def key(self, key: Key) -> Key:
        path, line, name = key
        shift = self.by_path.get(path)
        return key if shift is None or not line else (path, shift.line(line), shift.name(line, name))


def _edit(here: FileShift, edit: Edit) -> Edit:
    return replace(edit, span=here.span(edit.span))
