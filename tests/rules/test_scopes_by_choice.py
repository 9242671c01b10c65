"""Model and optimizer that one condition has made in the scope of a strategy, or without any strategy."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source

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
