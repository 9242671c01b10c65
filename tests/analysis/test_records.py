"""Records that say themselves when two are equal say the same of when they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.analysis.domain.values import Creation
from xlalint.analysis.files.file import File
from xlalint.analysis.files.unit import Location
from xlalint.sources.text import Source, digest_of
from xlalint.syntax import nodes


@pytest.fixture
def names() -> list[Location]:
    """The places of `a` and `b`, each by itself, and that of `a` once more."""
    text = "a\nb\n"
    file = File(Source(path=Path("a.py"), display="a.py", text=text, digest=digest_of(text.encode())))
    [stretch] = file.outline.code
    unit = file.unit(stretch)
    first, second = (node for node in nodes.within(unit.tree) if isinstance(node, nodes.Name))
    return [Location(unit, first), Location(unit, second), Location(unit, first)]


def test_places_are_equal_or_not(names: list[Location]) -> None:
    first, second, again = names
    assert (first == again, first != again) == (True, False)
    assert (first == second, first != second) == (False, True)


def test_creations_are_equal_or_not(names: list[Location]) -> None:
    first, second, again = map(Creation, names)
    assert (first == again, first != again) == (True, False)
    assert (first == second, first != second) == (False, True)
