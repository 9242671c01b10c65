"""Steps that run line by line and are passed what is not known: a target's compiler would be passed tensors there, as
of a compiled step, but for what the program knows."""

from __future__ import annotations

from typing import Final

import pytest

from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf
from elsewhere import config, load

model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
optimizer = tf.keras.optimizers.SGD()

class Trainer:
    def step(self, x, y, repeats=2, mode="mean"):
        if y is None:
            return
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            labels = tf.cast(y, tf.float32)
            {}
            loss = tf.reduce_sum(outputs)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

trainer = Trainer()
for batch in load():
    trainer.step(*batch[:2], mode=config.mode) if config.short else trainer.step(batch["x"], batch["y"])
"""


def told(line: str, target: str | None = "tpu") -> set[str]:
    findings = lint_source(PROGRAM.format(line), settings=Settings(target=target)).findings
    return {one.code for one in findings} - {"XLA506", "XLA512"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("outputs = tf.boolean_mask(outputs, labels > 0.5)", "XLA201"),
        ("outputs = outputs[y > 0]", "XLA201"),
        ("outputs = tf.gather_nd(outputs, tf.where(labels[..., 0] == 1.0))", "XLA203"),
        ("outputs = outputs * tf.cast(tf.unique(y)[0][0], tf.float32)", "XLA202"),
        ("outputs = outputs[: tf.reduce_max(y)]", "XLA205"),
    ],
)
def test_what_is_passed_are_tensors(line: str, code: str) -> None:
    assert told(line) == {code}
    assert told(line, target=None) == set()


@pytest.mark.parametrize(
    "line",
    [
        "outputs = outputs * len(config.names)",
        "outputs = outputs if mode == 'mean' else outputs * 2.0",
        "outputs = tf.tile(outputs, [1, repeats])",
        "for _ in range(repeats): outputs = outputs + 1.0",
        "outputs = outputs * tf.cast(tf.shape(y)[0], tf.float32)",
        "outputs = tf.where(labels > 0.5, outputs, 0.0)",
    ],
)
def test_what_the_program_knows_stays_what_it_is(line: str) -> None:
    assert told(line) == set()
