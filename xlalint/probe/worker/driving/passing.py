"""Inputs that a project itself passes, for a definition of which it is known how it is run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from xlalint.sources.packages import is_test

from ..code.importing import Loaded, LoadError, load
from ..inputs.parts import Assignment
from ..inputs.passed import PassedCall, Project, shrunk, with_passed
from .harnesses import Harness

_MOST: Final = 3  # calls whose arguments are tried


@dataclass
class Passing:
    """What the project below some roots passes. `search`: folders to import from; `loaded`: gets what is imported for
    this."""

    roots: tuple[str, ...]
    search: tuple[str, ...]
    loaded: list[Loaded]
    _spaces: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)

    def to(self, harness: Harness) -> list[Assignment]:
        """The first guesses with what is passed in their places: with other numbers, and as it is."""
        names = {"call": getattr(harness.entry, "co_name", ""), "init": getattr(harness.owner, "__name__", "")}
        groups = {slot.group for slot in harness.slots}
        project = Project(self.roots, self._space_of)
        calls = {group: list(islice(project.passed(name), _MOST)) for group, name in names.items() if group in groups}
        found: list[Assignment] = []
        for number in range(max(map(len, calls.values()), default=0)):
            chosen: dict[str, PassedCall] = {
                group: several[min(number, len(several) - 1)] for group, several in calls.items() if several
            }
            for as_tensors in (True, False):
                drawn = with_passed(harness.slots, chosen, generated=True, as_tensors=as_tensors)
                found.append(small := shrunk(drawn))
                if small == drawn:  # what is large is not run as it is
                    found.append(with_passed(harness.slots, chosen, generated=False, as_tensors=as_tensors))
        return found

    def _space_of(self, path: str) -> Mapping[str, Any] | None:
        """What a file has at its top: one that is imported, or a test, which is imported for that."""
        if path not in self._spaces:
            held = (module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == path)
            module = next(held, None)
            self._spaces[path] = vars(module) if module is not None else self._of_test(path)
        return self._spaces[path]

    def _of_test(self, path: str) -> Mapping[str, Any] | None:
        if not is_test(Path(path)):
            return None
        try:
            loaded = load(Path(path), self.search)
        except LoadError:
            return None
        self.loaded.append(loaded)
        return vars(loaded.module)
