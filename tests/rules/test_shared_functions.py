"""A function that several callers pass other values: each of them counts, and its place is told of once."""

from __future__ import annotations

from itertools import permutations
from typing import Final

import pytest

from rules.xla513_pipeline_to_move import NOTED
from tests.programs.given_paths import MODEL
from xlalint import lint_source
from xlalint.analysis.fixpoint.setup_calls import MOST_AT_A_PLACE
from xlalint.settings.config import Settings

READ: Final = f"""{MODEL}
import sys

def rows(files):
    return tf.data.TFRecordDataset(files)

"""
KEPT: Final = f"""{MODEL}
import sys

def keep(name):
    model.save_weights(name)

"""
POLICY: Final = """
import tensorflow as tf

def compute_in(name):
    tf.keras.mixed_precision.set_global_policy(name)

"""
TRAINED: Final = """
import tensorflow as tf

def rows(files):
    return tf.data.TFRecordDataset(files).map(lambda row: (tf.io.parse_tensor(row, tf.float32), 1.0)).batch(8)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""


def _codes(program: str, target: str | None = None) -> list[str]:
    return [finding.code for finding in lint_source(program, settings=Settings(target=target)).findings]


@pytest.mark.parametrize(("start", "name", "code"), [(READ, "rows", "XLA504"), (KEPT, "keep", "XLA511")])
@pytest.mark.parametrize("order", list(permutations(("'a/b'", "'gs://bucket/b'", "sys.argv[1]"))))
def test_one_caller_is_enough_wherever_it_stands(start: str, name: str, code: str, order: tuple[str, ...]) -> None:
    calls = [f"{name}({path})" for path in order]
    assert _codes(start + "\n".join(calls)) == [code]
    assert _codes(start + "\n".join(call for call in calls if "a/b" not in call)) == []


def test_each_policy_counts() -> None:
    """A program that may compute in bfloat16 as well has thought of TPUs."""
    calls = ['compute_in("mixed_float16")', 'compute_in("mixed_bfloat16")']
    assert _codes(POLICY + calls[0], "tpu") == ["XLA514"]
    for order in permutations(calls):
        assert _codes(POLICY + "\n".join(order), "tpu") == []


def test_a_place_is_noted_once() -> None:
    """However many callers name files of this machine, each place has one note."""
    several = "".join(f"model.fit(rows('part-{part}/rows'))\n" for part in range(NOTED + 1))
    other = "model.fit(tf.data.TFRecordDataset('last/rows').batch(8))\n"
    program = TRAINED + several + other
    findings = lint_source(program, settings=Settings(target="tpu")).findings
    (found,) = [finding for finding in findings if finding.code == "XLA513"]
    lines = program.splitlines()
    places = [found.span.line, *(note.span.line for note in found.notes)]
    assert [lines[line - 1].strip()[:11] for line in places] == ["return tf.d", "model.fit(t"]


def test_as_many_callers_as_are_told_apart() -> None:
    """Those beyond that are no longer read, the first of a program among them."""
    elsewhere = [f"rows('gs://bucket/{number}')" for number in range(MOST_AT_A_PLACE)]
    assert _codes(READ + "\n".join(["rows('a/b')", *elsewhere[1:]])) == ["XLA504"]
