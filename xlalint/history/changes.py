"""Which findings came with the changes since a revision: those in lines that changed, and those in other lines that
were not there, or were less grave, when the revision's own files are analysed."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from ..cache.folder import Folder
from ..cache.keys import key_of
from ..findings.findings import Finding, Report, Severity
from ..linter.inputs import settings_parts
from ..linter.run import check, files_to_check
from ..reports.terminal import counted
from ..settings.config import Settings, inferred_anew
from ..sources.discovery import PathPatterns
from ..sources.reading import source_of
from ..sources.scratch import Scratch
from ..sources.text import Source, UnreadableSource, split_lines
from .git import Repository
from .isolated import GitError
from .marks import Content, contents, is_under

_SUFFIXES: Final = (".py", ".ipynb", "pyproject.toml", "setup.cfg", ".txt")  # code, and what it requires
_KEPT: Final = 8
_Where: TypeAlias = tuple[str, str, int, int]  # path in the repository, code, line of the text, column
Lines: TypeAlias = Mapping[int, int]
"""Where each line that has not changed stood before."""


def same_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The lines of `new` that come from `old`, as they are there; both count from 1."""
    # The longest stretch is found first: code that was added beside its like is what is new, not half of each.
    blocks = difflib.SequenceMatcher(None, old, new).get_matching_blocks()
    return {after + at: before + at for before, after, size in blocks for at in range(1, size + 1)}


