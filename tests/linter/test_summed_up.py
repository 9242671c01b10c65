"""Loops that evaluate, and what becomes of the values that they read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import numpy as np
import tensorflow as tf
from results import boxes_of, draw, save

net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(3)])
net.compile("sgd", "mse")
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 3]))).repeat(30)
loss_of, mean = tf.keras.losses.MeanSquaredError(), tf.keras.metrics.Mean()

@tf.function
def run(x, y):
    made = net(x)
    return made, loss_of(y, made)

def test(data):
    losses, hits, total, count = [], [], 0.0, 0
    for x, y in data:
        INSIDE
    BEHIND

EPOCHS
"""
EACH: Final = "for epoch in range(10):\n    net.fit(data)\n    print(test(data))"
ONCE: Final = "print(test(data))"


def told(folder: Path, inside: str, behind: str, epochs: str) -> list[Severity]:
    program = PROGRAM.replace("INSIDE", inside).replace("BEHIND", behind).replace("EPOCHS", epochs)
    (folder / "program.py").write_text(program, encoding="utf-8")
    return [one.severity for one in check([folder], Settings(target="tpu")).findings if one.code == "XLA516"]


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        ("losses.append(run(x, y)[1].numpy())", "return np.mean(losses)"),
        ("losses.append(float(run(x, y)[1]))", "return sum(losses) / len(losses)"),
        ("losses += [run(x, y)[1].numpy()]", "return tf.reduce_mean(losses)"),
        ("total += float(run(x, y)[1])\n        count += 1", "return total / count"),
        ("total = total + run(x, y)[1].numpy()", "return total"),
        ("losses.append(run(x, y)[1].numpy())", "return np.array(losses).mean()"),
        (
            "made, loss = run(x, y)\n        hit = np.argmax(y, axis=1) == np.argmax(made, axis=1)\n"
            "        hits.append(np.mean(hit))\n        losses.append(loss.numpy())\n        print(loss)",
            "return np.mean(hits), np.mean(losses)",
        ),
        ("mean.update_state(run(x, y)[1].numpy())", "return mean.result().numpy()"),
        ("losses.append(net.test_on_batch(x, y))", "return np.mean(losses)"),
    ],
)
def test_sums_of_each_epoch_matter(inside: str, behind: str, tmp_path: Path) -> None:
    assert told(tmp_path, inside, behind, EACH) == [Severity.WARNING]
    assert told(tmp_path, inside, behind, ONCE) in ([Severity.INFO], [])


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        ("losses.append(run(x, y)[1].numpy())", "return losses"),
        ("losses.append(run(x, y)[1].numpy())\n        if losses[-1] > 3:\n            draw(x)", "return losses"),
        ("save(run(x, y)[0].numpy())", "return 0"),
        ("losses.append(boxes_of(run(x, y)[0].numpy()))", "return np.concatenate(losses)"),
        (
            "loss = run(x, y)[1].numpy()\n        if loss > 3:\n            draw(x)\n        total += loss",
            "return total",
        ),
    ],
)
def test_results_may_be_needed(inside: str, behind: str, tmp_path: Path) -> None:
    assert told(tmp_path, inside, behind, EACH) == [Severity.INFO]


@pytest.mark.parametrize("epochs", [EACH, ONCE])
@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("mean.update_state(run(x, y)[1])\n        result = mean.result().numpy()", [Severity.WARNING]),
        ("mean.update_state(net.predict_on_batch(x))\n        result = mean.result().numpy()", [Severity.WARNING]),
        (
            "made = net.predict_on_batch(x)\n        for row in range(8):\n            mean.update_state(made[row])\n"
            "            result = float(mean.result())",
            [Severity.WARNING],
        ),
        (
            "mean.update_state(run(x, y)[1])\n        result = mean.result().numpy()\n        save(result)",
            [Severity.INFO],
        ),
        ("losses.append(net.predict_on_batch(x))\n        result = losses", []),
    ],
)
def test_what_only_the_last_iteration_leaves(
    inside: str, expected: list[Severity], epochs: str, tmp_path: Path
) -> None:
    assert told(tmp_path, inside, "return result", epochs) == expected


HELPER: Final = """
def one(x, y):
    x = x / 255.0
    return run(x, y)[1].numpy()

def report(number):
    print(number, run(tf.ones([8, 3]), tf.ones([8, 3]))[1].numpy())

def test(data):"""


def test_a_function_may_pass_on_each_batch(tmp_path: Path) -> None:
    program = PROGRAM.replace("\ndef test(data):", HELPER).replace("BEHIND", "return np.mean(losses)")
    epochs = f"for epoch in range(10):\n    net.fit(data)\n    report(epoch)\n    {ONCE}"
    program = program.replace("INSIDE", "losses.append(one(x, y))").replace("EPOCHS", epochs)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    findings = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code == "XLA516"]
    lines = program.split("\n")
    assert [(lines[one.span.line - 1].strip(), one.severity) for one in findings] == [
        ("for x, y in data:", Severity.WARNING)
    ]
