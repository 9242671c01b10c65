"""XLA517 where a loop trains by a compiled step, and calls a model line by line beside it."""

from __future__ import annotations

from typing import Final

import pytest

from rules.xla517_eager_inference import EagerInference
from tests.compiler.claims import claim
from xlalint.authoring import examples
from xlalint.linter.rule import Bad, Effect, Good, Runs, Severity

SETUP: Final = """
import numpy as np

generator = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4)])
critic = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
data = tf.data.Dataset.from_tensor_slices(np.ones([640, 4], "float32")).batch(8)

@tf.function
def step(real, fake):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
    gradients = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))

@tf.function
def compiled(noise):
    return generator(noise)

def made(noise):
    return generator(noise, training=True)

"""
CALL: Final = "generator(tf.random.normal([8, 8]))"
LOOP: Final = "for real in data:\n    fake = {call}\n    step(real, fake)\n"
FLAGGED: Final = {
    "before the step": (LOOP.format(call=CALL), CALL),
    "in its arguments": (f"for real in data:\n    step(real, {CALL})\n", CALL),
    "behind it": (f"for real in data:\n    step(real, real)\n    seen = {CALL}\n", CALL),
    "in a function": (
        LOOP.format(call="made(tf.random.normal([8, 8]))"),
        "generator(noise, training=True)",
    ),
    "as long as it takes": (
        f"count = 0\nwhile count < 100:\n    step(tf.ones([8, 4]), {CALL})\n    count += 1\n",
        CALL,
    ),
}
SILENT: Final = {
    "in a function that is compiled": LOOP.format(call="compiled(tf.random.normal([8, 8]))"),
    "once in a while": (
        "for count, real in enumerate(data):\n    step(real, real)\n"
        f"    if count % 40 == 0:\n        print({CALL}.shape)\n"
    ),
    "behind the loop": f"for real in data:\n    step(real, real)\nprint({CALL}.shape)\n",
    "in a loop around the steps": (
        f"for epoch in range(2):\n    for real in data:\n        step(real, real)\n    print({CALL}.shape)\n"
    ),
}
BADS: Final = {
    name: Bad(SETUP + loop, [call], Runs(0), effect=Effect.TPU, severity=Severity.WARNING, target="tpu")
    for name, (loop, call) in FLAGGED.items()
}
GOODS: Final = {name: Good(SETUP + loop, Runs(0), target="tpu") for name, loop in SILENT.items()}


@pytest.mark.parametrize("name", BADS)
def test_a_call_in_each_iteration_is_told(name: str) -> None:
    assert list(examples.flagged(EagerInference, BADS[name])) == []


@pytest.mark.parametrize("name", GOODS)
def test_others_are_not(name: str) -> None:
    assert list(examples.silent(EagerInference, GOODS[name])) == []


@pytest.mark.compiler
@pytest.mark.parametrize(
    "example", [pytest.param(one, id=name, marks=claim(one.code)) for name, one in (BADS | GOODS).items()]
)
def test_the_programs_run(example: Bad | Good) -> None:
    assert list(examples.claimed(example, examples.measured_claim(example))) == []
