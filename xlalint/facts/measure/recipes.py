"""Calls that no search finds, written by hand: `NAME = EXPRESSION`, and below it `+ PARAMETER=TEXT: EXPRESSION`.

The lines with a plus are further cases of the name above, where what is varied is no argument of the call itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

TEXT: Final = """
tf.range = tf.range(5)
tf.gather = tf.gather(f32[4], index[2])
tf.linalg.lu = tf.linalg.lu(spd[3, 3])
tf.reshape = tf.reshape(f32[6], [2, 3])
tf.while_loop = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, f32[3]), maximum_iterations=5)
+ maximum_iterations=None: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, f32[3]))
tf.cond = tf.cond(bool[()], lambda: tf.ones([2]), lambda: tf.zeros([2]))
tf.boolean_mask = tf.boolean_mask(f32[4], bool[4])
tf.where = tf.where(bool[4], f32[4], f32[4])
+ x=None: tf.where(bool[4])
"""


@dataclass
class Recipe:
    """The plain call of a callable, and cases beside it: what is varied, and the call."""

    call: str
    cases: list[tuple[dict[str, str], str]] = field(default_factory=list)


def recipes() -> dict[str, Recipe]:
    """By canonical name."""
    found: dict[str, Recipe] = {}
    current = Recipe("")
    for line in TEXT.strip().splitlines():
        if line.startswith("+ "):
            label, _, call = line[2:].partition(": ")
            parameter, _, text = label.partition("=")
            current.cases.append(({parameter: text}, call))
        else:
            name, _, call = line.partition(" = ")
            current = found[name] = Recipe(call)
    return found
