"""`xlalint readiness --prove`: what is compiled for a TPU, how its verdicts decide, and what is said where none is."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.commands import ran
from xlalint.probe.process import Interpreter
from xlalint.probe.protocol import (
    FAILS,
    TPU,
    TPU_BOUNDED,
    TPU_FAILS,
    Call,
    Lowering,
    Observation,
    Outcome,
    Spot,
    Trouble,
)
from xlalint.probe.running import Ran
from xlalint.probe.target import Target
from xlalint.probe.verdicts import Run
from xlalint.readiness import proof
from xlalint.readiness.checklist import State, examine
from xlalint.settings.config import ProbeSettings, Settings
from xlalint.tpu import stack
from xlalint.tpu.chips import DEFAULT

CODE: Final = """\
import keras
import tensorflow as tf


class Scale(keras.layers.Layer):
    def call(self, x):
        return x * 2.0


class Net(keras.Model):
    def call(self, x):
        return tf.nn.relu(x)


@tf.function(jit_compile=True)
def step(x):
    return x + 1.0


def classifier(classes=10):
    images = keras.Input([32, 32, 3])
    return keras.Model(images, keras.layers.Dense(classes)(images))


def size():
    return 3


def main():
    model = classifier()
    model.compile("adam", "mse")
    model.fit(tf.ones([64, 32, 32, 3]), tf.ones([64, 32, 32, 10]))


main()
"""
SCRIPT: Final = """\
import keras

model = keras.Sequential([keras.layers.Dense(2)])
model.compile("sgd", "mse")
with strategy().scope():
    other = keras.Sequential([keras.layers.Dense(2)])
    other.compile("sgd", "mse")
if __name__ == "__main__":
    last = keras.Sequential([keras.layers.Dense(2)])
    last.compile("sgd", "mse")
