"""The guide shows the rooms as they are, its words and files exist, and no room has become the house."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import pytest

from tests import ROOT
from tests.architecture.rooms import GUIDE, arrows, diagram, drawn, room_of, without_detours

LARGEST = 0.15  # of all lines
MOST_LINES = 500
# Modules that are longer, each for a reason.
LONGER = {
    "xlalint/analysis/domain/values.py": "abstract values and the definitions that they name are one recursive type",
    "xlalint/fixes/branches.py": "the rewrites of one branch, which share what is known of its sides",
}


def lines_by_file() -> Counter[str]:
    return Counter(
        {
            path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n")
            for folder in ("xlalint", "rules")
            for path in (ROOT / folder).rglob("*.py")
        }
    )


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    shown = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.suffix != ".egg-info"}
    made = {"build", "dist", "__pycache__"}
    assert shown - made == {"LICENSE", "README.md", "examples", "pyproject.toml", "rules", "tests", "xlalint"}


def test_the_guide_shows_the_rooms_as_they_are() -> None:
    assert drawn(GUIDE.read_text("utf-8")) == diagram(), "python -m tests.architecture"


def test_a_circle_is_told() -> None:
    with pytest.raises(ValueError, match="a -> b -> a"):
        without_detours({"a": frozenset("b"), "b": frozenset("a")})
    assert without_detours({"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}) == {
        "a": frozenset("b"),
        "b": frozenset("c"),
        "c": frozenset(),
    }


def test_no_room_is_the_whole_house() -> None:
    by_room: Counter[str] = Counter()
    for file, count in lines_by_file().items():
        room = room_of(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        if room is not None:
            by_room[room] += count
    total = by_room.total()
    del by_room["rules"]  # one file a rule, however many there are
    assert {room: count for room, count in by_room.items() if count > LARGEST * total} == {}


def test_no_module_is_a_room_by_itself() -> None:
    assert {file for file, count in lines_by_file().items() if count > MOST_LINES} == set(LONGER)


def test_every_room_says_what_may_live_there() -> None:
    packages = [path for folder in ("xlalint", "rules") for path in (ROOT / folder).rglob("__init__.py")]
    silent = [str(path.relative_to(ROOT)) for path in packages if not path.read_text("utf-8").startswith('"""')]
    assert silent == []


def test_files_that_the_guide_names_exist() -> None:
    named = re.findall(r"`((?:xlalint|rules|tests)/[\w/.]+\.\w+)`", GUIDE.read_text("utf-8"))
    assert named
    assert [file for file in named if not (ROOT / file).exists()] == []


def test_rooms_are_found_by_their_imports() -> None:
    rooms = arrows()
    assert "syntax" in rooms["analysis.interpreter"]
    assert rooms["findings"] == frozenset()


def test_every_room_is_installed() -> None:
    packages = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "xlalint").rglob("__init__.py")} | {
        "xlalint.rules"
    }
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    assert listed == sorted(packages)
