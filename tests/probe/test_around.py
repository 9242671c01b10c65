"""What calls a flagged function is compiled where that function by itself leaves a finding open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span, TrailStep
from xlalint.probe import checking
from xlalint.probe.checking import planned, with_verdicts
from xlalint.probe.protocol import FAILS, Call, Observation, Outcome, Spot
from xlalint.probe.running import Ran
from xlalint.probe.target import Target
from xlalint.probe.verdicts import Run
from xlalint.settings.config import ProbeSettings, Settings

CODE = """\
import tensorflow as tf

def sized(n):
    return tf.range(n)

def middle(x):
    return sized(tf.cast(x[0], tf.int32))

@tf.function(jit_compile=True)
def step(x):
    return middle(x) + tf.unique_with_counts(x).count
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(CODE)
    return tmp_path / "m.py"


def judge(
    file: Path, of_callers: Sequence[Observation], monkeypatch: pytest.MonkeyPatch, name: str = "size-from-value"
) -> tuple[Report, list[list[str]]]:
    """What is said of a finding at line 4 that its function leaves open; and which functions were run, in turn."""
    asked: list[list[str]] = []

    def run_targets(
        targets: Sequence[Target],
        settings: ProbeSettings,
        cache_dir: Path | None,
        heard: Callable[[Run], None] = lambda run: None,
        told: Callable[[str], None] = lambda line: None,
    ) -> Ran:
        asked.append([target.qualname for target in targets])
        outcome = Outcome(how="called", observations=tuple(of_callers) if len(asked) > 1 else ())
        return Ran([Run(one, outcome) for one in targets], True)

    monkeypatch.setattr(checking, "run_targets", run_targets)
    monkeypatch.setattr(checking, "check_available", lambda settings: None)
    trail = tuple(TrailStep("m.py", line, "") for line in (9, 11, 7))
    finding = Finding("m.py", Span(4, 12, 4, 23), "XLA205", name, Severity.ERROR, Effect.FAILS, "m")
    finding = replace(finding, context=FindingContext("xla", True, trail=trail))
    report = Report((finding,), files_checked=1)
    target = Target(str(file), "sized", (3, 4))
    found = with_verdicts(report, planned(report, [(target, [finding])], ()), Settings(), lambda run: None)
    return found, asked


def test_what_fails_there_in_a_caller_confirms_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Observation(FAILS, "XLA cannot compile it", (Spot(str(file), 4),))
    elsewhere = Observation(FAILS, "no kernel", (Spot(str(file), 11),))
    report, asked = judge(file, [here, elsewhere], monkeypatch)
    assert asked == [["sized"], ["middle", "step"]]
    [finding] = report.findings  # what else a caller does is not told
    assert finding.verdict is not None
    assert (finding.verdict.status, finding.verdict.function) == ("confirmed", "middle")
    assert [function.verdict.function for function in report.functions] == ["sized"]


def test_a_caller_that_shows_nothing_leaves_it_open(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [finding] = judge(file, [], monkeypatch)[0].findings
    assert finding.verdict is not None
    assert (finding.verdict.status, finding.verdict.function) == ("open", "sized")


def test_lines_that_no_call_came_to_are_looked_for_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as that leads to further ones: a setting may decide between them."""
    asked: list[tuple[int, ...]] = []
    ways = iter(((4,), (5, 4), (5,)))

    def run_targets(
        targets: Sequence[Target],
        settings: ProbeSettings,
        cache_dir: Path | None,
        heard: Callable[[Run], None] = lambda run: None,
        told: Callable[[str], None] = lambda line: None,
    ) -> Ran:
        asked.extend(target.wanted for target in targets)
        lines = next(ways)
        seen = tuple(Observation(FAILS, "it fails", (Spot(str(file), line),)) for line in lines)
        outcome = Outcome(how="called", calls=(Call(0, 0, 1),), observations=seen, reached={str(file): lines})
        return Ran([Run(one, outcome) for one in targets], True)

    monkeypatch.setattr(checking, "run_targets", run_targets)
    monkeypatch.setattr(checking, "check_available", lambda settings: None)
    found = [
        Finding("m.py", Span(line, 5, line, 9), "XLA401", "no-kernel", Severity.ERROR, Effect.FAILS, "m")
        for line in (4, 5, 6)
    ]
    report, target = Report(tuple(found), files_checked=1), Target(str(file), "sized", (3, 6), wanted=(4, 5, 6))
    report = with_verdicts(report, planned(report, [(target, found)], ()), Settings(), lambda run: None)
    assert asked == [(4, 5, 6), (5, 6), (6,)]
    assert [one.verdict.status for one in report.findings if one.verdict] == ["confirmed", "confirmed", "open"]


def test_callers_are_not_asked_of_what_none_can_show(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = judge(file, [], monkeypatch, name="partial-last-batch")
    assert asked == [["sized"]]
