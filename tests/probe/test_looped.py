"""What runs inside of a loop is compiled once with it, whatever the loop hands it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, Severity, Span
from xlalint.probe.likeness import likeness, places
from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import LOOPED, RECOMPILES, Observation, Plan, Spot
from xlalint.probe.target import Frame
from xlalint.probe.targets import Targets

_LOOPS = """\
import tensorflow as tf

def total(x):
    def body(step, found):
        return step + 1, found + x[step]

    return tf.while_loop(lambda step, found: step < 3, body, [tf.constant(0), tf.zeros([4])])[1]

def picked(x):
    def inside(step):
        return x[step] * 2.0

    return inside(tf.cast(x[0, 0] > 0.0, tf.int32))
"""


@pytest.mark.compiler
def test_a_body_by_itself_is_compiled_for_each_value(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(_LOOPS)
    file = str(tmp_path / "loops.py")
    found = {}
    for name, lines in (("total.<locals>.body", (4, 5)), ("picked.<locals>.inside", (10, 11))):
        target = Targets().at(Path(file), name)
        target = replace(target, lines=lines, callers=(Frame(file, name.partition(".")[0]),), wanted=lines[1:])
        outcome = worker.ask(target, Plan(gradients=False), Limits())
        assert outcome.not_run is None, outcome
        found[name] = {one.per for one in outcome.observations if one.kind == RECOMPILES and one.per != "shape"}
    assert found == {"total.<locals>.body": {LOOPED}, "picked.<locals>.inside": {"value"}}


@pytest.mark.parametrize(("per", "fits"), [("value", True), (LOOPED, False)])
def test_it_bears_out_no_finding(tmp_path: Path, per: str, fits: bool) -> None:
    file = str(tmp_path / "loops.py")
    finding = Finding(file, Span(5, 33, 5, 40), "XLA206", "position-from-value", Severity.ERROR, Effect.RECOMPILES, "m")
    [place] = places(finding)
    spot = Spot(file, 5)
    seen = Observation(RECOMPILES, "3 compilations", (spot,), per)
    assert (likeness(finding, place, seen, spot) is not None) is fits
