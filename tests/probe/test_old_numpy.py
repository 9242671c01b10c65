"""Code that is written for an older NumPy is driven beside one that has taken its names away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import FAILS, Plan
from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import numpy as np
import tensorflow as tf

SIZES = np.array([3, 5], dtype=np.int)

def unique(x):
    scale = np.float(SIZES[0]) + np.product(SIZES)
    return tf.unique_with_counts(x)[0] * scale

def counted(x):
    return x * np.no_such_name
"""


def test_names_that_numpy_has_no_more(worker: Worker, tmp_path: Path) -> None:
    assert not hasattr(np, "int")  # here, and not in what runs the program
    (tmp_path / "program.py").write_text(_PROGRAM)
    outcome = worker.ask(Targets().at(tmp_path / "program.py", "unique"), Plan(), Limits())
    assert outcome.not_run is None, outcome
    assert [one.spots[0].line for one in outcome.observations if one.kind == FAILS] == [8]
    other = worker.ask(Targets().at(tmp_path / "program.py", "counted"), Plan(drive_only=True), Limits())
    assert other.not_run is not None
    assert "no_such_name" in other.not_run
