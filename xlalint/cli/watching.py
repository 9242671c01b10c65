"""`xlalint check --watch`: another run whenever a file has changed that is checked, or that says how."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

import click

from ..findings.codes import SelectorError
from ..findings.rule_files import RulesError
from ..linter.run import files_to_check
from ..settings.config import Settings
from ..settings.layers import ConfigurationError
from ..sources.discovery import SETTINGS_FILES
from .console import complain, write

_PAUSE: Final = 0.5  # seconds between looks
_SHARE: Final = 10  # a pause is so many times as long as a look takes
_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"  # the screen, and what has scrolled out of it
_SAYING: Final = (*SETTINGS_FILES, "requirements.txt", "setup.cfg", "setup.py")

State: TypeAlias = dict[str, tuple[int, int]]


def watch(
    paths: Sequence[str], load: Callable[[], Settings], run: Callable[[Settings], object], *, writes: bool
) -> NoReturn:
    """Run now and after every change, until the process is interrupted. Settings that cannot be used, and what else
    would end a single run, are told, and the next change is waited for. `writes`: a run may write to the files itself.
    Raises OutputError."""
    gc.enable()  # a process that runs on must give memory back
    settings: Settings | None = None
    while True:
        if sys.stdout.isatty():
            write(_CLEAR)
        seen = _state(paths, settings)
        try:
            settings = load()
            seen = _state(paths, settings)
            run(settings)
        except click.ClickException as error:
            complain(error.format_message())
        except (ConfigurationError, RulesError, SelectorError) as error:
            complain(str(error))
        if writes:
            seen = _state(paths, settings)
        gc.collect()
        complain(f"watching {', '.join(paths)} for changes; Ctrl-C ends", label="xlalint")
        while True:
            started = time.monotonic()
            if _state(paths, settings) != seen:
                break
            time.sleep(max(_PAUSE, _SHARE * (time.monotonic() - started)))


def _state(paths: Sequence[str], settings: Settings | None) -> State:
    """What changes with the files that a run is about, by their paths."""
    files: Iterable[Path] = map(Path, paths)
    if settings is not None:
        around = [settings.project] if settings.project is not None else []
        try:
            files = [file.path for file in files_to_check([*paths, *around], settings)[0]]
        except ConfigurationError:  # of a folder in the tree; the next run tells
            files = []
    folders = {folder for file in (*files, Path.cwd() / "_") for folder in file.absolute().parents}
    every = [*map(str, files), *(os.path.join(folder, name) for folder in folders for name in _SAYING)]
    return {path: state for path in every if (state := _state_of(path)) is not None}


def _state_of(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
