"""Model and optimizer that one condition has made in the scope of a strategy, or without any strategy."""

from __future__ import annotations

from typing import Final

import pytest

from rules.xla502_outside_scope import DATA, FIT, MODEL, OutsideScope
from tests.compiler.claims import claim
from xlalint import lint_source
from xlalint.authoring import examples
from xlalint.linter.rule import Bad, Breaks, Good, Runs

SETUP: Final = """
import sys

import tensorflow as tf

if "--tpu" in sys.argv:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        {inside}
else:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    {outside}

@tf.function
def train(inputs):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    strategy.run(step, args=(inputs,))

for x in strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors(tf.ones([8, 3]))):
    train(x)
"""
MADE: Final = "optimizer = tf.keras.optimizers.Adam()"


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        (SETUP.format(inside=MADE, outside=MADE), []),
        (SETUP.format(inside="pass", outside="pass").replace("if ", f"{MADE}\nif ", 1), ["XLA502"]),
        (SETUP.format(inside="pass", outside="pass").replace("\n@tf", f"\n{MADE}\n@tf", 1), ["XLA502"]),
    ],
    ids=["by the condition", "before it", "behind it"],
)
def test_an_optimizer_is_where_the_condition_puts_it(setup: str, told: list[str]) -> None:
    assert [finding.code for finding in lint_source(setup).findings] == told


CHOSEN: Final = f"""
{DATA}
if len(tf.config.list_logical_devices()) > 8:
    optimizer = tf.keras.optimizers.Adam(1e-2)
else:
    optimizer = tf.keras.optimizers.RMSprop(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
"""
PERHAPS: Final = f"""
{DATA}
if len(tf.config.list_logical_devices()) < 8:
    with strategy.scope():
        optimizer = tf.keras.optimizers.Adam(1e-2)
else:
    optimizer = tf.keras.optimizers.Adam(1e-3)
with strategy.scope():
    model = {MODEL}
    model.compile(optimizer, "mse")
{FIT}
"""
OUTSIDE: Final = Bad(
    CHOSEN,
    ["tf.keras.optimizers.Adam(1e-2)", "tf.keras.optimizers.RMSprop(1e-3)"],
    Breaks("Mixing different tf.distribute.Strategy objects"),
)
DECIDED: Final = Good(PERHAPS, Runs())


def test_both_optimizers_of_which_a_condition_chooses_one_are_outside() -> None:
    assert list(examples.flagged(OutsideScope, OUTSIDE)) == []


def test_an_optimizer_that_one_of_the_sides_makes_in_the_scope_may_be_there() -> None:
    assert list(examples.silent(OutsideScope, DECIDED)) == []


@pytest.mark.compiler
@pytest.mark.parametrize("example", [pytest.param(one, marks=claim(one.code)) for one in (OUTSIDE, DECIDED)])
def test_what_comes_of_a_chosen_optimizer(example: Bad | Good) -> None:
    assert list(examples.claimed(example, examples.measured_claim(example))) == []


ASKED_TWICE: Final = """
import sys

import tensorflow as tf

def build():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

def step_of(strategy):
    @tf.function
    def step(net, x):
        return tf.reduce_sum(net(x))

    @tf.function
    def distributed(net, x):
        return strategy.run(step, args=(net, x))

    return step if strategy is None else distributed

def train(net, data, strategy):
    step = step_of(strategy)
    for x in data:
        step(net, x)

devices = len(sys.argv)
if devices > 1:
    strategy = tf.distribute.MirroredStrategy()
else:
    strategy = None
if devices > 1:
    with strategy.scope():
        model = build()
else:
    model = build()
train(model, tf.data.Dataset.from_tensors(tf.ones([8, 3])), strategy)
"""


@pytest.mark.parametrize(
    ("program", "told"),
    [(ASKED_TWICE, 0), (ASKED_TWICE.replace("with strategy.scope():", "if strategy:"), 1)],
    ids=["by the condition", "never in it"],
)
def test_a_model_is_where_a_condition_puts_it_that_is_asked_twice(program: str, told: int) -> None:
    assert [finding.code for finding in lint_source(program).findings].count("XLA502") == told
