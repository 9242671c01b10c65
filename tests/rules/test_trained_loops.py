"""Loops that a gradient goes through: in losses that have a `__call__` of their own, and in branches."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

CODE: Final = "XLA109"
LOSS: Final = """\
import tensorflow as tf

class Masked(tf.keras.losses.Loss):
    def {method}(self, true, pred):
        kept = tf.TensorArray(tf.float32, tf.shape(pred)[0])

        def body(b, kept):
            return b + 1, kept.write(b, tf.cast({row}[b] < 0.5, tf.float32))

        _, kept = tf.while_loop(lambda b, *_: b < tf.shape(pred)[0], body, [0, kept])
        return tf.reduce_mean(kept.stack() * pred)
"""
STEP: Final = """\
import tensorflow as tf
import tensorflow_addons as tfa

class Tagger(tf.keras.Model):
    def {method}(self, data):
        x, y, lengths = data
        with tf.GradientTape() as tape:
            potentials, transitions = self(x)
            loss = -tfa.text.crf_log_likelihood(potentials, y, lengths, transitions)[0]
        {gradient}
        return {{"loss": loss}}
"""
BRANCHES: Final = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x, which):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = {made}
    return tape.gradient(y, x)
"""
# What is computed, and whether a branch runs a loop that has a gradient.
MADE: Final = {
    "tf.cond(x[0] > 0.0, lambda: tf.scan(lambda a, r: a * r, x)[-1], lambda: x[0])": True,
    "tf.switch_case(which, [lambda: x[0], lambda: tf.foldl(lambda a, r: a * r, x)])": True,
    "tf.cond(x[0] > 0.0, lambda: tf.reduce_sum(tf.map_fn(lambda r: r * r, x)), lambda: x[0])": True,
    "tf.cond(x[0] > 0.0, lambda: tf.stop_gradient(tf.scan(lambda a, r: a * r, x))[-1], lambda: x[0])": False,
    "tf.cond(x[0] > 0.0, lambda: tf.reduce_prod(x), lambda: x[0])": False,
    "tf.where(x[0] > 0.0, tf.scan(lambda a, r: a * r, x)[-1], x[0])": False,
    "tf.scan(lambda a, r: tf.cond(r > 0.0, lambda: a * r, lambda: a), x)[-1]": False,
}


def lines(folder: Path, text: str) -> list[int]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return [each.span.line for each in check([folder], Settings()).findings if each.code == CODE]


@pytest.mark.parametrize("method", ["call", "__call__"])
@pytest.mark.parametrize(("row", "told"), {"pred": [10], "true": []}.items())
def test_a_loss_with_a_loop_over_predictions(method: str, row: str, told: list[int], tmp_path: Path) -> None:
    assert lines(tmp_path, LOSS.format(method=method, row=row)) == told


@pytest.mark.parametrize(
    ("method", "gradient", "told"),
    [
        ("train_step", "self.optimizer.minimize(loss, self.trainable_variables, tape=tape)", []),
        ("train_step", "gradients = tape.gradient(loss, self.trainable_variables)", [9]),
        ("test_step", "pass", []),
    ],
)
def test_the_likelihood_of_a_random_field(method: str, gradient: str, told: list[int], tmp_path: Path) -> None:
    assert lines(tmp_path, STEP.format(method=method, gradient=gradient)) == told


@pytest.mark.parametrize(("made", "told"), MADE.items())
def test_loops_in_branches(made: str, told: bool, tmp_path: Path) -> None:
    assert lines(tmp_path, BRANCHES.format(made=made)) == ([7] if told else [])
