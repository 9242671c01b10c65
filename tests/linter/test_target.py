"""What the code is for decides how grave findings are: what a TPU's strategy refuses, and what is about TPUs alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import ran
from tests.programs.tpu import VM
from xlalint.authoring import examples, verdicts
from xlalint.facts import tables, tpu
from xlalint.facts.tables import Case, Outcome
from xlalint.facts.tpu import TpuOutcome
from xlalint.findings.findings import Effect, Severity
from xlalint.linter.rule import Recompiles, all_rules
from xlalint.linter.run import Stdin, check
from xlalint.settings.config import Settings

STEP = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x, n, i):
    counted = tf.reduce_sum(tf.range(n))
    cut = tf.reduce_sum(x[:n])
    return counted + cut + x[i]
"""
EAGERLY = f"""{VM}
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
"""
EXAMPLE = Path("/xlalint/example.py")
WARNING, INFO, ERROR = Severity.WARNING, Severity.INFO, Severity.ERROR
# By line of STEP: the size that `tf.range` takes, the slice, the position.
ELSEWHERE = {5: (Effect.RECOMPILES, WARNING), 6: (Effect.RECOMPILES, WARNING), 7: (Effect.RECOMPILES, WARNING)}
ALSO_THERE = {5: (Effect.FAILS, ERROR), 6: (Effect.RECOMPILES, WARNING), 7: (Effect.RECOMPILES, WARNING)}
THERE_ALONE = {5: (Effect.FAILS, ERROR), 6: (Effect.NAMED, WARNING), 7: (Effect.RECOMPILES, INFO)}


def judged(folder: Path, target: str | None, **files: str) -> dict[int, tuple[Effect | None, Severity]]:
    """By line of STEP what is said of it."""
    for name, text in {"step": STEP, **files}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    found = check([folder], Settings(target=target)).findings
    return {one.span.line: (one.effect, one.severity) for one in found if Path(one.path).name == "step.py"}


@pytest.mark.parametrize(
    ("target", "expected"),
    [(None, ELSEWHERE), ("cpu", ELSEWHERE), ("gpu", ELSEWHERE), ("tpu", THERE_ALONE)],
)
def test_what_is_set_decides(
    tmp_path: Path, target: str | None, expected: dict[int, tuple[Effect | None, Severity]]
) -> None:
    assert judged(tmp_path, target) == expected


def test_a_strategy_for_tpus_decides_where_nothing_is_set(tmp_path: Path) -> None:
    assert judged(tmp_path, None, train=VM) == ALSO_THERE
    assert judged(tmp_path, "gpu", train=VM) == ELSEWHERE
    assert judged(tmp_path, "tpu", train=VM) == THERE_ALONE


@pytest.mark.parametrize(
    "files",
    [
        {"test_train": f"import unittest\n{VM}"},
        {"train": "import tensorflow as tf\n\nstrategy = tf.distribute.MirroredStrategy()\n"},
    ],
)
def test_other_strategies_and_tests_do_not(tmp_path: Path, files: dict[str, str]) -> None:
    assert judged(tmp_path, None, **files) == ELSEWHERE


def test_what_becomes_of_it_on_a_tpu_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "step.py").write_text(STEP, encoding="utf-8")
    ends = {
        (): [
            "for every new value; under a TPU strategy it does not compile",
            "for every new value",
            "for every new value",
        ],
        ("--target", "cpu"): ["for every new value"] * 3,
        ("--target", "tpu"): [
            "for every new value; under a TPU strategy it does not compile",
            "for every new value; under a TPU strategy it compiles once, with a bounded dynamic shape",
            "for every new value; under a TPU strategy it compiles once",
        ],
    }
    for options, expected in ends.items():
        ran_so = ran(capsys, "check", "--isolated", "--no-cache", "--output-format", "json", *options, str(tmp_path))
        messages = [finding["message"] for finding in json.loads(ran_so[1])["findings"]]
        assert [message.partition("XLA recompiles ")[2] for message in messages] == expected


def test_what_is_about_tpus_alone_is_information_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EAGERLY, encoding="utf-8")
    for target, severity in ((None, WARNING), ("tpu", WARNING), ("cpu", INFO), ("gpu", INFO)):
        [finding] = check([tmp_path], Settings(target=target)).findings
        assert (finding.code, finding.effect, finding.severity) == ("XLA506", Effect.TPU, severity)


def test_what_a_tpu_has_no_kernel_for_is_an_error_where_one_is_used(tmp_path: Path) -> None:
    text = f"""{VM}
def step(batch):
    return tf.abs(tf.cast(batch, tf.complex128))

@tf.function
def train(batch):
    return strategy.run(step, args=(batch,))

train(tf.ones([4]))
"""
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    for target, severity in ((None, ERROR), ("tpu", ERROR), ("cpu", INFO)):
        [finding] = check([tmp_path], Settings(target=target)).findings
        assert (finding.code, finding.effect, finding.severity) == ("XLA507", Effect.TPU, severity)


def test_severities_that_are_set_come_first(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP, encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu", severities={"XLA205": INFO, "XLA206": ERROR})).findings
    assert [finding.severity for finding in found] == [INFO, INFO, ERROR]


def test_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.xlalint]\ntarget = "gpu"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    _, shown, _ = ran(capsys, "check", "--show-settings")
    assert re.search(r'^target += "gpu"  # pyproject.toml$', shown, re.MULTILINE)
    code, _, complaint = ran(capsys, "check", "--config", 'target = "npu"')
    assert (code, complaint) == (
        2,
        'xlalint: error: --config target = "npu": target: expected one of cpu, gpu, tpu\n',
    )


# -- what the rules go by ---------------------------------------------------------------------------------------------

_WORST = {Outcome.OK: TpuOutcome.OK, Outcome.BOUNDED: TpuOutcome.BOUNDED, Outcome.FAILS: TpuOutcome.FAILS}


def carried(case: Case) -> TpuOutcome:
    """What a loop makes of the arguments that the compilations of a call follow: the gravest."""
    return max((_WORST[one.carried] for one in case.follows.values()), key=list(_WORST.values()).index)


def test_a_tpu_takes_values_as_other_compilers_take_those_of_a_loop() -> None:
    """The rules tell what becomes of a value under a TPU's strategy by what becomes of one that a loop makes."""
    cases = [case for fact in tables.apis() for case in fact.cases if case.follows]
    asked = {case.call: found.outcome for case in cases if (found := tpu.of_call(case.call)) is not None}
    told = {call: outcome for call, outcome in asked.items() if outcome is not TpuOutcome.UNTESTED}
    assert len(told) > 250
    assert {case.call: carried(case) for case in cases if case.call in told} == told


def test_examples_are_judged_as_a_tpu_compiler_judges_them() -> None:
    said = {
        TpuOutcome.OK: "it compiles once",
        TpuOutcome.BOUNDED: "with a bounded",
        TpuOutcome.FAILS: "it does not compile",
    }
    judged = 0
    for rule in all_rules():
        for bad in rule.bad:
            found = tpu.of_example(verdicts.digest(bad))
            if bad.behaviour != Recompiles() or found is None or found.outcome not in said or bad.target is not None:
                continue  # what is about a TPU alone says so in its own words
            code = examples.with_import(bad.code).encode()
            report = check([EXAMPLE], Settings(codes=frozenset({rule.code}), target="tpu"), Stdin(EXAMPLE, code))
            told = [one for one in report.findings if one.effect is not Effect.NAMED or "strategy" in one.message]
            judged += len(told)
            assert {one.message for one in told if said[found.outcome] not in one.message} == set(), bad.code
    assert judged > 20
