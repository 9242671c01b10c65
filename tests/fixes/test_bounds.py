"""Sizes under a bound: from the command line, the settings, or a comment at the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler import measure
from xlalint.linter.fix_runs import fix
from xlalint.settings.config import Settings

HEAD = "import tensorflow as tf\n\n@tf.function(jit_compile=True)\n"


def fixed(tmp_path: Path, code: str, bounds: dict[str, int]) -> str:
    path = tmp_path / "m.py"
    path.write_text(HEAD + code, encoding="utf-8")
    outcome = fix([path], Settings(unsafe_fixes=True, bounds=bounds))
    assert outcome.report.problems == ()
    return outcome.changes[0].after.decode().removeprefix(HEAD) if outcome.changes else code


RANGE = "def f(n):\n    return tf.range(n)\n"
CUT = """\
def f(n):
    tf.debugging.assert_less_equal(n, 8)
    valid = tf.range(8) < tf.cast(n, tf.int32)
    return tf.boolean_mask(tf.range(8), valid)
"""


@pytest.mark.parametrize("name", ["n", "f.n"])
def test_a_name_or_a_name_in_a_function_gives_the_bound(tmp_path: Path, name: str) -> None:
    assert fixed(tmp_path, RANGE, {name: 8}) == CUT


@pytest.mark.parametrize("bounds", [{}, {"m": 8}, {"g.n": 8}, {"fn": 8}])
def test_another_name_gives_none(tmp_path: Path, bounds: dict[str, int]) -> None:
    assert fixed(tmp_path, RANGE, bounds) == RANGE


def test_of_several_bounds_the_largest_holds(tmp_path: Path) -> None:
    assert fixed(tmp_path, RANGE, {"n": 4, "f.n": 8}) == CUT


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("    return tf.range(n)  # xlalint: bound(8)\n", True),
        ("    # xlalint: bound(8)\n    return tf.range(n)\n", True),
        ("    x = 1  # xlalint: bound(8)\n    return tf.range(n) + x\n", False),
        ("    return tf.range(n)  # xlalint: bound(0)\n", False),
    ],
)
def test_a_comment_speaks_for_its_statement_and_above_one_for_that_below(
    tmp_path: Path, code: str, expected: bool
) -> None:
    assert ("tf.range(8)" in fixed(tmp_path, f"def f(n):\n{code}", {})) is expected


def test_a_bound_is_found_by_what_a_name_is_computed_of(tmp_path: Path) -> None:
    code = "def f(ids):\n    n = tf.reduce_max(ids) + 1\n    return tf.zeros([n, 2])\n"
    assert "tf.boolean_mask(tf.zeros([8, 2]), valid)" in fixed(tmp_path, code, {"ids": 8})


SEGMENTS = "def f(x, ids):\n    y = tf.math.segment_sum(x, ids)\n"


@pytest.mark.parametrize(
    ("further", "is_padded"),
    [
        ("    return y\n", True),
        ("    return tf.nn.relu(y) * 2.0\n", True),
        ("    return tf.matmul(y, x)\n", True),
        ("    return tf.reduce_mean(y)\n", False),
        ("    return tf.matmul(x, y)\n", False),
        ("    return y[-1]\n", False),
        ("    z = y + 1.0\n    return tf.sort(z)\n", False),
    ],
)
def test_segments_stay_padded_where_each_row_goes_on_by_itself(tmp_path: Path, further: str, is_padded: bool) -> None:
    after = fixed(tmp_path, SEGMENTS + further, {"ids": 8})
    assert ("tf.math.unsorted_segment_sum(x, ids, 8)" in after) is is_padded


LOCATED = """\
def f(seen):
    number = tf.reduce_sum(tf.cast(seen, tf.int32), axis=1)
    most = tf.reduce_max(number)
    kept = {whole} < number[:, None]
    return tf.where(kept)
"""


def test_what_is_located_gets_no_bound(tmp_path: Path) -> None:
    code = LOCATED.format(whole="tf.range(most)")
    assert fixed(tmp_path, code, {"most": 6}) == code
    counted = code.replace("tf.where(kept)", "tf.reduce_sum(tf.where(kept, 1, 0), axis=1)")
    assert "tf.range(6)" in fixed(tmp_path, counted, {"most": 6})


@pytest.mark.compiler
def test_xla_locates_in_a_bounded_dimension_what_is_not_there() -> None:
    code = HEAD + LOCATED.format(whole="tf.boolean_mask(tf.range(6), tf.range(6) < most)")
    found = measure(code, ["bool[3, 6]"])
    assert found.error is None
    assert not found.equal


def test_what_is_computed_later_or_maybe_gets_no_bound(tmp_path: Path) -> None:
    code = "def f(n):\n    return tf.cond(n > 1, lambda: tf.range(n), lambda: tf.range(n + 1))\n"
    assert "assert_less_equal" not in fixed(tmp_path, code, {"n": 8})


@pytest.mark.compiler
@pytest.mark.parametrize(
    "code",
    [
        RANGE,
        "def f(n):\n    return tf.one_hot(tf.constant([0, 1]), n)\n",
        "def f(n):\n    return tf.math.bincount([n, 1])\n",
        "def f(n):\n    return tf.repeat(tf.constant([1, 2]), [n, n + 1])\n",
        "def f(n):\n    return tf.repeat(tf.constant([[1, 2]]), [n, n + 1], axis=1)\n",
        "def f(n):\n    return tf.repeat(tf.constant([[1.5], [2.0]]), [n, n + 1], axis=0)\n",
        "def f(n):\n    return tf.fill([n, 2], 1.5)\n",
    ],
)
def test_what_is_computed_for_the_bound_is_equal_and_raises_beyond_it(tmp_path: Path, code: str) -> None:
    import tensorflow as tf  # type: ignore[import-untyped]

    after = fixed(tmp_path, code, {"n": 8})
    assert after != code
    forms = []
    for text in (code, after):
        scope: dict[str, object] = {}
        exec(HEAD + text, scope)
        forms.append(scope["f"].python_function)  # type: ignore[attr-defined]
    compiled = tf.function(forms[1], jit_compile=True)
    for number in (1, 3):
        expected = forms[0](tf.constant(number))
        for actual in (forms[1](tf.constant(number)), compiled(tf.constant(number))):
            assert actual.dtype == expected.dtype
            assert actual.numpy().tolist() == expected.numpy().tolist()
    with pytest.raises(tf.errors.InvalidArgumentError):
        forms[1](tf.constant(9))
