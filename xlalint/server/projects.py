"""The folders that open documents belong to, and the runs over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..analysis.files.session import Session
from ..findings.findings import Narrow, Report, unchanged
from ..history.baseline import Baseline, BaselineError
from ..history.marks import contents
from ..linter.fix_runs import fix
from ..linter.run import Stdin, check
from ..settings import config
from ..settings.config import Settings
from ..settings.layers import ConfigurationError
from ..sources.discovery import SETTINGS_FILES
from ..sources.text import display_path
from .documents import Document

# Bytes of Python, and folders; a project of more is not analysed as a whole while somebody types.
_SMALL: Final = 200_000
_FEW: Final = 200


class Project:
    """A folder, linted as the command line would from there. One run at a time, and always on the same thread: a run
    takes the folder as the working directory of the process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = Settings()
        self.trouble: str | None = None  # why what is found may not be what the project's settings ask for
        self._session = Session()
        self._is_small: bool | None = None
        self._misfit: str | None = None
        self._written: object = None  # what the settings were read from

    def files_changed(self) -> None:
        """Files of the folder have changed, come or gone."""
        self._is_small = self._written = None

    def lint(self, documents: Sequence[Document], stopped: Callable[[], bool]) -> Report:
        """Lint what is open. Raises Stopped, and OSError where the folder is gone."""
        settings = self._settled(documents)
        self._session.stopped = stopped
        overlay = {document.path: document.data for document in documents}
        try:
            report = check(list(overlay), settings, overlay=overlay, session=self._session)
        except ConfigurationError as error:  # of a folder in this one that has settings of its own
            self.trouble = str(error)
            report = check(list(overlay), replace(settings, nearest=None), overlay=overlay, session=self._session)
        return self._narrow(list(overlay))(report, {display_path(path): data for path, data in overlay.items()})

    def fixed(self, document: Document, documents: Sequence[Document], stopped: Callable[[], bool]) -> bytes:
        """What a document becomes by its safe fixes. Raises Stopped, and OSError where the folder is gone."""
        settings = replace(self._settled(documents), unsafe_fixes=False)
        self._session.stopped = stopped
        overlay = {other.path: other.data for other in documents if other.path != document.path}
        given = Stdin(document.path, document.data)
        narrow = self._narrow([document.path])
        outcome = fix([document.path], settings, given, narrow, overlay, self._session)
        return next((change.after for change in outcome.changes), document.data)

    def _narrow(self, paths: Sequence[Path]) -> Narrow:
        """What leaves out the findings that the project's baseline holds, if it has one."""
        if self.settings.baseline is None:
            return unchanged
        try:
            baseline = Baseline.read(self.settings.baseline)
        except BaselineError as error:
            self.trouble = str(error)
            return unchanged

        def narrow(report: Report, overlay: Mapping[str, bytes]) -> Report:
            compared = baseline.compare(report.findings, contents(overlay), paths, self.settings.codes)
            return replace(report, findings=compared.fresh)

        return narrow

    def _settled(self, documents: Sequence[Document]) -> Settings:
        """The settings as they are now."""
        os.chdir(self.root)
        paths = [document.path for document in documents]
        written = *(_state(self.root / name) for name in SETTINGS_FILES), *paths
        if self._written != written:
            try:
                settings, self._misfit = config.load(paths), None
            except ConfigurationError as error:
                settings, self._misfit = self.settings, str(error)
            around = settings.project or (self.root if self._small(settings) else None)
            self.settings = replace(settings, cache_dir=None, jobs=1, force_exclude=True, project=around)
            self._written = written
        self.trouble = self._misfit
        return self.settings

    def _small(self, settings: Settings) -> bool:
        """Whether the whole project can be analysed with what is open, so that callers are seen wherever they are."""
        if self._is_small is None:
            self._is_small = self._looks_small(settings)
        return self._is_small

    def _looks_small(self, settings: Settings) -> bool:
        size = 0
        for folders, (folder, inner, files) in enumerate(os.walk(self.root), 1):
            inner[:] = [name for name in inner if not settings.exclude.covers(Path(folder, name), folder=True)]
            paths = (os.path.join(folder, name) for name in files if name.endswith((".py", ".ipynb")))
            size += sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
            if folders > _FEW or size > _SMALL:
                return False
        return True


def _state(file: Path) -> tuple[int, int] | None:
    """What changes with a file; None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
