"""A project in parts and in processes: what they tell each other, and that findings do not depend on either."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import ROOT
from xlalint.analysis.files.files import Files
from xlalint.analysis.fixpoint import partitions as parts_module
from xlalint.analysis.fixpoint import processes
from xlalint.analysis.fixpoint.entry_points import Options, analyse
from xlalint.analysis.fixpoint.partitions import GatheredMessages, Member, Partition, shares
from xlalint.analysis.fixpoint.processes import ProcessLostError, run_in_turns, run_parts
from xlalint.findings.findings import Report
from xlalint.linter import analyse as analysing
from xlalint.linter.run import check
from xlalint.settings.config import Settings
from xlalint.sources.reading import read_source

CASES = ROOT / "tests" / "recall" / "cases"
Sum: TypeAlias = Member[tuple[int, int]]
forking = pytest.mark.skipif(not processes.CAN_FORK, reason="the system cannot fork")


def summing(number: int) -> Partition[tuple[int, int]]:
    """Tells its number, then the sum of all; ends with both and its process."""
    total = sum((yield number))
    totals = yield total
    assert totals == [total] * len(totals)
    return total, os.getpid()


def failing(number: int) -> Partition[tuple[int, int]]:
    yield number
    raise ValueError(f"part {number}")


def dying(number: int) -> Partition[tuple[int, int]]:
    yield number
    os._exit(7)


def started(count: int) -> list[Sum]:
    return [Member(partial(summing, number)) for number in range(count)]


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
    function: Callable[[int], Partition[tuple[int, int]]], said: str
) -> None:
    tasks: list[Sum] = [Member(partial(summing, 0)), Member(partial(function, 1))]
    with pytest.raises(ProcessLostError, match=said):
        run_parts(tasks, 2)


@forking
@pytest.mark.parametrize(("most", "locations"), [(1, [0, 0, 0, 0, 0]), (2, [0, 0, 1, 1, 1]), (9, [0, 0, 1, 1, 2])])
def test_processes_that_take_turns_are_filled_one_after_the_other(most: int, locations: list[int]) -> None:
    room = iter([False, True] * 9)  # each process asks its own copy
    results = run_in_turns(started(5), most, lambda: next(room))
    assert [total for total, _ in results] == [10] * 5
    processes = list(dict.fromkeys(process for _, process in results))
    assert [processes.index(process) for _, process in results] == locations
    assert os.getpid() not in processes


def waiting(flag: Path) -> Partition[tuple[int, int]]:
    """Takes until another part has begun, which waits behind it."""
    deadline = time.monotonic() + 60
    while not flag.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert flag.exists()
    return (yield from summing(0))


def begun(flag: Path) -> Partition[tuple[int, int]]:
    flag.touch()
    return (yield from summing(1))


@forking
def test_a_part_that_takes_long_holds_up_no_other(tmp_path: Path) -> None:
    flag = tmp_path / "begun"
    members = [Member(partial(waiting, flag)), Member(partial(begun, flag)), *started(4)[2:]]
    assert [total for total, _ in run_parts(members, 2)] == [6] * 4


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_shares_cover_every_file_once_in_order(sizes: list[int], text: int) -> None:
    files = [(f"{n % 3}/{n}.py", size) for n, size in enumerate(sizes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "_TEXT_OF_A_PART", text)
        ranges = shares(files)
    assert [position for share in ranges for position in share] == list(range(len(files)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 99_999)), min_size=1, max_size=60))
def test_cuts_do_not_depend_on_the_folder_that_a_run_starts_in(files: list[tuple[int, int]]) -> None:
    below = sorted((f"{folder}/{number:02}.py", size) for number, (folder, size) in enumerate(files))
    for folder in ("project/", "../", "/home/user/tests/"):
        assert shares([(folder + path, size) for path, size in below]) == shares(below)


def test_code_is_cut_finer_where_there_are_few_tests() -> None:
    code = [(f"code/{number:03}.py", 60_000) for number in range(100)]
    tests = [(f"tests/{number:03}.py", 60_000) for number in range(100)]
    ranges = shares([*code, *tests])
    assert {share.stop <= 100 or share.start >= 100 for share in ranges} == {True}
    of_code = [len(share) for share in ranges if share.stop <= 100]
    of_tests = [len(share) for share in ranges if share.start >= 100]
    assert max(of_code) * 60_000 <= parts_module._MOST_WITHOUT_TESTS < max(of_tests) * 60_000


@pytest.mark.parametrize("files", [20, 60, 200, 500, 2_000])
def test_an_edit_of_code_costs_little_of_it_and_a_run_has_few_parts_to_look_through(files: int) -> None:
    ranges = shares([(f"code/{number:05}.py", 50_000) for number in range(files)])
    assert max(len(share) for share in ranges) * 50_000 <= parts_module._MOST_WITHOUT_TESTS
    assert files < 200 or max(map(len, ranges)) * 20 <= files
    assert len(ranges) <= max(3 * parts_module._PARTS_WITHOUT_TESTS, files * 50_000 // 100_000)


@pytest.fixture(scope="module")
def whole() -> Report:
    """The findings on all cases, analysed as one part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "_TEXT_OF_A_PART", 1 << 40)
        return check([CASES], Settings())


