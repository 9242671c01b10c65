"""How many of the hazards in `cases` the linter finds, and that it says nothing about the look-alikes beside them.

The linter runs as its users run it, once, over the whole folder. `KNOWN_MISSES` and `KNOWN_EFFECTS` list openly what it
does not find or judges otherwise; an entry that is found after all has to be taken out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from tests.compiler import measure
from tests.compiler.claims import claim

from .fixtures import CASES, Case, Hazard, all_cases

FOR_A_TPU = "under a TPU strategy it does not compile"
RECALL = 0.95  # of the hazards must be found
HAZARDS = 160  # at least so many stand in the fixtures, and as many look-alikes

# The fixtures are many cases in one folder: no script of theirs leads to the others.
_OF_NO_PROGRAM = ("--config", "exposure = 'certain'")

# The flagged line's text (in its file) -> why it is not found.
KNOWN_MISSES: dict[tuple[str, str], str] = {
    ("detection.py", "left, top, right, bottom = boxes"): "an argument that is unpacked may be a tuple of tensors",
    ("text.py", "return tf.reduce_sum(tf.reduce_mean(states, axis=axis))"): "an axis is taken to be a Python number",
}

# The flagged line's text (in its file) -> why the finding carries another effect than the compiler shows.
KNOWN_EFFECTS: dict[tuple[str, str], str] = {
    ("normalise.py", "if tf.reduce_sum(values) > 0:"): "the rank of an argument is not written anywhere",
    ("normalise.py", "if tf.reduce_max(values) > 1:"): "the dtype of an argument is not written anywhere",
    ("returns.py", "return self.rewards[self.done]"): "the dtype of an argument is not written: taken for a position",
}

CASE_LIST = all_cases()
HAZARD_LIST = [hazard for case in CASE_LIST for hazard in case.hazards]


@dataclass(frozen=True, slots=True)
class Found:
    """What matters of a finding in the report."""

    path: str
    line: int
    code: str
    effect: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.code} {self.effect}: {text_of(self.path, self.line)}"


def text_of(path: str, line: int) -> str:
    """The source line without its marker."""
    return (CASES / path).read_text(encoding="utf-8").splitlines()[line - 1].partition("  # hazard:")[0].strip()


def key(hazard: Hazard) -> tuple[str, str]:
    return hazard.path, text_of(hazard.path, hazard.line)


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "xlalint",
        "check",
        "--output-format",
        "json",
        "--no-cache",
        "--isolated",
        *_OF_NO_PROGRAM,
        ".",
    ]
    linter = subprocess.run(command, cwd=CASES, capture_output=True, text=True, check=False)
    assert linter.returncode == 1, linter.stderr
    answer = json.loads(linter.stdout)
    assert isinstance(answer, dict)
    return answer


def on_a_cpu(item: dict[str, Any]) -> str:
    """The effect that a finding has on a CPU, where that is said beside the one that it has for a TPU's strategy."""
    effect: str = item["effect"]
    return "recompiles" if item["message"].endswith(FOR_A_TPU) else effect


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every hazard with its finding, the hazards without one, and the findings that no marker asks for."""

    matched: list[tuple[Hazard, Found]]
    missed: list[Hazard]
    unasked: list[Found]


@pytest.fixture(scope="module")
def outcome(report: dict[str, Any]) -> Outcome:
    left = [
        Found(item["path"], item["line"], item["code"], on_a_cpu(item))
        for item in report["findings"]
        if item["severity"] != "info"  # what differs on other inputs only
    ]
    matched: list[tuple[Hazard, Found]] = []
    missed: list[Hazard] = []
    for hazard in HAZARD_LIST:
        candidates = [
            found
            for found in left
            if (found.path, found.line) == (hazard.path, hazard.line) and found.code in hazard.codes
        ]
        if candidates:
            left.remove(candidates[0])
            matched.append((hazard, candidates[0]))
        else:
            missed.append(hazard)
    return Outcome(matched, missed, left)


def lines(items: list[Any]) -> str:
    return "".join(f"\n  {item}" for item in items)


def test_there_are_enough_cases() -> None:
    look_alikes = [case for case in CASE_LIST if not case.hazards]
    families = Counter(code[:4] for hazard in HAZARD_LIST for code in hazard.codes)
    assert len(HAZARD_LIST) >= HAZARDS
    assert len(look_alikes) >= HAZARDS
    assert {"XLA1", "XLA2"} <= set(families)


def test_nothing_went_wrong(report: dict[str, Any]) -> None:
    assert report["errors"] == []


def test_recall(outcome: Outcome) -> None:
    unlisted = [f"{hazard}: {key(hazard)[1]}" for hazard in outcome.missed if key(hazard) not in KNOWN_MISSES]
    assert not unlisted, f"not found:{lines(unlisted)}"
    assert set(KNOWN_MISSES) <= {key(hazard) for hazard in outcome.missed}, "found by now, take it out of the table"
    found = len(outcome.matched)
    assert found >= RECALL * len(HAZARD_LIST), f"{found} of {len(HAZARD_LIST)} found"


def test_look_alikes_stay_silent(outcome: Outcome) -> None:
    assert not outcome.unasked, f"findings that no marker asks for:{lines(outcome.unasked)}"


def test_effects_are_what_the_compiler_shows(outcome: Outcome) -> None:
    differing = [(hazard, found) for hazard, found in outcome.matched if hazard.effect != found.effect]
    unlisted = [
        f"{found}; measured: {hazard.effect}" for hazard, found in differing if key(hazard) not in KNOWN_EFFECTS
    ]
    assert not unlisted, f"another effect:{lines(unlisted)}"
    assert set(KNOWN_EFFECTS) <= {key(hazard) for hazard, _ in differing}, "right by now, take it out of the table"


@pytest.mark.compiler
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=claim(case.sources(), case.code, case.inputs, case.worst))
        for case in CASE_LIST
        if case.entry
    ],
)
def test_the_compiler_agrees_on_the_fixtures(case: Case) -> None:
    measured = measure(case.code, case.inputs, search=[CASES])
    assert case.agrees(measured), f"claimed: {case.worst or 'compiles once and equals eager'}; {measured}"
