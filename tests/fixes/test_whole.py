"""Unsafe fixes repair a function, or change nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

CODE = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def still_fails(x):
    x = tf.expand_dims(x, 0) if tf.rank(x) == 1 else x
    return tf.linalg.lu(x)[0]

@tf.function(jit_compile=True)
def repaired(x):
    x = tf.expand_dims(x, 0) if tf.rank(x) == 1 else x
    return tf.linalg.qr(x)[1]
"""
RANK = "len(x.shape) == 1"


@pytest.mark.parametrize(("partial", "changed"), [(False, 1), (True, 2)])
def test_a_function_that_would_still_fail_is_left_as_it_is_but_where_that_is_asked_for(
    tmp_path: Path, partial: bool, changed: int
) -> None:
    path = tmp_path / "m.py"
    path.write_text(CODE, encoding="utf-8")
    outcome = fix([path], Settings(unsafe_fixes=True, partial_fixes=partial))
    (change,) = outcome.changes
    assert change.after.decode().count(RANK) == changed
    assert change.after.decode().index(RANK) > (0 if partial else CODE.index("def repaired"))
    assert [(half.qualname, half.codes) for half in outcome.halves] == (
        [] if partial else [("still_fails", ("XLA401",))]
    )


def test_safe_fixes_are_made_whatever_is_left(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    code = CODE.replace("tf.linalg.lu(x)[0]", "tf.linalg.lu(x)[0], tf.math.segment_sum(tf.cast(x, tf.int32), [0, 0])")
    path.write_text(code, encoding="utf-8")
    outcome = fix([path], Settings(unsafe_fixes=True))
    assert [half.qualname for half in outcome.halves] == ["still_fails"]
    (change,) = outcome.changes
    assert "tf.math.unsorted_segment_sum(tf.cast(x, tf.int32), [0, 0], 1)" in change.after.decode()
