"""How deep abstract execution may nest."""

from __future__ import annotations

import sys

import pytest

from xlalint.analysis.fixpoint.recursion import run_deep

DEEP = 10_000


def down(levels: int) -> int:
    return 0 if levels == 0 else 1 + down(levels - 1)


def called_often(levels: int) -> None:
    """Call a function a hundred times from so many levels further down."""
    if levels:
        called_often(levels - 1)
    else:
        for _ in range(100):
            down(1)


def test_calls_nest_deeper_than_python_allows() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        down(limit)
    assert run_deep(lambda: down(DEEP)) == DEEP
    assert sys.getrecursionlimit() == limit


def test_the_limit_is_what_it_was_after_an_exception() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(ZeroDivisionError):
        run_deep(lambda: 1 // 0)
    assert sys.getrecursionlimit() == limit


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
def test_calls_from_any_depth_take_no_memory_from_the_system_each_time() -> None:
    import resource

    def taken() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for levels in range(500):
            called_often(levels)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert run_deep(taken) < 200  # without room about two thousand
