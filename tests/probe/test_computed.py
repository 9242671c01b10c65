"""Positions that callers compute are in range, whatever the program is fed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span, TrailStep
from xlalint.probe.protocol import DIVERGES, Observation, Outcome, Spot
from xlalint.probe.target import Target
from xlalint.probe.verdicts import Run, judged

CODE = """\
import tensorflow as tf
from tensorflow.math import argmin as first_of
from ids import argsort

K = tf.keras.backend

class Pool:
    def nearest(self, x):
        places = tf.math.top_k(x, 2).indices
        return x, places

    def selected(self, x, places):
        return tf.gather(x, tf.cast(places, tf.int32), axis=1)

    def computed(self, x):
        near, places = self.nearest(x)
        return self.selected(near, places)

    def passed(self, x, ids):
        kept = self.nearest(x)[0]
        ids = tf.reshape(ids, [-1])
        return self.selected(kept, ids)

    def between(self, x, places):
        return self.selected(places=places, x=x)

    def ranked(self, x):
        return self.between(x, tf.argsort(x))

    def own(self, x, ids):
        return self.between(x, argsort(x, ids))

    def renamed(self, x):
        return self.between(x, first_of(x, 1))

    def kept(self, x):
        return self.between(x, tf.where(x > 0))

    def chosen(self, x, ids):
        return self.between(x, tf.where(ids > 0, ids, 2 * ids))

    def in_range(self, x, ids):
        inside = (ids >= 0) & (ids < tf.shape(x)[1])
        near = tf.boolean_mask(ids, inside)
        return self.between(x, near - 1)

    def elsewhere(self, x, ids):
        inside = tf.shape(x)[1] > 2
        near = tf.boolean_mask(ids, tf.fill(tf.shape(ids), inside))
        return self.between(x, near)

    def by_backend(self, x):
        return self.between(x, K.argmax(x))

    def by_method(self, x, ids):
        return self.between(x, ids.argmax(1))

    def by_its_own(self, x, ids):
        return self.between(x, self.argmax(ids))

    def argmax(self, ids):
        return ids * 2
"""


@pytest.mark.parametrize(
    ("calls", "status"),
    [
        (("self.selected(near, places)",), "open"),
        (("self.selected(kept, ids)",), "confirmed"),
        (("self.between(x, tf.argsort", "self.selected(places=places"), "open"),
        (("self.between(x, argsort", "self.selected(places=places"), "confirmed"),
        (("self.between(x, first_of", "self.selected(places=places"), "open"),
        (("self.between(x, tf.where(x", "self.selected(places=places"), "open"),
        (("self.between(x, tf.where(ids", "self.selected(places=places"), "confirmed"),
        (("self.between(x, near - 1", "self.selected(places=places"), "open"),
        (("self.between(x, near)", "self.selected(places=places"), "confirmed"),
        (("self.between(x, K.argmax", "self.selected(places=places"), "open"),
        (("self.between(x, ids.argmax", "self.selected(places=places"), "open"),
        (("self.between(x, self.argmax", "self.selected(places=places"), "confirmed"),
        (("self.selected(places=places",), "confirmed"),
        ((), "confirmed"),
    ],
)
def test_positions(tmp_path: Path, calls: tuple[str, ...], status: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(CODE)
    lines = CODE.splitlines()

    def line_of(text: str) -> int:
        return next(number for number, line in enumerate(lines, 1) if text in line)

    here = line_of("tf.gather")
    trail = tuple(TrailStep(str(file), line_of(text), "") for text in ("class Pool", *calls))
    finding = Finding(
        str(file), Span(here, 16, here, 63), "XLA602", "unchecked-index", Severity.INFO, Effect.DIVERGES, "m"
    )
    finding = replace(finding, context=FindingContext("xla", True, trail=trail))
    seen = Observation(DIVERGES, "eager execution raises", (Spot(str(file), here),), extreme=True)
    run = Run(Target(str(file), "Pool.selected", (8, 9)), Outcome(observations=(seen,)))
    [found] = judged(Report((finding,), files_checked=1), [run], {0: [run]}).findings
    assert found.verdict is not None
    assert found.verdict.status == status
