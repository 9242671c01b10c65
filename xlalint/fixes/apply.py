"""Which fixes of a file are made together, and the file with them made."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from ..findings.findings import Edit, Fix
from ..sources.reading import source_of
from ..sources.text import OversizedSource, UnreadableSource
from ..sources.write import UnwritableSource, edited


def apply_fixes(data: bytes, fixes: Iterable[Fix], path: Path) -> tuple[bytes, list[Fix], list[Fix]]:
    """A file's content with fixes applied, those that were, and those that would not leave Python.

    Of fixes that meet, the outermost is applied, and of those the first. Raises `UnwritableSource`.
    """
    chosen = compatible(fixes)
    changed = edited(data, edits_of(chosen), path)
    if _is_oversized(changed, path):
        raise UnwritableSource("with its fixes the file would be too long to check again")
    trouble = _trouble(data, path)
    if _trouble(changed, path) <= trouble:
        return changed, chosen, []
    applied: list[Fix] = []
    broken: list[Fix] = []
    for fix in chosen:
        sound = _trouble(edited(data, edits_of([*applied, fix]), path), path) <= trouble
        (applied if sound else broken).append(fix)
    return edited(data, edits_of(applied), path), applied, broken


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Those that can be made together: of fixes that meet, the outermost, and of those the first."""
    taken: list[Fix] = []
    farthest: Fix | None = None  # the one that ends last: what begins later and meets any meets that one
    for fix in sorted(dict.fromkeys(fixes), key=_outermost_first):
        if farthest is not None and (_meet(fix, farthest) or _meet(fix, taken[-1])):
            continue
        taken.append(fix)
        if farthest is None or _reach(fix)[1] >= _reach(farthest)[1]:
            farthest = fix
    return taken


def edits_of(fixes: Sequence[Fix]) -> list[Edit]:
    """What fixes change together: an import that several need is made once."""
    imports = dict.fromkeys(edit for fix in fixes for edit in fix.imports)
    return [*imports, *(edit for fix in fixes for edit in fix.edits)]


def _is_oversized(data: bytes, path: Path) -> bool:
    try:
        source_of(data, path, path.name)
    except OversizedSource:
        return True
    except UnreadableSource:
        pass  # which is another trouble
    return False


def _trouble(data: bytes, path: Path) -> float:
    """How many cells of a notebook are not Python; infinitely many where a file is not."""
    try:
        source = source_of(data, path, path.name)
        ast.parse(source.text)
    except (UnreadableSource, SyntaxError, ValueError):
        return math.inf
    return len(source.trouble)


_Position: TypeAlias = tuple[int, int, int]  # cell, line, column


def _reach(fix: Fix) -> tuple[_Position, _Position]:
    """From a fix's first edit to the end of its last: what lies between belongs together."""
    first, last = fix.edits[0], fix.edits[-1]
    start, end = first.span, last.span
    return (first.cell or 0, start.line, start.column), (last.cell or 0, end.end_line, end.end_column)


def _outermost_first(fix: Fix) -> tuple[_Position, _Position]:
    start, (cell, line, column) = _reach(fix)
    return start, (-cell, -line, -column)


def _meet(one: Fix, other: Fix) -> bool:
    first, second = sorted((_reach(one), _reach(other)))
    return second[0] < first[1] or first == second
