"""The numbers of the tensors that are passed."""

from __future__ import annotations

import pytest

from xlalint.probe.worker.inputs.numbers import VALUE_SETS, numbers
from xlalint.sources.specs import spec


@pytest.mark.parametrize("positions", [(0, 1), (1, 2), (0, 2)])
def test_of_two_numbers_each_is_the_larger_one_in_several_sets(positions: tuple[int, int]) -> None:
    pairs = {
        tuple(int(numbers(spec("int32"), 0, value_set, position)) for position in positions)
        for value_set in range(VALUE_SETS)
    }
    assert len({one for one in pairs if one[0] > one[1]}) > 1, pairs
    assert len({one for one in pairs if one[0] < one[1]}) > 1, pairs
