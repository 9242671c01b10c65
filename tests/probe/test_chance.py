"""Numbers that Python draws while a function is traced: compiled code repeats them, where eager code draws others."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import CHANCE, DIVERGES, FAILS, Plan
from xlalint.probe.target import Given, Target

CODE = """\
import random
import numpy as np
import tensorflow as tf

def scaled(x):
    return x * random.uniform(1.0, 2.0)

def noisy(x):
    x = tf.sqrt(x * x)
    noise = np.random.normal(size=4)
    return scaled(x) + tf.cast(noise, x.dtype)

def alike(x):
    np.random.seed(1)
    return x + np.random.normal()

def drawn(x):
    kept = np.random.normal()
    return x + tf.random.normal([4]) + kept

COUNT = [0]

def counted(x):
    COUNT[0] += 1
    return x + COUNT[0]
"""


@pytest.mark.compiler
def test_lines_that_draw_numbers(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(CODE)
    found: dict[str, set[int]] = {}
    for name in ("noisy", "alike", "drawn", "counted"):
        target = Target(str(file), name, given=(Given("x", "f32[4]"),), wanted=tuple(range(1, 25)), roots=(str(file),))
        seen = worker.ask(target, Plan(gradients=False), Limits()).observations
        found[name] = {spot.line for one in seen if one.per == CHANCE for spot in one.spots}
        if name == "noisy":
            assert {one.per for one in seen} == {CHANCE}, seen
    assert found == {"noisy": {6, 10}, "alike": set(), "drawn": set(), "counted": set()}


_BRANCHES = """\
import numpy as np
import tensorflow as tf

DRAWN = iter([0.9, 0.9, 0.1, 0.9, 0.9, 0.1] * 1000)

def sometimes(image):
    # By chance, in an order that is always the same here.
    if np.random.uniform() < 2.0 and next(DRAWN) < 0.5:
        image = tf.image.adjust_hue(image, 0.2)
    return image
"""


@pytest.mark.compiler
def test_what_is_drawn_leads_elsewhere_in_further_calls(worker: Worker, tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(_BRANCHES)
    target = Target(str(file), "sometimes", wanted=(8,), roots=(str(file),))
    found = worker.ask(target, Plan(gradients=False), Limits())
    assert found.not_run is None, found
    assert found.how.endswith("image: f32[4, 4, 3]")  # as the branch needs it which the first call does not take
    assert [(one.spots[0].line) for one in found.observations if one.per == CHANCE] == [8], found.observations
    assert not [one for one in found.observations if one.kind == DIVERGES and one.per != CHANCE]


_GRAPHS = """\
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

def doubled(x):
    return tf.unique_with_counts(x)[0] * 2.0
"""
_ONCE = """\
import tensorflow as tf

CALLS = []

class Once(tf.keras.layers.Layer):
    def call(self, x):
        CALLS.append(1)
        if len(CALLS) > 1:
            raise ValueError("once only")
        return x * 2.0
"""


@pytest.mark.compiler
def test_what_a_program_leaves_behind(worker: Worker, tmp_path: Path) -> None:
    for name, text in (("graphs.py", _GRAPHS), ("once.py", _ONCE)):
        (tmp_path / name).write_text(text)
    for _ in range(2):
        target = Target(str(tmp_path / "graphs.py"), "doubled", roots=(str(tmp_path),))
        found = worker.ask(target, Plan(gradients=False), Limits())
        assert found.not_run is None, found
        assert [one.spots[0].line for one in found.observations if one.kind == FAILS] == [6]
    found = worker.ask(Target(str(tmp_path / "once.py"), "Once", roots=(str(tmp_path),)), Plan(), Limits())
    assert found.not_run == "the eager call raises ValueError: once only"
