"""Methods of a class of which the project uses what inherits from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_BASE = """\
import tensorflow as tf

class Base:
    def __init__(self, encoder):
        self.encoder = encoder

    def step(self, x):
        return tf.range(tf.cast(tf.reduce_max(self.encoder.encode(x)), tf.int32))
"""
_HEIR = """\
import tensorflow as tf
from base import Base

class Encoder:
    def __init__(self, table):
        self.table = {"codes": 7}[table]

    def encode(self, x):
        return tf.abs(x) * float(self.table)

class Small(Base):
    def __init__(self, table="codes"):
        super().__init__(Encoder(table))
"""
_OWN_STEP = """\
from base import Base

class Other(Base):
    def __init__(self):
        raise OSError("a file that is not there")

    def step(self, x):
        return x
"""


def test_a_class_in_a_file_that_nothing_imports(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("A project.\n")
    (tmp_path / "base.py").write_text(_BASE)
    (tmp_path / "a_step_of_its_own.py").write_text(_OWN_STEP)
    (tmp_path / "small.py").write_text(_HEIR)
    target = Targets().at(tmp_path / "base.py", "Base.step")
    outcome = worker.ask(target, Plan(drive_only=True), Limits())
    assert outcome.not_run is None, outcome
    assert outcome.how.startswith("Small(")
