"""Runs over a project that is edited: what is recorded of parts never shows, but in what need not be done again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.incremental.project import EDITS, Edit, Written
from xlalint.analysis.files.session import Session
from xlalint.analysis.fixpoint import partitions as parts
from xlalint.findings.findings import Report
from xlalint.linter.analyse import Analysis
from xlalint.linter.run import check
from xlalint.settings.config import Settings


@pytest.fixture(scope="module", autouse=True)
def small_parts() -> Iterator[None]:
    """As many parts as there are files: what one needs of another is never in the same part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_TEXT_OF_A_PART", 1)
        patch.setattr(parts, "_PARTS", 1_000)
        yield


def told(report: Report) -> object:
    return report.findings, [replace(problem, detail="") for problem in report.problems], report.files_checked


def runs_equal_fresh_ones(edits: list[Edit], jobs: int, in_turn: bool = False, session: Session | None = None) -> None:
    """`in_turn`: the parts of all but the fresh runs are run one after another, side by side with others where there is
    room, which is so in every other run; `session`: what they share."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            written = Written(Path(folder))
            warm = Settings(jobs=jobs, cache_dir=Path(folder, ".cache"))
            for edit, filled in zip([None, *edits], cycle((0.0, 1.0))):
                if edit is not None:
                    written.apply(edit)
                with pytest.MonkeyPatch.context() as patch:
                    if in_turn:
                        patch.setattr(parts, "_TOGETHER", 0)
                        patch.setattr(parts, "_TOGETHER_EACH", 0)
                        patch.setattr(Analysis, "_filled", lambda self, expected=0, filled=filled: filled)
                    found = told(check(["."], warm, session=session))
                assert found == told(check(["."], Settings(jobs=1)))
        finally:
            os.chdir(here)


@settings(max_examples=16)
@given(st.lists(EDITS, min_size=1, max_size=8))
@pytest.mark.slow
def test_a_run_after_edits_finds_what_a_fresh_one_finds(edits: list[Edit]) -> None:
    runs_equal_fresh_ones(edits, 1)


@settings(max_examples=8)
@given(st.lists(EDITS, min_size=1, max_size=8))
@pytest.mark.slow
def test_parts_that_run_one_after_another_find_what_those_do_that_run_side_by_side(
    edits: list[Edit],
) -> None:
    runs_equal_fresh_ones(edits, 1, in_turn=True)


@settings(max_examples=16)
@given(st.lists(EDITS, min_size=1, max_size=8))
@pytest.mark.slow
def test_so_does_a_process_that_keeps_what_it_knows(edits: list[Edit]) -> None:
    runs_equal_fresh_ones(edits, 1, session=Session())


@settings(max_examples=8)
@given(st.lists(EDITS, min_size=1, max_size=8))
@pytest.mark.slow
def test_so_it_does_where_parts_run_one_after_another(edits: list[Edit]) -> None:
    runs_equal_fresh_ones(edits, 1, in_turn=True, session=Session())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@settings(max_examples=3)
@given(st.lists(EDITS, min_size=1, max_size=4))
def test_so_it_does_in_several_processes(edits: list[Edit]) -> None:
    runs_equal_fresh_ones(edits, 2)
    runs_equal_fresh_ones(edits, 2, in_turn=True)
