"""The table of what goes wrong with bounded dynamic shapes is what the compiler does."""

from __future__ import annotations

import pytest

from tests.compiler import measure
from tests.compiler.claims import claim
from xlalint.facts.consumers import CONSUMERS, INDEXING, SIZED, Consumer
from xlalint.findings.findings import Effect
from xlalint.linter.rule import Compiles, Diverges

TABLES: dict[str, dict[str, Consumer]] = {"api": CONSUMERS, "index": INDEXING, "size": SIZED}
NAMED = [(f"{table}-{name}", one) for table, entries in TABLES.items() for name, one in entries.items()]
PROGRAM = """
tnp = tf.experimental.numpy

def f(x):
    totals = tf.reduce_sum(x, 1)
    rows = tf.boolean_mask(x, totals >= tf.sort(totals)[2])
    m = tf.boolean_mask(totals, totals >= tf.sort(totals)[2])
    at = tf.random.uniform([], 1, 2, tf.int32)
    window = x[at : at + 2]
    pairs = tf.exp(-tf.reduce_sum((rows[:, None] - rows[None]) ** 2, -1))
    return {expression}
"""


def program(expression: str) -> str:
    return PROGRAM.format(expression=expression.replace("keras.backend.", "tf.keras.backend."))


@pytest.mark.compiler
@pytest.mark.parametrize(
    "consumer",
    [pytest.param(one, id=name, marks=claim(program(one.case), one.effect)) for name, one in NAMED],
)
def test_consumer_goes_wrong_as_the_table_says(consumer: Consumer) -> None:
    measured = measure(program(consumer.case), ["f32[6, 3]"])
    if consumer.effect is Effect.FAILS:
        assert measured.failure is None
        assert measured.error is not None, measured
    else:
        assert measured.matches(Diverges()), measured


@pytest.mark.compiler
@pytest.mark.parametrize(
    "consumer",
    [pytest.param(one, id=name, marks=claim(program(one.harmless or ""))) for name, one in NAMED],
)
def test_the_harmless_form_is_harmless(consumer: Consumer) -> None:
    if consumer.harmless is None:
        assert consumer.when in ("always", "square")
        return
    measured = measure(program(consumer.harmless), ["f32[6, 3]"])
    assert measured.matches(Compiles(bounded=True)), measured


def test_only_effects_that_are_wrong_are_listed() -> None:
    effects = {consumer.effect for entries in TABLES.values() for consumer in entries.values()}
    assert effects == {Effect.FAILS, Effect.DIVERGES}
