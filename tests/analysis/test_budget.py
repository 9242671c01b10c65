"""What a file may cost, on machines of any speed."""

from __future__ import annotations

from itertools import count

import pytest

from xlalint.analysis.budget import Clock, Work


def steps(monkeypatch: pytest.MonkeyPatch, clock: Clock, seconds: float, *works: tuple[str, Work]) -> int:
    """How many steps are done of works inside of each other, where each look at the time takes some seconds."""
    looks = count()
    monkeypatch.setattr("xlalint.analysis.budget.thread_time", lambda: next(looks) * seconds)
    done = 0
    match works:
        case ((path, work), *others):
            with clock.spent_on(path, work):
                if others:
                    return steps(monkeypatch, clock, seconds, *others)
                while True:
                    clock.check()
                    done += 1
    return done


@pytest.mark.parametrize("seconds", [0.0, 1e-3, 8e-3])
def test_the_analysis_gets_equally_far_on_any_machine(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0)
    assert steps(monkeypatch, clock, seconds, ("a.py", Work.ANALYSIS)) == 15_000
    assert list(clock.given_up) == ["a.py"]
    assert clock.seconds["a.py"] == pytest.approx(0.6, abs=1e-3)
    assert steps(monkeypatch, clock, seconds, ("a.py", Work.ANALYSIS)) == 0, "it has had its time"
    assert steps(monkeypatch, Clock(1.0, {"a.py": 0.5}), seconds, ("a.py", Work.ANALYSIS)) == 7_500


def test_the_analysis_ends_where_its_steps_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0)
    assert 64 * 20 < steps(monkeypatch, clock, 0.1, ("a.py", Work.ANALYSIS)) < 64 * 26
    assert list(clock.given_up) == ["a.py"]


def test_rules_and_fixes_have_what_the_analysis_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0)
    steps(monkeypatch, clock, 0.0, ("a.py", Work.ANALYSIS))
    assert 64 < steps(monkeypatch, clock, 0.01, ("a.py", Work.RULES)) < 64 * 21
    assert 64 < steps(monkeypatch, clock, 0.01, ("b.py", Work.RULES)) < 64 * 81
    assert list(clock.given_up) == ["a.py", "b.py"]


def test_work_inside_of_other_work_is_paid_for_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0, {"outer.py": 0.5})
    monkeypatch.setattr("xlalint.analysis.budget.thread_time", lambda: 0.0)
    after = 0
    with clock.spent_on("outer.py", Work.ANALYSIS):
        with clock.spent_on("inner.py", Work.ANALYSIS):
            while True:
                clock.check()
        after += 1
    assert not after, "the other file has had its time, too"
    assert clock.seconds == pytest.approx({"outer.py": 0.3, "inner.py": 0.3}, abs=1e-3)
    assert list(clock.given_up) == ["inner.py", "outer.py"]
