"""A tensor that the probe made up confirms nothing of a parameter that the project's own calls may give a list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span, TrailStep
from xlalint.probe.guessed import GUESSED
from xlalint.probe.protocol import FAILS, Observation, Outcome, Spot
from xlalint.probe.target import Given, Target
from xlalint.probe.verdicts import Run, judged

LOSS = """\
import tensorflow as tf

class Matching(tf.keras.losses.Loss):
    def call(self, real, fake):
        total = 0.0
        for place in range(len(real) - 1):
            total += tf.reduce_mean(real[place] - fake[place])
        if tf.size(real) > 4:
            total *= 2.0
        for one in fake:
            total += 1.0 if one else 0.0
        return total

def halved(x: tf.Tensor, y, switch):
    if x:
        y = y / 2.0
    return y if switch else x
"""
STEP = """\
import tensorflow as tf
from losses import Matching, halved

class Trainer:
    def __init__(self, critic):
        self.critic = critic
        self.matching = Matching()

    def step(self, image, fake):
        return self.matching(PASSED)

def train(x):
    return halved(x, 1.0, switch=SWITCH)
"""
_LINES = LOSS.splitlines()


def _span(text: str, within: str) -> Span:
    line = next(number for number, one in enumerate(_LINES, 1) if within in one)
    column = _LINES[line - 1].index(text, _LINES[line - 1].index(within)) + 1
    return Span(line, column, line, column + len(text))


def _status(folder: Path, span: Span, *, step: str | None, name: str = "host-read", **more: object) -> tuple[str, str]:
    file = folder / "losses.py"
    file.write_text(LOSS)
    (folder / "README.md").touch()
    if step is not None:
        (folder / "step.py").write_text(step)
    trail = tuple(TrailStep(str(file), 4, "") for _ in range(int(str(more.pop("steps", 1)))))
    made = Finding(str(file), span, "XLA106", name, Severity.INFO, Effect.FAILS, "m")
    finding = replace(made, context=FindingContext("xla", False, trail=trail))
    seen = Observation(FAILS, "it fails", (Spot(str(file), span.line),))
    lines = (4, 12) if span.line < 13 else (14, 17)
    target = Target(str(file), "Matching.call", lines, **{key: one for key, one in more.items() if key == "given"})  # type: ignore[arg-type]
    run = Run(target, Outcome(observations=(seen,), how=str(more.get("how", "called with real: f32[4, 4]"))))
    [found] = judged(Report((finding,), files_checked=1), [run], {0: [run]}).findings
    assert found.verdict is not None
    return found.verdict.status, found.verdict.text


def _passing(text: str) -> str:
    return STEP.replace("PASSED", text)


LENGTH, ITEM, SIZE = _span("len(real)", "range(len"), _span("one", "if one else"), _span("tf.size(real) > 4", "if tf")


@pytest.mark.parametrize(
    "passed", ["self.critic(image), self.critic(fake)", "[image], [fake]", "tf.split(image, 2), 1"]
)
def test_what_may_be_a_list_is_not_confirmed_by_a_tensor(tmp_path: Path, passed: str) -> None:
    assert _status(tmp_path, LENGTH, step=_passing(passed)) == ("open", GUESSED)


def test_items_of_what_may_be_a_list_are_not_confirmed_either(tmp_path: Path) -> None:
    step = _passing("self.critic(image), self.critic(fake)")
    assert _status(tmp_path, ITEM, step=step, name="branch-on-tensor") == ("open", GUESSED)


@pytest.mark.parametrize(
    "step",
    [
        None,  # Keras alone calls it
        STEP.replace("self.matching(PASSED)", "image"),
        _passing("tf.abs(image), fake"),
        _passing("tf.cast(image, tf.float32)[0] * 2.0, fake"),
        _passing("near, fake").replace("        return self", "        near = tf.abs(image)\n        return self"),
        _passing("image, fake").replace("image, fake):", "image: tf.Tensor, fake):"),
    ],
)
def test_what_is_a_tensor_is_confirmed(tmp_path: Path, step: str | None) -> None:
    assert _status(tmp_path, LENGTH, step=step)[0] == "confirmed"


@pytest.mark.parametrize(
    "more",
    [
        {"steps": 2},  # the linter follows it from a caller
        {"how": "called with real: f32[4, 4], as `Trainer.step` does"},
        {"given": (Given("real", "f32[4]"),)},
        {"name": "size-from-value"},  # what is no tensor has no such size
    ],
)
def test_what_does_not_rest_on_the_guess_is_confirmed(tmp_path: Path, more: dict[str, object]) -> None:
    step = _passing("self.critic(image), self.critic(fake)")
    name = str(more.pop("name", "host-read"))
    assert _status(tmp_path, LENGTH, step=step, name=name, **more)[0] == "confirmed"


def test_what_is_computed_is_a_tensor_whatever_is_passed(tmp_path: Path) -> None:
    step = _passing("self.critic(image), self.critic(fake)")
    assert _status(tmp_path, SIZE, step=step, name="branch-on-tensor")[0] == "confirmed"


@pytest.mark.parametrize(
    ("text", "switch", "status"),
    [
        ("x", "True", "confirmed"),  # it is said to be a tensor
        ("switch", "True", "open"),
        ("switch", "tf.reduce_any(x > 0.0)", "confirmed"),
    ],
)
def test_functions(tmp_path: Path, text: str, switch: str, status: str) -> None:
    span = _span(text, "if x:" if text == "x" else "switch else")
    step = STEP.replace("PASSED", "image, fake").replace("SWITCH", switch)
    assert _status(tmp_path, span, step=step, name="branch-on-tensor")[0] == status
