"""Calls that no search finds, or that show more than the first that is accepted: written by hand in `recipes.json`.

By canonical name the plain call, or `call` and `cases`: other calls, and what they vary, where that is not just one
argument of the plain call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_WRITTEN: Final = Path(__file__).with_name("recipes.json")


@dataclass(frozen=True)
class Recipe:
    """The plain call of a callable, and cases beside it: what is varied, and the call."""

    call: str
    cases: tuple[tuple[Mapping[str, str], str], ...] = field(default=())


def recipes() -> dict[str, Recipe]:
    """By canonical name."""
    found = {}
    for name, written in json.loads(_WRITTEN.read_text(encoding="utf-8")).items():
        if isinstance(written, str):
            found[name] = Recipe(written)
        else:
            cases = tuple((case["varied"], case["call"]) for case in written["cases"])
            found[name] = Recipe(written["call"], cases)
    return found
