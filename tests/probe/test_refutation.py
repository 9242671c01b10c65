"""A finding is refuted by what would have shown it, and by nothing less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from xlalint.findings.findings import Effect, Finding, FindingContext, Report, Severity, Span
from xlalint.linter.run import check
from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import NoTarget, Targets
from xlalint.probe.verdicts import Run, judged
from xlalint.settings import config

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

# Each function has one finding that this TensorFlow does not bear out: `# <- STATUS: why` behind the line.
CODE = """
import keras
import tensorflow as tf


@tf.function(jit_compile=True)
def number_for_tensor(x, n: int = 2):
    return tf.zeros([n]) + x[0, 0]  # <- open: no such tensor


@tf.function(jit_compile=True)
def all_selected(x):
    kept = tf.boolean_mask(x, tf.abs(x) >= 0.0)  # <- open: selects the same number
    return kept[-1]


@tf.function(jit_compile=True)
def inverted(x):
    return tf.linalg.inv(x)  # <- refuted: 18 of 18 calls equal


@tf.function(jit_compile=True)
def ignored(x):
    tf.debugging.assert_less(x, 100.0)  # <- confirmed: eager execution raises InvalidArgumentError
    return x * 2.0


@tf.function(jit_compile=True)
def compiles_as_said(x):
    if tf.reduce_sum(x) > 0.0:  # <- open: says that this TensorFlow compiles it
        x = x * 2.0
    return x


class Scaled(keras.layers.Layer):
    def call(self, x, scale=None):
        if scale is not None and tf.reduce_sum(scale) > 0.0:  # <- open: no such tensor
            x = x * scale
        return x
"""


@dataclass(frozen=True)
class Case:
    line: int
    status: str
    why: str


CASES = [
    Case(number, found[1], found[2])
    for number, text in enumerate(CODE.splitlines(), 1)
    if (found := re.search(r"# <- (\w+): (.*)", text))
]


# What a rule of somebody's own might say that is not true.
OWN = {"tf.zeros([n])": ("tf.zeros", Effect.RECOMPILES), "tf.linalg.inv(x)": ("tf.linalg.inv", Effect.FAILS)}


def own_findings() -> Iterator[Finding]:
    for number, text in enumerate(CODE.splitlines(), 1):
        for call, (api, effect) in OWN.items():
            if (start := text.find(call) + 1) > 0:
                span, context = Span(number, start, number, start + len(call)), FindingContext("xla", True)
                yield Finding("program.py", span, "ACME101", "own", Severity.ERROR, effect, "m", context, api=api)


@pytest.fixture(scope="module")
def report(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("refutation")
    file = folder / "program.py"
    file.write_text(CODE)
    settings = config.load([folder], isolated=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = check(["program.py"], settings)
        found = replace(found, findings=(*found.findings, *own_findings()))
        positions = {id(finding): position for position, finding in enumerate(found.findings)}
        runs: list[Run] = []
        owners: dict[int, list[Run]] = {}
        for target, findings in Targets().of_findings(found.findings):
            assert not isinstance(target, NoTarget)
            runs.append(Run(target, worker.ask(target, Plan(), Limits(function=120))))
            owners |= {positions[id(finding)]: runs[-1:] for finding in findings}
        return judged(found, runs, owners)


@pytest.mark.parametrize("case", CASES, ids=[f"line {case.line}" for case in CASES])
def test_only_what_would_have_shown_it_refutes(report: Report, case: Case) -> None:
    [finding] = [one for one in report.findings if one.span.line == case.line]
    assert finding.verdict is not None
    assert finding.verdict.status == case.status, finding.verdict.text
    assert case.why in finding.verdict.text
