"""What `tf.while_loop` makes of its variables: which are data that a loop carries, and which no round changes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.findings.findings import Effect
from xlalint.linter.rule import Behaviour, Compiles, Fails, Recompiles
from xlalint.linter.run import check
from xlalint.settings.config import Settings

LOOP: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x, n):
    n = tf.clip_by_value(n, 0, 3)

    def body(i, total, size, width, three):
        {inside}
        return i + 1, total, {size}, width, three

    variables = 0, x, n, tf.shape(x)[0], 3
    _, total, size, width, three = tf.while_loop(
        lambda i, total, size, width, three: i < 3, body, variables, maximum_iterations=3
    )
    return total + tf.cast({outside}, tf.float32)
"""
INSIDE: Final = "total += tf.cast(tf.reduce_sum(tf.range({})), tf.float32)"
CONSTANT: Final = Fails("must be a compile-time constant")
# What is done inside of the loop and behind it, what it hands on as the size, and what comes of it.
LOOPS: Final[dict[str, tuple[str, str, str, Behaviour]]] = {
    "a size that is handed on": (INSIDE.format("size"), "0", "size", Recompiles()),
    "a size that is changed": (INSIDE.format("size"), "0", "size + 0", CONSTANT),
    "a shape and a constant that are handed on": (INSIDE.format("width + three"), "0", "size", Compiles()),
    "a position that a round computes": ("total += x[tf.argmin(total)]", "0", "size + 1", Compiles()),
    "a size that comes out of the loop": ("total += 1.0", "tf.reduce_sum(tf.range(size))", "size", CONSTANT),
    "a position that comes out of the loop": ("total += 1.0", "x[size]", "size", Recompiles()),
    "a shape that comes out of the loop": ("total += 1.0", "tf.reduce_sum(tf.range(width))", "size", Compiles()),
}
EFFECTS: Final = {Recompiles: Effect.RECOMPILES, Fails: Effect.FAILS}

# Nobody says what the variables are: what a round computes is the loop's, and what it hands on may be anything.
OPEN: Final = """\
import tensorflow as tf

def search(points, variables, steps):
    def body(i, best, total, *rest):
        low = tf.argmin(total)
        total = total + points[low] + points[best]
        return (i + 1, best, total + {more}) + rest

    return tf.while_loop(lambda i, *rest: i < steps, body, variables)
"""


def effects(folder: Path, code: str) -> set[Effect | None]:
    (folder / "m.py").write_text(code, encoding="utf-8")
    return {finding.effect for finding in check([folder], Settings()).findings}


def program(inside: str, outside: str, size: str) -> str:
    return LOOP.format(inside=inside, outside=outside, size=size)


@pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)
def test_what_a_loop_makes_of_a_variable_is_said(tmp_path: Path, case: tuple[str, str, str, Behaviour]) -> None:
    *parts, behaviour = case
    wanted = EFFECTS.get(type(behaviour))
    assert effects(tmp_path, program(*parts)) == ({wanted} if wanted else set())


@pytest.mark.compiler
@pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)
def test_what_is_said_is_what_xla_does(case: tuple[str, str, str, Behaviour]) -> None:
    *parts, behaviour = case
    measured = measure(program(*parts), ("f32[4]", "i32[]"))
    assert measured.matches(behaviour), measured


def test_of_variables_that_nobody_knows_only_what_the_loop_makes_is_said(tmp_path: Path) -> None:
    assert effects(tmp_path, OPEN.format(more="1.0")) == set()
    assert effects(tmp_path, OPEN.format(more="tf.cast(tf.reduce_sum(tf.range(low)), tf.float32)")) == {Effect.FAILS}


STARTS: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(prompt, caches, fresh=False):
    start = 0 if fresh else tf.shape(prompt)[1]

    def body(step, total):
        return step + 1, total + tf.reduce_sum(caches[:step])

    return tf.while_loop(lambda step, total: step < 9, body, [start, tf.constant(0.0)])
"""


def test_a_variable_that_starts_as_a_number_or_a_size_is_carried(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(STARTS, encoding="utf-8")
    assert [(one.code, one.span.line) for one in check([tmp_path], Settings()).findings] == [("XLA205", 8)]
