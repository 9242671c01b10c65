"""What is compiled for each size bears out that a dimension is open, where that is what the sizes differ in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span
from xlalint.probe.protocol import RECOMPILES, Call, Observation, Outcome
from xlalint.probe.target import Target
from xlalint.probe.verdicts import Run, judged

CODE = """\
import keras
import tensorflow as tf

def made():
    inputs = keras.Input(shape=(None, 3))
    return keras.Model(inputs, keras.layers.Dense(1)(inputs))

@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
def doubled(x):
    return x * 2.0
"""
MODEL, CALLED = "the model that it gives when called with nothing", "called with x: f32[4]"


@pytest.mark.parametrize(
    ("line", "lines", "how", "shapes", "name", "status"),
    [
        (5, (4, 6), MODEL, 3, "open-dimension", "confirmed"),
        (5, (4, 6), MODEL, 2, "open-dimension", "open"),  # which may be two batches
        (5, (4, 6), CALLED, 3, "open-dimension", "open"),  # of what makes a model, and is none
        (8, (8, 10), CALLED, 2, "open-dimension", "confirmed"),
        (8, (8, 10), CALLED, 1, "open-dimension", "open"),
        (10, (8, 10), CALLED, 3, "open-dimension", "open"),
        (8, (8, 10), CALLED, 3, "partial-last-batch", "open"),
    ],
)
def test_sizes(
    tmp_path: Path, line: int, lines: tuple[int, int], how: str, shapes: int, name: str, status: str
) -> None:
    file = tmp_path / "m.py"
    file.write_text(CODE)
    finding = Finding(str(file), Span(line, 5, line, 30), "XLA305", name, Severity.INFO, Effect.RECOMPILES, "m")
    finding = replace(finding, context=FindingContext("xla", True))
    calls = tuple(Call(variant, 0, compilations=1) for variant in range(shapes))
    seen = (Observation(RECOMPILES, f"{shapes} compilations for {shapes} shapes", (), "shape"),) * (shapes > 1)
    run = Run(Target(str(file), "f", lines), Outcome(how=how, calls=calls, observations=seen))
    [found] = judged(Report((finding,), files_checked=1), [run], {0: [run]}).findings
    assert found.verdict is not None
    assert found.verdict.status == status
