"""Safe fixes change nothing that works, in programs as people write them; `python -m tests.lifelike` tries more."""

from __future__ import annotations

import pytest

from tests.sampling import chance, size

from .trial import Worker, tried

FUNCTIONS = 16


@pytest.mark.compiler
def test_safe_fixes_break_nothing() -> None:
    first = chance().randrange(1_000_000)
    with Worker() as worker:
        found = list(tried(range(first, first + size(FUNCTIONS)), worker))
    assert [f"{answer['difference']}\n{one.shown}" for one, answer in found if answer["difference"] is not None] == []
    assert sum(answer["ran"] > 0 for _, answer in found) >= len(found) // 4 > 0
