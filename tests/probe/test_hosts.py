"""Host code is run as host code: how often do the calls of compiled functions in it compile?"""

from __future__ import annotations

import re

import pytest

from xlalint.findings.findings import Report
from xlalint.linter.run import check
from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import PROGRAM, Plan
from xlalint.probe.targets import NoTarget, Targets
from xlalint.probe.verdicts import Run, judged
from xlalint.settings import config

pytestmark = pytest.mark.compiler

CODE = """
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x, i):
    return x * tf.cast(i, tf.float32)


@tf.function(jit_compile=True)
def last(x):
    return x[:, -1:] * 2.0


class Trainer:
    def __init__(self):
        self.total = tf.Variable(tf.zeros([4, 4]))

    @tf.function(jit_compile=True)
    def step(self, x, i):
        self.total.assign_add(x * tf.cast(i, tf.float32))

    def train(self, x):
        for i in range(5):
            self.step(x, i)  # <- confirmed: 5 compilations for 5 calls of `step` with tensors of the same shapes


def train(x):
    for i in range(5):
        x = step(x, i)  # <- confirmed: 5 compilations for 5 calls of `step` with tensors of the same shapes
    return x


def grow(tokens):
    for _ in range(4):
        tokens = tf.concat([tokens, last(tokens)], axis=1)  # <- confirmed: tensors of other shapes
    return tokens


def made(x):
    for i in range(3):
        @tf.function(jit_compile=True)  # <- confirmed: another function each time
        def double(x):
            return x * 2.0

        x = double(x)
    return x


def once(x, steps=4):
    for i in range(steps):
        x = step(x, i)  # <- confirmed: 4 compilations
    return object()


def leaves(x):
    for i in range(6):
        x = step(x, i)  # <- open: fewer than two calls
        if i == 0:
            return x
    return x


total = tf.zeros([3])
for k in range(5):
    total += step(tf.ones([3]), k * 0.5)  # <- confirmed: 5 compilations
"""

CASES = {
    number: (found[1], found[2])
    for number, text in enumerate(CODE.splitlines(), 1)
    if (found := re.search(r"# <- (\w+): (.*)", text))
}


@pytest.fixture(scope="module")
def report(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hosts")
    (folder / "program.py").write_text(CODE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = check(["program.py"], config.load([folder], isolated=True))
        places = {id(finding): place for place, finding in enumerate(found.findings)}
        owners: dict[int, list[Run]] = {}
        for target, findings in Targets().of_findings(found.findings):
            assert not isinstance(target, NoTarget)
            assert target.host
            assert (target.kind == PROGRAM) == (target.qualname == "")
            run = Run(target, worker.ask(target, Plan(), Limits(function=120)))
            owners |= {places[id(finding)]: [run] for finding in findings}
        return judged(found, list({id(run): run for [run] in owners.values()}.values()), owners)


@pytest.mark.parametrize("line", CASES)
def test_the_calls_of_a_loop_are_counted(report: Report, line: int) -> None:
    [finding] = [one for one in report.findings if one.span.line == line]
    status, said = CASES[line]
    assert finding.verdict is not None
    assert finding.verdict.status == status, finding.verdict.text
    assert said in finding.verdict.text


def test_nothing_else_is_said(report: Report) -> None:
    assert {one.span.line for one in report.findings} == set(CASES)
