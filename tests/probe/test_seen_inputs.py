"""Inputs that a project's tests show, of which other values are made: lists of numbers, and structures of tensors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import DIVERGES, FAILS, RECOMPILES, Outcome, Plan
from xlalint.probe.targets import Targets

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import numpy as np
import tensorflow as tf

def repeated(counts: tf.Tensor):
    return tf.repeat(tf.range(tf.shape(counts)[0]), counts)

def picked(graph, name):
    if name != "rows":
        raise ValueError("not that")
    return tf.gather(graph[10], graph[11])

def as_number(x):
    return x.numpy().max()

def as_array(x):
    return np.square(x)

def named(x):
    return ["one" for _ in x]
"""
_TESTS = """\
import numpy as np
from program import picked, repeated

def test_repeated():
    assert repeated([2, 3]).shape == (5,)

def test_picked():
    graph = {10: np.ones([7, 3], np.float32), 11: np.array([0, 5])}
    assert picked(graph, "rows").shape == (2, 3)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seen")
    (folder / "program.py").write_text(_PROGRAM)
    (folder / "test_program.py").write_text(_TESTS)
    return folder / "program.py"


def outcome_of(worker: Worker, project: Path, name: str, text: str) -> tuple[Outcome, set[str]]:
    """What becomes of a function, and the kinds of what is seen at the line that has a text."""
    line = next(number for number, one in enumerate(_PROGRAM.splitlines(), 1) if text in one)
    target = replace(Targets().at(project, name), wanted=(line,), extreme=True)
    outcome = worker.ask(target, Plan(gradients=False), Limits())
    spots = ((one.kind, spot) for one in outcome.observations for spot in one.spots)
    return outcome, {kind for kind, spot in spots if spot.line == line}


def test_a_list_of_numbers_is_a_tensor_where_one_is_expected(worker: Worker, project: Path) -> None:
    outcome, kinds = outcome_of(worker, project, "repeated", "tf.repeat")
    assert outcome.inputs == ("counts: i32[2]",)
    assert RECOMPILES in kinds, outcome


def test_tensors_in_a_structure_that_was_seen_get_values_out_of_range(worker: Worker, project: Path) -> None:
    outcome, kinds = outcome_of(worker, project, "picked", "tf.gather")
    assert outcome.inputs[0] == "graph: <dict>", outcome
    assert kinds == {DIVERGES}, outcome


@pytest.mark.parametrize(("name", "text"), [("as_number", ".numpy()"), ("as_array", "np.square(")])
def test_numbers_that_are_read_from_a_tensor_are_results(worker: Worker, project: Path, name: str, text: str) -> None:
    outcome, kinds = outcome_of(worker, project, name, text)
    assert kinds == {FAILS}, outcome


def test_what_holds_no_numbers_is_not_compiled(worker: Worker, project: Path) -> None:
    outcome, _ = outcome_of(worker, project, "named", "one")
    assert outcome.not_run is not None
    assert outcome.not_run.startswith("it returns no tensor")


def test_a_tensor_of_a_graph_gives_an_input_of_the_sizes_that_it_knows() -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    from xlalint.probe.worker.inputs.recorded_calls import form_of
    from xlalint.probe.worker.inputs.tensors import ObjectInput
    from xlalint.sources.specs import Spec

    with tf.Graph().as_default():
        sized, unsized = (tf.compat.v1.placeholder(tf.int32, shape) for shape in ((None, 7), None))
        for generated in (True, False):
            found = form_of(sized, generated)
            assert isinstance(found, Spec)
            assert (found.dtype, found.shape()) == ("int32", (4, 7))
            assert isinstance(form_of(unsized, generated), ObjectInput)
