"""Inputs that end the process in which they are tried, and what else is not tried because of them. Standard library
only: both sides of the probe import it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from .protocol import SEARCH

ENDED: Final = "these inputs ended the process"  # what is said instead of trying them
_BETWEEN: Final = "; "
_ABORTED: Final = "aborted "
_SIZES: Final = re.compile(r"(?<=[\[ ])\d+(?=[\],])")  # of a tensor, in what inputs are called


def stage_of(inputs: Iterable[object], value_set: int) -> str:
    """The stage of the search at which inputs are tried."""
    return _BETWEEN.join([SEARCH, *map(str, inputs), f"set {value_set}"])


def aborted(stage: str) -> str:
    """A stage at which a library ended the process: it takes no tensors of such ranks, whatever their sizes are."""
    return _ABORTED + _SIZES.sub("_", stage)


def is_avoided(stage: str, avoid: Collection[str]) -> bool:
    """Whether a stage is one at which the process ended, or has the tensors which all stages have in common at which a
    library ended it."""
    if stage in avoid:
        return True
    parts = _SIZES.sub("_", stage).split(_BETWEEN)
    dead = [one.removeprefix(_ABORTED).split(_BETWEEN) for one in avoid if one.startswith(_ABORTED)]
    at_fault = {
        (number, several[0])
        for number, several in enumerate(zip(*dead, strict=False))
        if len(set(several)) == 1 and "[" in several[0]
    }
    return parts in dead or (bool(at_fault) and at_fault <= set(enumerate(parts)))
