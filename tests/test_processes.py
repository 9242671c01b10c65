"""A project in parts and in processes: what they tell each other, and that findings do not depend on either."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint import processes
from xlalint.config import Settings
from xlalint.engine import check
from xlalint.findings import Report
from xlalint.processes import ProcessLostError, run_parts
from xlalint.semantics import parts as parts_module
from xlalint.semantics.files import File
from xlalint.semantics.parts import Part, shares
from xlalint.sources.text import Source

CASES = Path(__file__).parent / "recall" / "cases"
Start: TypeAlias = Callable[[], Part[tuple[int, int]]]
forking = pytest.mark.skipif(not processes.CAN_FORK, reason="the system cannot fork")


def summing(number: int) -> Part[tuple[int, int]]:
    """Tells its number, then the sum of all; ends with both and its process."""
    total = sum((yield number))
    totals = yield total
    assert totals == [total] * len(totals)
    return total, os.getpid()


def failing(number: int) -> Part[tuple[int, int]]:
    yield number
    raise ValueError(f"part {number}")


def dying(number: int) -> Part[tuple[int, int]]:
    yield number
    os._exit(7)


def started(count: int) -> list[Start]:
    return [partial(summing, number) for number in range(count)]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_parts_hear_each_other_wherever_they_run(count: int, jobs: int) -> None:
    results = run_parts(started(count), jobs)
    assert [total for total, _ in results] == [sum(range(count))] * count
    here = min(jobs, count) == 1 or not processes.CAN_FORK
    assert len({process for _, process in results}) == (1 if here else min(jobs, count))
    assert (os.getpid() in {process for _, process in results}) is here


@forking
@pytest.mark.parametrize(("function", "said"), [(failing, "ValueError: part 1"), (dying, "exit code 7")])
def test_a_process_that_does_not_finish_is_an_error(
    function: Callable[[int], Part[tuple[int, int]]], said: str
) -> None:
    tasks: list[Start] = [partial(summing, 0), partial(function, 1)]
    with pytest.raises(ProcessLostError, match=said):
        run_parts(tasks, 2)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_shares_cover_every_file_once_in_order(sizes: list[int], text: int) -> None:
    files = [File(Source(Path(f"/nowhere/{n}.py"), f"{n}.py", "\n" * size, "")) for n, size in enumerate(sizes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "_TEXT_OF_A_PART", text)
        ranges = shares(files)
    assert [position for share in ranges for position in share] == list(range(len(files)))


@pytest.fixture(scope="module")
def whole() -> Report:
    """The findings on all cases, analysed as one part."""
    return check([CASES], Settings())


@forking
@pytest.mark.parametrize("jobs", [1, 2])
def test_findings_depend_neither_on_parts_nor_on_processes(
    whole: Report, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", 5_000)
    assert check([CASES], Settings(jobs=jobs)) == whole


@forking
def test_a_lost_process_is_reported_and_costs_no_finding(
    whole: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", 5_000)
    parent = os.getpid()

    def lost(*arguments: object) -> None:
        assert os.getpid() != parent
        os._exit(9)

    monkeypatch.setattr(processes, "_run", lost)
    report = check([CASES], Settings(jobs=2))
    assert report.findings == whole.findings
    [problem] = report.problems
    assert "ended early" in problem.message
    assert "exit code 9" in problem.detail
