"""What is shown to a person to go on from: a sketch must not lead astray where the code around it says more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.linter.rule import Compiles
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SELECTIONS: Final = """\
import keras
import tensorflow as tf

def of(total):
    return tf.reduce_max(total)

@tf.function(jit_compile=True)
def f(x):
    parts = tf.zeros([4]), tf.zeros([4]), tf.zeros([4]), tf.zeros([4])
    if x.shape[0] == 4:
        first = tf.boolean_mask(x, x > 1.0)
        second = tf.boolean_mask(x, x > 2.0)
        third = tf.boolean_mask(x, x > 3.0)
        fourth = tf.boolean_mask(x, x > 4.0)
        parts = first * 2.0, second * 2.0, third, [fourth]
    wrong = [tf.reduce_mean(parts[0]), tf.reduce_max(parts[1]), tf.reduce_sum(parts[2]), of(parts[3][0])]
    return wrong, keras.ops.mean(tf.boolean_mask(x, x > 5.0))
"""
ZEROS: Final = "tf.where(x > {0}.0, x, tf.zeros_like(x))"
SHOWN: Final = (
    f"{ZEROS.format(1)}\nnumber = tf.reduce_sum(tf.cast(x > 1.0, tf.float32))"
    "  # a mean counts the zeros: divide the sum by this",
    None,
    ZEROS.format(3),
    None,
    "tf.reduce_sum(tf.where(x > 5.0, x, 0)) / tf.reduce_sum(tf.cast(x > 5.0, x.dtype))",
)

BOXES: Final = """\
import tensorflow as tf

EVERYTHING = tf.dtypes.int32.max

@tf.function(jit_compile=True)
def f(boxes, scores):
    selected = tf.image.non_max_suppression(boxes, scores, EVERYTHING)
    return selected, tf.image.non_max_suppression(boxes, scores, 100)
"""


def helps(folder: Path, code: str, rule: str) -> Mapping[int, str | None]:
    """What is shown, by the order of the places."""
    (folder / "m.py").write_text(code, encoding="utf-8")
    found = [finding for finding in check([folder], Settings()).findings if finding.code == rule]
    return dict(enumerate(finding.help for finding in sorted(found, key=lambda one: one.span)))


def test_a_mean_of_a_selection_is_not_a_mean_of_zeros(tmp_path: Path) -> None:
    assert helps(tmp_path, SELECTIONS, "XLA201") == dict(enumerate(SHOWN))


@pytest.mark.compiler
def test_the_mean_that_is_shown_is_that_of_the_selection() -> None:
    shown = SHOWN[-1]
    for mean in (shown, "tf.reduce_sum(tf.where(x > 5.0, x, tf.zeros_like(x))) / number"):
        number = "number = tf.reduce_sum(tf.cast(x > 5.0, tf.float32))"
        code = f"""\
import tensorflow as tf

def f(x):
    x = x * 0.0 + tf.constant([1.0, 6.0, 7.0, 2.0])
    {number}
    tf.debugging.assert_near({mean}, 6.5)
    return {mean} - 6.5
"""
        measured = measure(code, ("f32[4]",))
        assert measured.matches(Compiles()), measured


def test_who_keeps_all_boxes_has_to_say_how_many_there_may_be(tmp_path: Path) -> None:
    everything, hundred = helps(tmp_path, BOXES, "XLA208").values()
    assert everything is not None
    assert hundred is not None
    assert "(boxes, scores, MAXIMUM, pad_to_max_output_size=True)" in everything
    assert "tf.range(MAXIMUM) < number" in everything
    assert "(boxes, scores, 100, pad_to_max_output_size=True)" in hundred


def test_what_must_hold_is_asserted_as_it_is(tmp_path: Path) -> None:
    code = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x):
    if not tf.reduce_all(x > 0.0):
        raise ValueError("too small")
    return tf.sqrt(x)
"""
    [shown] = helps(tmp_path, code, "XLA101").values()
    assert shown is not None
    assert shown.startswith("tf.debugging.Assert(tf.reduce_all(x > 0.0), [tf.reduce_all(x > 0.0)])")
