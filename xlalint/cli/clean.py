"""`xlalint clean`: removes the caches of earlier runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from .console import CLEAN, FAILED, complain, write


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def clean(paths: tuple[Path, ...]) -> int:
    """Remove the caches of earlier runs in folders (default: the current one) and below them.

    Only folders that a run has marked as a cache are removed. The next run takes longer.
    """
    from ..settings.config import DEFAULT_CACHE_DIR
    from ..sources.cachedir import is_cache

    failed = False
    for path in paths or (Path(),):
        for folder in sorted(path.rglob(DEFAULT_CACHE_DIR)):
            if not is_cache(folder):
                continue
            try:
                shutil.rmtree(folder)
                write(f"Removed {folder}\n")
            except OSError as error:
                complain(f"{folder}: {error.strerror or error}")
                failed = True
    return FAILED if failed else CLEAN
