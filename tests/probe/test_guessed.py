"""A tensor that the probe made up confirms nothing of a parameter that the project's own calls may give a list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span, TrailStep
from xlalint.probe.guessed import GUESSED, passes_guess, sized_by_guess
from xlalint.probe.protocol import FAILS, RECOMPILES, Observation, Outcome, Spot
from xlalint.probe.target import Given, Target
from xlalint.probe.verdicts import Run, judged

LOSS = """\
import numpy as np
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

def four(boxes, size=3, switch=None):
    left, top, right, bottom = boxes
    sides = []
    some = tf.range(size)
    many = np.mean(boxes)
    rows = some.shape[0]
    for box in boxes:
        left += tf.abs(box)
        sides.append(-box)
    inner(boxes)
    right += tf.concat(sides)
    return some if switch else left

def inner(boxes):
    return len(boxes)
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
    entry = str(more.pop("entry", ""))
    trail = tuple(TrailStep(str(file), 5, entry) for _ in range(int(str(more.pop("steps", 1)))))
    made = Finding(str(file), span, "XLA106", name, Severity.INFO, Effect.FAILS, "m")
    finding = replace(made, context=FindingContext("xla", False, trail=trail))
    seen = Observation(FAILS, "it fails", (Spot(str(file), span.line),))
    lines = next(one for one in ((5, 13), (15, 18), (20, 25)) if span.line <= one[1])
    target = Target(str(file), "Matching.call", lines, **{key: one for key, one in more.items() if key == "given"})  # type: ignore[arg-type]
    how, inputs = str(more.get("how", "called with real: f32[4, 4]")), ("size: i32[]", "boxes: f32[4, 4]")
    versions = {"keras": str(more.get("keras", "3.15.1"))}
    run = Run(target, Outcome(observations=(seen,), how=how, inputs=inputs, versions=versions))
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


@pytest.mark.parametrize(
    ("number", "keras", "status"),
    [("0.5", "3.15.1", "confirmed"), ("0.5", "2.21.0", "open"), ("[0.5]", "3.15.1", "open")],
)
def test_keras_3_makes_tensors_of_numbers_that_losses_are_called_with(
    tmp_path: Path, number: str, keras: str, status: str
) -> None:
    assert _status(tmp_path, LENGTH, step=_passing(f"{number}, fake"), keras=keras)[0] == status


FOUR = """\
from losses import four

def train(x, n):
    n = int(n)
    return four(PASSED)
"""
LAMBDA = """\
import tensorflow as tf
from losses import four

def train(x, several):
    y = x = tf.abs(several)
    return tf.keras.layers.Lambda(lambda x: four(NAME))(several)
"""
RANGE, NUMPY = _span("tf.range(size)", "some ="), _span("np.mean(boxes)", "many =")


@pytest.mark.parametrize(
    ("passed", "status"),
    [
        ("x, 3", "open"),
        ("x", "open"),  # its default
        ("x, size=2 * n", "confirmed"),  # as the function is given it, it may be a tensor
        ("x, size=x.shape[0] - 1", "open"),
        ("x, size=unknown(x)", "confirmed"),
        ("x, size=tf.cast(tf.shape(x)[0], tf.int32)", "open"),
        ("x, size=tf.cast(x[0], tf.int32)", "confirmed"),
        ("x, size=[2, tf.shape(x)[0]]", "open"),
        ("x, size=[2, x[0]]", "confirmed"),
        ("x, *others", "confirmed"),
        ("x, **options", "confirmed"),
    ],
)
def test_sizes_that_all_calls_pass_as_numbers(tmp_path: Path, passed: str, status: str) -> None:
    step = "import tensorflow as tf\n" + FOUR.replace("PASSED", passed)
    assert _status(tmp_path, RANGE, step=step, name="size-from-value")[0] == status


@pytest.mark.parametrize(
    ("entry", "how", "status"),
    [
        ("Model.__init__.<lambda>", "called with size: i32[]", "open"),
        ("Model.__init__.<lambda>", "called with size: i32[], as `Model.call` does", "confirmed"),
        ("Model.call", "called with size: i32[]", "confirmed"),
    ],
)
def test_sizes_that_a_lambda_passes_on(tmp_path: Path, entry: str, how: str, status: str) -> None:
    step = "import tensorflow as tf\n" + FOUR.replace("PASSED", "x, size=x[1]")
    named = {"name": "size-from-value", "entry": entry, "how": how}
    assert _status(tmp_path, RANGE, step=step, steps=2, **named)[0] == status


def test_a_size_that_the_probe_gave_a_number_is_no_guess(tmp_path: Path) -> None:
    span = _span("tf.range(size)", "some =")
    assert not sized_by_guess(str(_written(tmp_path, "x, 3")), span, _target(tmp_path), Outcome(inputs=("size: 3",)))
    assert sized_by_guess(str(_written(tmp_path, "x, 3")), span, _target(tmp_path), Outcome(inputs=("size: i32[]",)))