@forking
@pytest.mark.parametrize("jobs", [1, 2])
def test_findings_depend_neither_on_parts_nor_on_processes(
    whole: Report, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", 5_000)
    assert check([CASES], Settings(jobs=jobs)) == whole


@forking
def test_findings_do_not_depend_on_how_many_processes_take_turns(
    whole: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", 5_000)
    monkeypatch.setattr(parts_module, "_TOGETHER", 0)
    filled = iter([0.0, 1.0] * 40)
    monkeypatch.setattr(analysing.Analysis, "_filled", lambda self, expected: next(filled))
    assert check([CASES], Settings(jobs=1)) == whole


def test_a_part_tells_how_much_is_still_to_come_until_it_is_done(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(ONE + "def open_(x):\n    return tf.abs(x)\n")
    (tmp_path / "test_two.py").write_text(TWO + "def test_it():\n    one.open_(tf.ones([3]))\n")
    sources = [read_source(tmp_path / name, name) for name in ("one.py", "test_two.py")]
    files = Files.of(sources)
    nothing = GatheredMessages([])
    expected = []
    for source in sources:
        part = analyse(files, [source.path], Options(creators=False), lambda event, run: None, frozenset())
        before = files.expected
        next(part)
        expected.append(files.expected - before)
        with suppress(StopIteration):
            while True:
                part.send(nothing)
        assert files.expected == before
    assert expected[1] > expected[0] > 0


# What a part cannot know by itself: who runs the functions of `one.py` stands in `two.py`.
ONE = "import tensorflow as tf\n\n"
TWO = "import tensorflow as tf\n\nimport one\n\n"
ACROSS = {
    "a script runs it on the host": (
        ONE + "def positive(x):\n    return tf.boolean_mask(x, x > 0)\n",
        TWO + "print(one.positive(tf.random.normal([4])))\n",
        [],
    ),
    "a compiled function is handed a number": (
        ONE + "@tf.function(jit_compile=True)\ndef step(x, n):\n    return tf.zeros([n]) + tf.reduce_sum(x)\n",
        TWO + "one.step(tf.ones([3]), 4)\n",
        [],
    ),
    "an input pipeline runs it": (
        ONE + "@tf.function\ndef positive(x):\n    return tf.boolean_mask(x, x > 0)\n",
        TWO + "data = tf.data.Dataset.range(4).map(one.positive)\n",
        [],
    ),
    "a function without callers leads to it": (
        ONE + "def positive(x):\n    return tf.boolean_mask(x, x > 0)\n",
        TWO + "def total(x):\n    return tf.reduce_sum(one.positive(x))\n",
        [["total", "positive"]],
    ),
    "a test runs it": (
        ONE + "def positive(x):\n    return tf.boolean_mask(x, x > 0)\n",
        TWO + "class Checks(tf.test.TestCase):\n    def test_it(self):\n        one.positive(tf.ones([3]))\n",
        [],
    ),
}


@forking
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("case", ACROSS)
def test_parts_learn_from_each_other_who_runs_a_function(
    case: str, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, trails = ACROSS[case]
    (tmp_path / "one.py").write_text(one, encoding="utf-8")
    (tmp_path / "two.py").write_text(two, encoding="utf-8")
    if not trails:
        (tmp_path / "alone.py").write_text(one, encoding="utf-8")
        assert check([tmp_path / "alone.py"], Settings()).findings, "without a caller in sight there is a finding"
        (tmp_path / "alone.py").unlink()
    together = check([tmp_path], Settings())
    monkeypatch.setattr(parts_module, "_TEXT_OF_A_PART", len(one))
    assert check([tmp_path], Settings(jobs=jobs)) == together
    found = [finding.context.trail for finding in together.findings if finding.context is not None]
    assert [[step.name for step in trail] for trail in found] == trails


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
