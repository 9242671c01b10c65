"""Verdicts of earlier runs. An outcome holds as long as what ran is what it was: the functions and their callees, the
code at the top of their modules, the inputs, and the versions of the libraries. Data only, and may be deleted.
"""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from ..cache.folder import Folder
from ..cache.keys import key_of
from .protocol import Outcome, Plan, Spot
from .target import Target

_KEPT: Final = 4096  # outcomes; the oldest go first
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _File(msgspec.Struct):
    """What an outcome depends on in one file: the functions that ran, the digest of what that leaves, and its lines."""

    names: list[str]
    digest: str
    lines: list[tuple[int, int]]


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    outcome: Outcome
    files: dict[str, _File]


class Store:
    """Outcomes in a cache, for what runs the code, by its identity."""

    def __init__(self, cache: Path, identity: str) -> None:
        self._folder = Folder(cache, _KEPT, "probe")
        self._identity = identity
        self._sources: dict[str, Source | None] = {}

    def load(self, target: Target, plan: Plan) -> Outcome | None:
        """The outcome of a target, with its lines as they are now; None when there is none that still holds."""
        data = self._folder.load(self._key(target, plan))
        if data is None:
            return None
        try:
            entry = msgspec.json.decode(data, type=_Entry)
        except msgspec.DecodeError:  # damaged, or another version's
            return None
        moved: dict[str, dict[int, int]] = {}
        for path, known in entry.files.items():
            source = self._source(path)
            if source is None or (now := source.skeleton(frozenset(known.names))).digest != known.digest:
                return None
            before = (line for first, last in known.lines for line in range(first, last + 1))
            after = (line for first, last in now.lines for line in range(first, last + 1))
            moved[path] = dict(zip(before, after, strict=True))
        return _moved(entry.outcome, moved)

    def save(self, target: Target, plan: Plan, outcome: Outcome) -> None:
        """Keep an outcome, unless it is one of a limit or an accident, which another run may not have."""
        if outcome.death is not None or target.file not in outcome.ran:
            return
        files: dict[str, _File] = {}
        for path, first_lines in outcome.ran.items():
            source = self._source(path)
            if source is None:
                return
            names = source.names_at(frozenset(first_lines))
            left = source.skeleton(names)
            files[path] = _File(sorted(names), left.digest, left.lines)
        self._folder.store(self._key(target, plan), msgspec.json.encode(_Entry(outcome, files)))

    def _source(self, path: str) -> Source | None:
        """A file as it is at the time of this run; None when it cannot be read or parsed."""
        if path not in self._sources:
            try:
                self._sources[path] = Source(Path(path))
            except (OSError, SyntaxError):
                self._sources[path] = None
        return self._sources[path]

    def _key(self, target: Target, plan: Plan) -> str:
        start = target.lines[0]
        placed = replace(target, lines=(0, 0), wanted=tuple(line - start for line in target.wanted))
        return key_of((json.dumps(placed.to_json()), json.dumps(dataclasses.asdict(plan)), self._identity))


# -- what of a file an outcome depends on -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Skeleton:
    """A file without the bodies of the functions that did not run: the digest of what is left, and its lines."""

    digest: str
    lines: list[tuple[int, int]]


class Source:
    """A file, and its functions by qualified name, the outer before the inner. Raises OSError and SyntaxError."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self._lines = data.split(b"\n")
        try:
            self._functions = list(_named(ast.parse(data), ""))
        except ValueError as error:  # null bytes
            raise SyntaxError(str(error)) from error

    def names_at(self, first_lines: Set[int]) -> frozenset[str]:
        """The names of the functions that begin at certain lines."""
        return frozenset(name for name, node in self._functions if _first_line(node) in first_lines)

    def skeleton(self, names: Set[str]) -> Skeleton:
        """What is left when only the named functions matter."""
        dropped: set[int] = set()
        kept: set[int] = set()
        for name, node in self._functions:
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            if name in names:
                kept.update(body)
            elif not kept.issuperset(body):  # what stands inside of a function that ran is part of its text
                dropped.update(line for line in body if line > node.lineno)
        left = [number for number in range(1, len(self._lines) + 1) if number in kept or number not in dropped]
        digest = key_of(self._lines[number - 1].decode("utf-8", "backslashreplace") for number in left)
        return Skeleton(digest, list(_ranges(left)))


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for location, number in enumerate(numbers):
        if location + 1 == len(numbers) or numbers[location + 1] != number + 1:
            yield numbers[start], number
            start = location + 1


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield f"{prefix}{child.name}", child
            yield from _named(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _named(child, f"{prefix}{child.name}.")
        else:
            yield from _named(child, prefix)


def _first_line(node: _Function) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


# -- lines that have moved --------------------------------------------------------------------------------------------


def _moved_spot(spot: Spot, line: int) -> Spot:
    """A spot at the line where it is now; its expression has moved as far."""
    further = line - spot.line
    match spot.span:
        case (first, start, last, end):
            return Spot(spot.path, line, (first + further, start, last + further, end))
    return Spot(spot.path, line)


def _moved(outcome: Outcome, moved: Mapping[str, Mapping[int, int]]) -> Outcome:
    """An outcome whose lines are those of the files as they are now."""
    if all(line == now for lines in moved.values() for line, now in lines.items()):
        return outcome

    def line(path: str, number: int) -> int:
        return moved.get(path, {}).get(number, number)

    def change(part: Any) -> Any:
        """The same with every spot moved."""
        if isinstance(part, Spot):
            return _moved_spot(part, line(part.path, part.line))
        if isinstance(part, tuple):
            return tuple(map(change, part))
        if dataclasses.is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{one.name: change(getattr(part, one.name)) for one in dataclasses.fields(part)})
        return part

    def lines(by_file: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        return {path: tuple(line(path, one) for one in numbers) for path, numbers in by_file.items()}

    changed: Outcome = change(outcome)
    return replace(
        changed, reached=lines(outcome.reached), ran=lines(outcome.ran), unconverted=lines(outcome.unconverted)
    )
