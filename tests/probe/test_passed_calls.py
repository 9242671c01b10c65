"""What a project calls things with in files that are not imported, and what a file does only as a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import tensorflow as tf

class Stack:
    def __init__(self, code, sizes):
        if code != 3571 or sizes != (3, 5):
            raise LookupError("not these")
        self.sizes = sizes

    def __call__(self, x):
        if x.shape != (*self.sizes, 7):
            raise LookupError("not this")
        return tf.reduce_sum(x, -1)

    def scaled(self, x, rate):
        return tf.concat([x, x], 2) * rate * self.sizes[0]
"""
_MAIN = """
if __name__ == "__main__":
    WIDTH, code = 7, 3571
    stack = Stack(code, sizes=(3, 5))
    y = stack(tf.random.normal([3, 5, WIDTH]))
"""
_OTHER = """\
import sys

import tensorflow as tf

from program import Stack

WIDTH = 7
stack = Stack(3571, sizes=(3, 5))
print(stack(tf.ones([3, 5, WIDTH])))
sys.exit("it must not run")
"""
_IN_A_METHOD = """\
import sys
from program import Stack

class Trainer:
    def __init__(self, code=3571):
        self.stack = Stack(code, (3, 5))

    def step(self):
        return self.stack(tf.ones((3, 5, 7)))

sys.exit("it must not run")
"""


@pytest.mark.parametrize("where", ["itself", "another", "a-method"])
def test_an_object_is_made_and_called_as_there(worker: Worker, tmp_path: Path, where: str) -> None:
    (tmp_path / "README.md").write_text("A project.\n")
    (tmp_path / "program.py").write_text(_PROGRAM + (_MAIN if where == "itself" else ""))
    if where != "itself":
        (tmp_path / "run.py").write_text(_OTHER if where == "another" else _IN_A_METHOD)
    outcome = worker.ask(Targets().at(tmp_path / "program.py", "Stack"), Plan(drive_only=True), Limits())
    assert outcome.not_run is None, outcome
    assert outcome.how == "Stack(code: 3571, sizes: (3, 5)), called with x: f32[3, 5, 7]"
    method = worker.ask(Targets().at(tmp_path / "program.py", "Stack.scaled"), Plan(drive_only=True), Limits())
    assert method.not_run is None, method
    assert method.how.startswith("Stack(code: 3571, sizes: (3, 5)).scaled with x: f32[4, 4, 4]")
