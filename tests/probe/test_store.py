"""Verdicts of earlier runs hold as long as what ran is what it was, and follow lines that have moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.protocol import FAILS, Observation, Outcome, Plan, Spot
from xlalint.probe.store import Store
from xlalint.probe.target import Target

CODE = """\
import tensorflow as tf

SIZE = 4


def other(x):
    return x


class Tool:
    def helper(self, x):
        return x[:SIZE]


def f(x):
    def inner(y):
        return y + 1.0

    return inner(Tool().helper(x))
"""
RAN = ("helper", "f", "inner")


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path / "a.py"


def target(file: Path) -> Target:
    start = line_of(file.read_text(), "def f(")
    return Target(str(file), "f", (start, start + 4))


def store(file: Path) -> Store:
    """As a new run opens it."""
    return Store(file.parent / "cache", "an interpreter")


def outcome(file: Path) -> Outcome:
    text = file.read_text()
    failed = Observation(FAILS, "it fails", (Spot(str(file), line_of(text, "[:SIZE]")),))
    ran = tuple(line_of(text, f"def {name}(") for name in RAN)
    return Outcome(observations=(failed,), ran={str(file): ran}, reached={str(file): ran})


def saved(file: Path) -> None:
    store(file).save(target(file), Plan(), outcome(file))


def test_an_outcome_is_found_again(file: Path) -> None:
    assert store(file).load(target(file), Plan()) is None
    saved(file)
    assert store(file).load(target(file), Plan()) == outcome(file)


@pytest.mark.parametrize(
    ("before", "after"),
    [("    return x\n", "    x = x + 1\n    return x\n"), ("    return x\n", "    return -x  # another\n")],
)
def test_what_did_not_run_may_change(file: Path, before: str, after: str) -> None:
    saved(file)
    file.write_text(CODE.replace(before, after, 1))
    assert store(file).load(target(file), Plan()) == outcome(file), "with its lines as they are now"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SIZE = 4", "SIZE = 3"),
        ("x[:SIZE]", "x[: SIZE - 1]"),
        ("y + 1.0", "y + 2.0"),
        ("def other(x)", "def other(x, y=1)"),
        ("import tensorflow as tf\n", "import tensorflow as tf\nimport os\n"),
    ],
)
def test_what_ran_may_not(file: Path, before: str, after: str) -> None:
    saved(file)
    file.write_text(CODE.replace(before, after))
    assert store(file).load(target(file), Plan()) is None


def test_other_inputs_are_another_outcome(file: Path) -> None:
    saved(file)
    assert store(file).load(target(file), Plan(gradients=False)) is None


def test_accidents_are_not_kept(file: Path) -> None:
    store(file).save(target(file), Plan(), Outcome(not_run="too slow", death="did not finish", ran=outcome(file).ran))
    assert store(file).load(target(file), Plan()) is None


def test_damage_is_passed_over(file: Path) -> None:
    saved(file)
    for entry in (file.parent / "cache" / "probe").glob("*.json"):
        entry.write_text("{")
    assert store(file).load(target(file), Plan()) is None
