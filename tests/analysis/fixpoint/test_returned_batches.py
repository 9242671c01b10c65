"""Batches that functions return which nothing is seen to call, and what whoever trains on them has of their shapes."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.findings.findings import Severity
from xlalint.settings.config import Settings

FUNCTION: Final = """\
import tensorflow as tf

def batches(paths, size):
    rows = tf.data.Dataset.from_tensor_slices(paths).map(lambda path: tf.zeros([4]))
    words = tf.data.TextLineDataset(paths).map(tf.strings.split)
    return {}
"""
CALL: Final = "\nfor rows in batches(['a', 'b'], 8):\n    print(rows)\n"


def told(returned: str, below: str = "", target: str | None = "tpu") -> list[tuple[str, Severity]]:
    found = lint_source(FUNCTION.format(returned) + below, settings=Settings(target=target)).findings
    return [(one.code, one.severity) for one in found]


@pytest.mark.parametrize(
    ("returned", "codes"),
    [
        ("rows.batch(size)", ["XLA302"]),
        ("rows.batch(32, drop_remainder=True), rows.batch(32)", ["XLA302"]),
        ("{'train': rows.shuffle(9).batch(32).prefetch(1)}", ["XLA302"]),
        ("words.padded_batch(8)", ["XLA303"]),
        ("rows.repeat().batch(size)", []),
        ("rows.batch(size, drop_remainder=True)", []),
        ("rows", []),
        ("next(iter(rows.batch(size)))", []),
    ],
)
def test_batches_of_several_shapes_are_information(returned: str, codes: list[str]) -> None:
    assert told(returned) == [(code, Severity.INFO) for code in codes]


def test_nothing_is_said_without_a_target() -> None:
    assert told("rows.batch(size)", target=None) == []


def test_who_calls_the_function_decides() -> None:
    assert told("rows.batch(size)", CALL) == []


def test_the_fix_is_shown_only() -> None:
    [one] = lint_source(FUNCTION.format("rows.batch(size)"), settings=Settings(target="tpu")).findings
    assert one.fix is not None
    assert one.fix.safety.value == "display"
