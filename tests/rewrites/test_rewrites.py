"""Rewrites compute what the original computes, on the real compiler; `python -m tests.rewrites` tries more."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .programs import PROGRAMS
from .trial import Counts, Program, tried

PROGRAMS_EACH = 4


@pytest.mark.compiler
@pytest.mark.parametrize("strategy", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_rewrite_equals_the_original(strategy: st.SearchStrategy[Program]) -> None:
    counts = Counts()

    @settings(
        max_examples=PROGRAMS_EACH,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def property_(program: Program) -> None:
        tried(program, counts)

    property_()
    assert counts.once > 0
    assert counts.kept < PROGRAMS_EACH // 2