"""
FITS: Final = Lowering("the function", DEFAULT, None, 1.5, 2**30)
GRADIENT: Final = replace(FITS, of="its gradient")
UNTRIED: Final = Lowering("its gradient", DEFAULT, untried="it has strings")
TOO_LARGE: Final = Observation(TPU_FAILS, f"{DEFAULT} refuses its gradient: it does not fit")
REFUSED: Final = Lowering("its gradient", DEFAULT, "it does not fit")
NO_TRACE: Final = Call(0, 0, error=Trouble("TypeError", "no way", "trace", (Spot("/m.py", 3),)))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(CODE, encoding="utf-8")
    return tmp_path / "m.py"


Answers = Callable[[Target], Outcome]


def recorded(monkeypatch: pytest.MonkeyPatch, answer: Answers, *, complete: bool = True) -> list[ProbeSettings]:
    """Have a compiler that says what it is told to. What it was asked with is in the list that comes back."""
    asked: list[ProbeSettings] = []

    def run_targets(
        targets: Sequence[Target],
        settings: ProbeSettings,
        cache_dir: Path | None,
        heard: Callable[[Run], None],
        told: Callable[[str], None],
    ) -> Ran:
        asked.append(settings)
        runs = [Run(target, answer(target)) for target in targets]
        for run in runs:
            heard(run)
        return Ran(runs, complete)

    monkeypatch.setattr(proof, "run_targets", run_targets)
    monkeypatch.setattr("xlalint.probe.running.check_available", lambda settings: None)
    return asked


def proven(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any], str]:
    code, out, err = ran(capsys, "readiness", "m.py", "--prove", "--isolated", "--output-format", "json", *options)
    return code, json.loads(out)["items"][-1], err


def test_compiled_code_and_models_are_what_is_compiled(program: Path) -> None:
    job = proof.planned(examine(["m.py"], Settings()), ["m.py"], Settings())
    assert [target.qualname for target in job.targets] == ["Net.call", "classifier", "Scale.call", "step"]
    assert not job.without
    assert not any(target.wanted for target in job.targets)


def test_models_of_a_script_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that its top makes and compiles, whatever is around them, but not what only the program itself runs."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(SCRIPT, encoding="utf-8")
    job = proof.planned(examine(["m.py"], Settings()), ["m.py"], Settings())
    assert [(target.qualname, target.kind, target.lines) for target in job.targets] == [
        ("model", "object", (3, 3)),
        ("other", "object", (6, 6)),
    ]


def test_all_that_compiles_is_ready(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = recorded(monkeypatch, lambda target: Outcome(programs=(FITS, GRADIENT), inputs=("x: f32[4, 4]",)))
    code, item, err = proven(capsys, "--batch", "512", "--topology", "v6e:2x2", "--timeout", "300")
    assert (code, item["state"], item["name"], item["next"]) == (0, "ok", "proof", None)
    assert "the probe executes the code: 4 functions" in err
    assert item["title"] == "the TPU compiler accepts it (v6e:2x2, 512 examples at once)"
    assert [one["outcome"] for one in item["proofs"]] == ["tpu-compiles"] * 4
    assert [(one["of"], one["memory"]) for one in item["proofs"][0]["programs"]] == [
        ("the function", 2**30),
        ("its gradient", 2**30),
    ]
    assert [(one.target, one.topology, one.batch, one.timeout) for one in asked] == [("tpu", "v6e:2x2", 512, 300)]
    code, out, _ = ran(capsys, "readiness", "m.py", "--prove", "--isolated")
    assert (code, "  tpu-compiles `Net.call` with x: f32[4, 4]\n" in out) == (0, True)
    assert "             tpu-compiles: the function, for v5e:2x2 in 1.5 s; 1.0 GiB of the 15.8 GiB of a" in out
    code, out, _ = ran(capsys, "readiness", "m.py", "--prove", "--isolated", "--output-format", "markdown")
    assert "- [x] **ok** the TPU compiler accepts it (v5e:2x2)\n  - m.py:11  tpu-compiles `Net.call` with" in out


@pytest.mark.parametrize(
    ("outcome", "word", "said", "state", "code"),
    [
        (Outcome(observations=(TOO_LARGE,), programs=(FITS, REFUSED)), "tpu-fails", "it does not fit", "attention", 1),
        (Outcome(not_run="tracing it raises", calls=(NO_TRACE,)), "tpu-fails", "TypeError: no way", "attention", 1),
        (
            Outcome(observations=(Observation(FAILS, "it died"),), death="died", died_at=TPU),
            "tpu-fails",
            "it died",
            "attention",
            1,
        ),
        (
            Outcome(observations=(Observation(TPU_BOUNDED, "padded"),), programs=(FITS,)),
            "tpu-bounded",
            "padded",
            "ok",
            0,
        ),
        (Outcome(programs=(FITS, UNTRIED)), "not run", "it has strings", "not seen", 2),
        (
            Outcome(programs=(FITS,), death="did not finish within 2 s"),
            "not run",
            "the process did not finish within 2 s",
            "not seen",
            2,
        ),
        (Outcome(not_run="no inputs found"), "not run", "no inputs found", "not seen", 2),
        (Outcome(), "not run", "nothing was compiled", "not seen", 2),
    ],
)
def test_one_that_does_not_compile_decides(
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcome: Outcome,
    word: str,
    said: str,
    state: str,
    code: int,
) -> None:
    well = Outcome(programs=(FITS,))
    recorded(monkeypatch, lambda target: outcome if target.qualname == "Net.call" else well)
    found, item, _ = proven(capsys)
    assert (found, item["state"]) == (code, state)
    assert item["proofs"][0]["outcome"] == word
    assert said in " ".join(item["proofs"][0]["told"])
    assert {one["outcome"] for one in item["proofs"][1:]} == {"tpu-compiles"}


def test_where_there_is_nothing_to_compile_nothing_is_ready(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text("import tensorflow as tf\n", encoding="utf-8")
    recorded(monkeypatch, lambda target: Outcome())
    code, item, err = proven(capsys)
    assert (code, item["state"], item["proofs"]) == (2, State.NOT_SEEN, [])
    assert "pass the files of the model" in item["next"]
    assert "executes" not in err


def test_what_was_compiled_before_an_interruption_is_told(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        identity = "of nothing"

        def __init__(self, *given: object) -> None:
            pass

        def run(self, targets: Sequence[Target], done: Callable[[int, Outcome], None]) -> None:
            done(0, Outcome(programs=(FITS,), not_run="the probe was interrupted", death="was interrupted"))
            raise KeyboardInterrupt

    monkeypatch.setattr("xlalint.probe.running.interpreter_of", lambda settings: Interpreter())
    monkeypatch.setattr("xlalint.probe.running.Pool", Interrupted)
    code, item, _ = proven(capsys)
    assert (code, item["state"]) == (130, "not seen")
    assert [one["outcome"] for one in item["proofs"]] == ["not run"] * 4
    assert "tpu-compiles: the function" in item["proofs"][0]["told"][0]
    assert {one["told"][-1] for one in item["proofs"]} == {"the probe was interrupted"}


def test_an_interruption_is_told(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(monkeypatch, lambda target: Outcome(not_run="the probe was interrupted"), complete=False)
    code, item, _ = proven(capsys)
    assert (code, item["state"]) == (130, "not seen")


@pytest.mark.parametrize(
    ("machine", "said"), [("x86_64", "`xlalint tpu setup` installs it"), ("aarch64", "on Linux on x86-64 only")]
)
def test_without_the_compiler_the_list_is_there_all_the_same(
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    machine: str,
    said: str,
) -> None:
    monkeypatch.setenv(stack.HOME, str(program.parent / "nowhere"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    code, item, err = proven(capsys)
    assert (code, item["state"], item["proofs"]) == (2, "not seen", [])
    assert err.startswith("xlalint: error: nothing was compiled for a TPU: ")
    assert err.count("\n") == 1
    assert said in err
    assert said in item["next"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--batch", "8"), "--batch is for --prove"),
        (("--prove", "--topology", "v9:2x2"), "v9:2x2: not a TPU topology"),
        (("--prove", "--batch", "0"), "0 is not in the range"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    program: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, _, err = ran(capsys, "readiness", "m.py", "--isolated", *options)
    assert code == 2
    assert said in err