class Since:
    """The changes in the work tree since a revision. Raises GitError."""

    def __init__(self, revision: str, paths: Sequence[str | Path], settings: Settings) -> None:
        self._revision, self._settings = revision, settings
        self._paths = [Path(os.path.abspath(path)) for path in paths]
        self._repository = Repository.around(Path(os.path.realpath(self._paths[0])))
        root = self._repository.root
        for path in self._paths:
            if not Path(os.path.realpath(path)).is_relative_to(root):
                raise GitError(f"{path} is outside the repository {root}")
        self._commit = self._repository.base_of(revision)
        # By path, the path then, or None for a file that is new.
        self._changed = {_shown(path): before for path, before in self._repository.changes(self._commit).items()}

    def narrow(self, report: Report, overlay: Mapping[str, bytes]) -> Report:
        """The findings that the changes brought. `overlay`: what is in files now, by their paths as reports show
        them. Raises GitError."""
        read = _reader(contents(overlay))

        @lru_cache(maxsize=32)
        def lines(shown: str) -> Lines | None:
            return self._lines(shown, read(shown), shown in overlay)

        kept: list[Finding] = []
        unchanged: list[tuple[Finding, _Where]] = []
        for finding in report.findings:
            first, last = _lines_of(finding, read(finding.path))
            same = lines(finding.path)
            if same is None:
                unchanged.append((finding, (self._then(finding.path), finding.code, first, finding.span.column)))
            elif any(line not in same for line in range(first, last + 1)):
                kept.append(finding)
            else:
                where = (self._then(finding.path), finding.code, same[first], finding.span.column)
                unchanged.append((finding, where))
        if unchanged and (self._changed or overlay):
            kept += [one for one, where in unchanged if one.severity > self._before.get(where, 0)]
        kept.sort(key=lambda finding: finding.sort_key)
        left = len(report.findings) - len(kept)
        remark = f"{counted(left, 'finding')} of {self._revision} not shown (--diff-base)."
        return replace(report, findings=tuple(kept), remarks=(*report.remarks, *([remark] if left else [])))

    def _lines(self, shown: str, source: Source | None, overlaid: bool) -> Lines | None:
        """Where the lines of a file stood that have not changed; None for a file that is what it was."""
        path = self._path(shown)
        if path not in self._changed and not overlaid:
            return None
        before = self._changed.get(path, path)
        if before is None or source is None:
            return {}
        then = _source(self._repository.content(self._commit, before), before)
        return {} if then is None else same_lines(split_lines(then.text), split_lines(source.text))

    def _path(self, shown: str) -> str:
        """A file's path in the repository, from its path as reports show it."""
        folder, name = os.path.split(os.path.abspath(shown))
        return os.path.relpath(os.path.join(os.path.realpath(folder), name), self._repository.root).replace(os.sep, "/")

    def _then(self, shown: str) -> str:
        path = self._path(shown)
        return _shown(self._changed.get(path) or path)

    @cached_property
    def _before(self) -> dict[_Where, Severity]:
        """What there was to find in the files of the commit; analysed once, and kept with other results."""
        places = sorted(self._places_then())
        settings = self._settings
        folder = Folder(settings.cache_dir, _KEPT, "revisions") if settings.cache_dir else None
        tree, root = self._repository.tree_of(self._commit), str(self._repository.root)
        where = (tree, root, repr(places), repr(settings.exclude), repr(sorted(settings.inferred)))
        near = [
            part for folder, here in self._near() for part in (str(folder), repr(here.exclude), *settings_parts(here))
        ]
        key = key_of((*where, *settings_parts(settings), *near))
        found = _decoded(folder.load(key)) if folder else None
        if found is None:
            found = self._analyse(places)
            if folder:
                folder.store(key, json.dumps([[*where, int(severity)] for where, severity in found.items()]).encode())
        return found

    def _near(self) -> list[tuple[Path, Settings]]:
        """The folders that go by other settings than those of the run, and these."""
        folders = {file.path.parent for file in files_to_check(self._paths, self._settings)[0]}
        of = [(folder, self._settings.of(folder)) for folder in sorted(folders)]
        return [(folder, here) for folder, here in of if here is not self._settings]

    def _places_then(self) -> set[str]:
        """What to check of the commit's files: the same paths, and files that have other names since."""
        tops = [self._path(str(path)) for path in self._paths]
        if self._settings.project is not None:
            tops.append(self._path(str(self._settings.project)))
        renamed = {before for path, before in self._changed.items() if before and is_under(path, tops)}
        return {*tops, *renamed}

    def _analyse(self, places: Iterable[str]) -> dict[_Where, Severity]:
        with Scratch() as name:
            # Under the same name: where the repository is itself a package, that is how it is imported.
            folder = Path(os.path.realpath(name), self._repository.root.name or "root")
            (folder / ".git").mkdir(parents=True)  # what lies above is of no concern
            self._repository.extract(self._commit, _SUFFIXES, folder)
            paths = [folder / place for place in places if (folder / place).exists()]
            report = check(paths, inferred_anew(self._settings_in(folder), paths)) if paths else Report(())
            found: dict[_Where, Severity] = {}
            read = _reader(contents({}))
            for finding in report.findings:
                line, _ = _lines_of(finding, read(finding.path))
                path = Path(os.path.abspath(finding.path)).relative_to(folder).as_posix()
                found[path, finding.code, line, finding.span.column] = finding.severity
            return found

    def _settings_in(self, folder: Path) -> Settings:
        """The settings, with what they say of the work tree said of a folder that stands for it."""

        def moved(patterns: PathPatterns) -> PathPatterns:
            root = Path(os.path.realpath(patterns.root))
            if not root.is_relative_to(self._repository.root):
                return patterns
            beside = None if patterns.beside is None else moved(patterns.beside)
            return replace(patterns, root=folder / root.relative_to(self._repository.root), beside=beside)

        def settled(settings: Settings) -> Settings:
            ignores = tuple((moved(patterns), codes) for patterns, codes in settings.per_file_ignores)
            return replace(settings, exclude=moved(settings.exclude), per_file_ignores=ignores)

        @cache
        def near(place: Path) -> Settings | None:
            if self._settings.nearest is None or not place.is_relative_to(folder):
                return None
            found = self._settings.nearest(root / place.relative_to(folder))
            return settled(found) if found is not None else None

        root = self._repository.root
        return replace(settled(self._settings), cache_dir=None, project=None, nearest=near)


def _shown(path: str) -> str:
    """A path as reports show it: bytes of a name that are not UTF-8 are written out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _reader(content: Content) -> Callable[[str], Source | None]:
    """A function that reads sources."""
    return lru_cache(maxsize=32)(lambda shown: _source(content(shown), shown))  # findings come by file


def _source(data: bytes | None, path: str) -> Source | None:
    try:
        return None if data is None else source_of(data, Path(path), path)
    except UnreadableSource:  # which is a finding of its own
        return None


def _lines_of(finding: Finding, source: Source | None) -> tuple[int, int]:
    """The first and the last line that a finding touches, also of a notebook counted in its text as a whole."""
    above = 0
    if source is not None and finding.cell is not None:
        above = next((cell.first - 1 for cell in source.cells if cell.cell == finding.cell), 0)
    return above + finding.span.line, above + finding.span.lines.stop - 1


def _decoded(data: bytes | None) -> dict[_Where, Severity] | None:
    """What an earlier run kept; None for what is damaged."""
    try:
        return None if data is None else {tuple(row[:4]): Severity(row[4]) for row in json.loads(data)}
    except (ValueError, TypeError, IndexError, KeyError):
        return None
