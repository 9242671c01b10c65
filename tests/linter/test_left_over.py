"""Functions of a script that nothing in it names: what they do matters to nobody, with a target, too."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SCRIPT: Final = """\
import keras
import tensorflow as tf
{}
loss_object = keras.losses.BinaryCrossentropy()

{}
def old_loss(real, pred):
    mask = tf.math.not_equal(pred, 0)
    return tf.reduce_mean(loss_object(real[mask], pred[mask]))

def loss(real, pred):
    return {}(real, pred)
"""
TRAINS: Final = """
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        # found = old_loss(y, model(x))
        found = loss(y, model(x))
    gradients = tape.gradient(found, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for _ in range(3):
    step(tf.ones([4, 3]), tf.ones([4, 1]))
"""
# What is imported, what stands above the function, what the loss calls, and the end; whether it is left over.
CASES: Final = {
    "left over": ("", "", "loss_object", TRAINS, True),
    "called": ("", "", "old_loss", TRAINS, False),
    "in a table": ("", "", "loss_object", f'{TRAINS}LOSSES = {{"old": old_loss}}\n', False),
    "in a table, by name": ("", "", "loss_object", f'{TRAINS}print(getattr(model, "old_loss"))\n', False),
    "any function by name": ("", "", "loss_object", f'{TRAINS}print(globals()["old" + "_loss"])\n', False),
    "the names of something else": ("", "", "loss_object", f"{TRAINS}print(vars(model))\n", True),
    "a command": ("import fire\n", "", "loss_object", f"{TRAINS}fire.Fire()\n", False),
    "registered": ("from elsewhere import register\n", "@register", "loss_object", TRAINS, False),
    "a file that trains nothing": ("", "", "loss_object", "", False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_that_a_script_does_not_name(name: str, tmp_path: Path) -> None:
    imported, decorator, called, end, left = CASES[name]
    (tmp_path / "train.py").write_text(SCRIPT.format(imported, decorator, called) + end, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA201"]
    assert {one.severity for one in found} == {Severity.INFO if left else Severity.WARNING}
