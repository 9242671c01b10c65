"""Python's garbage, in a process that runs on: it is collected between runs, while nobody waits."""

from __future__ import annotations

import gc


def left() -> int:
    """About how many objects runs have left since garbage was collected last."""
    return gc.get_count()[0]


def collect() -> None:
    """Free what the last runs left: what was there before them is frozen, and not looked through."""
    gc.collect()
    gc.freeze()


def collect_all() -> None:
    """Look through all objects, which takes seconds in a large project."""
    gc.unfreeze()
    collect()
