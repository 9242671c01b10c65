"""What is not tried again where inputs that are looked for end the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.avoided import aborted, is_avoided, stage_of
from xlalint.probe.pool import Pool
from xlalint.probe.process import Interpreter, Limits
from xlalint.probe.protocol import Outcome, Plan
from xlalint.probe.targets import Targets

# As libraries do that check what their callers have to know.
_PROGRAM = """\
import os
import tensorflow as tf

def strict(rate, image, other):
    if image.shape.rank != 4:
        os.abort()
    return tf.reshape(image, [-1]) * 2.0 + tf.reduce_sum(other)
"""


def test_the_ranks_that_all_have_in_common_are_at_fault() -> None:
    first = stage_of((None, "f32[4, 4]", "f32[4]"), 0)
    assert first == "search; None; f32[4, 4]; f32[4]; set 0"
    assert is_avoided(first, {first})
    assert not is_avoided(stage_of((None, "f32[8, 4]", "f32[4]"), 0), {first})  # it may have taken too much memory
    once = {aborted(first)}
    assert is_avoided(stage_of((None, "f32[8, 4]", "f32[9]"), 1), once)
    assert not is_avoided(stage_of((None, "f32[8, 4]", "f32[]"), 0), once)
    twice = once | {aborted(stage_of((2, "f32[4, 4]", "f32[]"), 0))}
    assert is_avoided(stage_of((3, "f32[8, 4]", "f32[1, 1]"), 0), twice)  # so it is the second
    assert not is_avoided(stage_of((3, "f32[8, 4, 3]", "f32[4]"), 0), twice)


@pytest.mark.compiler
def test_a_library_that_aborts_at_a_rank(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM)
    target = Targets().at(tmp_path / "program.py", "strict")
    found: dict[int, Outcome] = {}
    Pool(Interpreter(), Limits(), Plan(drive_only=True)).run([target], found.__setitem__)
    outcome = found[0]
    assert outcome.not_run is None, outcome
    assert "image: f32[2, 8, 8, 3]" in outcome.how
