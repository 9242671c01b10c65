"""Which of the inputs a failing call is about."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiler  # inputs are known to TensorFlow

LIBRARY = """
def scatter(tensor, indices, updates):
    raise IndexError("indices[3] = [9] does not index into shape [4]")
"""
CODE = """
from library import scatter

def placed(table, parts, ids):
    table, parts = [*table], [*parts]
    rows = [one + 1 for one in ids]
    return scatter(table, rows, parts)
"""


def test_an_index_out_of_range_is_about_what_the_indices_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xlalint.probe.worker.inputs.culprits import FailedCall, culprits_of
    from xlalint.probe.worker.inputs.error_clues import ErrorClues
    from xlalint.probe.worker.inputs.slots import Slot, tensor

    (tmp_path / "library.py").write_text(LIBRARY)
    file = tmp_path / "code.py"
    file.write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    placed = runpy.run_path(str(file))["placed"]
    slots = [Slot(name, "call", (tensor(),)) for name in ("table", "parts", "ids")]
    objects = {0: [1, 2], 1: [3, 4], 2: [5, 6]}
    with pytest.raises(IndexError) as raised:
        placed(*objects.values())
    assignment = tuple(slot.choices[0] for slot in slots)
    failed = FailedCall(slots, assignment, objects, raised.value, str(file).__eq__, placed.__code__)
    assert [slot for slot, _ in culprits_of(failed, ErrorClues.of(raised.value))] == [2, 0, 1]


LATER = """
def scored(x, scale, rate):
    scores = x * 2
    for _ in range(1):
        scores = scores + [1, 2]
        scores = [one * scale for one in scores]
    scores = [one * rate for one in scores]
    return scores
"""


def test_what_a_name_is_bound_to_later_is_not_at_fault(tmp_path: Path) -> None:
    from xlalint.probe.worker.inputs.culprits import _names

    file = tmp_path / "later.py"
    file.write_text(LATER)
    assert {"x", "scale"} <= set(_names(str(file), 2, 5)[1])
    assert "rate" not in _names(str(file), 2, 5)[1]
    assert "rate" in _names(str(file), 2, 8)[1]
