"""Methods of a class of which the project uses what inherits from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets
from xlalint.probe.worker.code.abstract import is_abstract

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
_ABSTRACT = """\
from abc import abstractmethod
import keras

class Messages(keras.layers.Layer):
    @abstractmethod
    def message(self, x):
        return x

    def messages(self, parts):
        return [self.message(part) for part in parts]
"""
_CONCRETE = """\
from messages import Messages

class Doubled(Messages):
    def message(self, x):
        return x * 2.0
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


def test_a_layer_that_leaves_a_method_to_what_inherits_it(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("A project.\n")
    (tmp_path / "messages.py").write_text(_ABSTRACT)
    (tmp_path / "doubled.py").write_text(_CONCRETE)
    target = Targets().at(tmp_path / "messages.py", "Messages.messages")
    outcome = worker.ask(target, Plan(drive_only=True), Limits())
    assert outcome.how.startswith("Doubled().messages with parts: ")


@pytest.mark.parametrize("base", [ABC, object])
def test_what_has_implemented_all_is_not_abstract(base: type) -> None:
    class Open(base):  # type: ignore[misc]
        @abstractmethod
        def area(self) -> float: ...

    class Closed(Open):
        def area(self) -> float:
            return 1.0

    assert is_abstract(Open)
    assert not is_abstract(Closed)
