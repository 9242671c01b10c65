"""Inputs that a project itself passes, for a definition of which it is known how it is run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from xlalint.sources.packages import is_test
from xlalint.sources.specs import Form

from ..code.importing import Loaded, LoadError, load
from ..inputs.configurations import said_in
from ..inputs.parts import Assignment
from ..inputs.passed import OF_OBJECTS, PassedCall, Project, shrunk, with_passed
from ..inputs.setting_files import as_settings, settings_with
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
        calls = self._calls_for(harness)
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

    def _calls_for(self, harness: Harness) -> dict[str, list[PassedCall]]:
        """The calls of the project, by group of parameters."""
        called, owner = getattr(harness.entry, "co_name", ""), getattr(harness.owner, "__name__", "")
        groups = {slot.group for slot in harness.slots}
        project = Project(self.roots, self._space_of)
        found = {"call": project.called(owner) if called in OF_OBJECTS else project.passed(called)}
        found["init"] = project.passed(owner)
        return {group: list(islice(calls, _MOST)) for group, calls in found.items() if group in groups}

    def settings_of(self, harness: Harness) -> list[Assignment]:
        """The first guesses with what the project says of what an object is made of: a call all of it together, one of
        its files of settings, and different places each of its own."""
        slots = [slot for slot in harness.slots if slot.group == "init" and not slot.fixed and not slot.star]
        needed = frozenset(slot.name for slot in slots if slot.choices[0] is not None)
        if not needed:
            return []
        known = {slot.name for slot in slots}
        forms: list[Mapping[str, Form | None]] = []
        for one in islice(settings_with(self.roots, needed), _MOST):
            chosen = {name: one[name] for name in sorted(known & one.keys())}
            if len(chosen) > 1:
                forms += [
                    {name: as_settings(value, small=it) for name, value in chosen.items()} for it in (True, False)
                ]
        forms.append(said_in(self.roots, tuple(sorted(needed))))
        made_so = self._calls_for(harness).get("init", [])
        found = [with_passed(harness.slots, {"init": call}, generated=True) for call in made_so]
        for several in forms:
            choices = {name: form for name, form in several.items() if form is not None}
            made = tuple(
                choices.get(slot.name, slot.choices[0]) if slot in slots else slot.choices[0] for slot in harness.slots
            )
            found.append(made)
        return list(dict.fromkeys(found))

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