@pytest.mark.parametrize(("given", "guess"), [("i32[]", True), ("i32[4]", False), ("3", False)])
def test_what_one_number_leads_to_is_a_guess(tmp_path: Path, given: str, guess: bool) -> None:
    span = _span("some.shape[0]", "rows =")
    outcome = Outcome(inputs=(f"size: {given}",))
    assert passes_guess(str(_written(tmp_path, "x, 3")), span, _target(tmp_path), outcome) is guess


@pytest.mark.parametrize(("passed", "status"), [("[x]", "open"), ("unknown(x)", "open"), ("tf.abs(x)", "confirmed")])
def test_what_numpy_is_given(tmp_path: Path, passed: str, status: str) -> None:
    assert _status(tmp_path, NUMPY, step="import tensorflow as tf\n" + FOUR.replace("PASSED", passed))[0] == status


@pytest.mark.parametrize(
    ("spots", "passed", "more", "told"),
    [
        (["left,"], "[x, x, x, x]", {}, False),
        (["left,"], "tf.abs(x)", {}, True),
        (["left +="], "[x, x, x, x]", {}, False),  # an item of what is passed
        (["left +="], "tf.abs(x)", {}, True),
        (["right +="], "[x, x, x, x]", {}, False),  # which is kept in a list
        (["right +="], "tf.abs(x)", {}, True),
        (["some ="], "x, 3", {"lacking": True, "ops": ("Range",)}, True),  # it has no kernel, whatever it is given
        (["return len", "    inner(b"], "[x, x]", {}, False),  # on the way to another function
        (["return len", "    inner(b"], "tf.abs(x)", {}, True),
        (["return some"], "x, 3", {}, False),  # the switch is what it is by default
        (["rows ="], "x, 3", {}, False),  # what a size leads to
        (["rows ="], "x, tf.size(x)", {}, True),
        (["some ="], "x, 3", {"kind": RECOMPILES, "per": "value"}, False),
        (["some ="], "x, unknown(x)", {"kind": RECOMPILES, "per": "value"}, True),
    ],
)
def test_what_only_the_probe_saw_is_told_where_it_holds_for_what_is_passed(
    tmp_path: Path, spots: list[str], passed: str, more: dict[str, object], told: bool
) -> None:
    file = _written(tmp_path, passed)
    places = (next(number for number, one in enumerate(_LINES, 1) if text in one) for text in spots)
    made = Observation(FAILS, "it fails", tuple(Spot(str(file), line) for line in places))
    run = Run(_target(tmp_path), Outcome(observations=(replace(made, **more),), inputs=("size: i32[]",)))  # type: ignore[arg-type]
    assert bool(judged(Report((), files_checked=1), [run], {}).findings) is told


@pytest.mark.parametrize(("name", "told"), [("x", False), ("y", True)])
def test_what_a_lambda_is_given_is_not_what_the_function_around_it_calls_so(
    tmp_path: Path, name: str, told: bool
) -> None:
    file = _written(tmp_path, "x")
    (tmp_path / "step.py").write_text(LAMBDA.replace("NAME", name))
    line = next(number for number, one in enumerate(_LINES, 1) if "left," in one)
    run = Run(_target(tmp_path), Outcome(observations=(Observation(FAILS, "it fails", (Spot(str(file), line),)),)))
    assert bool(judged(Report((), files_checked=1), [run], {}).findings) is told


def _target(folder: Path) -> Target:
    return Target(str(folder / "losses.py"), "four", (20, 31))


def _written(folder: Path, passed: str) -> Path:
    (folder / "losses.py").write_text(LOSS)
    (folder / "README.md").touch()
    (folder / "step.py").write_text("import tensorflow as tf\n" + FOUR.replace("PASSED", passed))
    return folder / "losses.py"


CELLS = """\
import tensorflow as tf

class Inner:
    def initial(self, size):
        return tf.zeros([size])

class Cell:
    def initial(self, size):
        return self.inner.initial(size)

def run(cell, x):
    return cell.initial(PASSED)
"""


@pytest.mark.parametrize(("passed", "told"), [("tf.shape(x)[0]", False), ("x[0]", True)])
def test_what_a_method_of_the_same_name_is_passed_on_says_nothing_of_a_size(
    tmp_path: Path, passed: str, told: bool
) -> None:
    file = tmp_path / "cells.py"
    file.write_text(CELLS.replace("PASSED", passed))
    target = Target(str(file), "Cell.initial", (8, 9), roots=(str(file),))
    made = Observation(RECOMPILES, "3 compilations", (Spot(str(file), 5), Spot(str(file), 9)), "value")
    run = Run(target, Outcome(observations=(made,), inputs=("size: i32[]",)))
    assert bool(judged(Report((), files_checked=1), [run], {}).findings) is told
