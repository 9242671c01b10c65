"""Variables that a training loop assigns to, one by one, and how often it does (XLA523)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

def net():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])

model, target = net(), net()
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(24)
tau = 0.5

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - y + 0.1 * target(x)) ** 2) / 8.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

def follow(online, behind):
    for a, b in zip(behind.weights, online.weights):
        a.assign(tau * b + (1 - tau) * a)

{before}
for number, (x, y) in enumerate(data):
    {inside}
"""
COMPILED: Final = "step = tf.function(step)"
ONE_BY_ONE: Final = {
    "by a function": (COMPILED, "step(x, y)\n    follow(model, target)"),
    "before the step": (COMPILED, "follow(model, target)\n    step(x, y)"),
    "in the loop": (COMPILED, "step(x, y)\n    for a, b in zip(target.weights, model.weights):\n        a.assign(b)"),
    "all that are": (
        COMPILED,
        "step(x, y)\n    for a, b in zip(target.variables, model.variables):\n"
        "        if len(a.shape) == 2:\n            a.assign(b)\n        else:\n            a.assign_add(b)",
    ),
    "trained by Keras": (
        "model.compile('sgd', 'mse')",
        "model.train_on_batch(x, y)\n    for a, b in zip(target.trainable_variables, model.trainable_variables):\n"
        "        a.assign(tau * b + (1.0 - tau) * a)",
    ),
    "by number": (
        COMPILED,
        "step(x, y)\n    for at in range(len(model.weights)):\n        target.weights[at].assign(model.weights[at])",
    ),
    "beside a step line by line": ("", "step(x, y)\n    follow(model, target)"),
    "by a function, beside a step in the loop": (
        "",
        "with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum((model(x) - y) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
        "    follow(model, target)",
    ),
    "in a function with a step line by line": (
        "def learn(x, y):\n    step(x, y)\n    follow(model, target)",
        "learn(x, y)",
    ),
}
OTHERWISE: Final = {
    "in a function of its own": (f"{COMPILED}\nfollow = tf.function(follow)", "step(x, y)\n    follow(model, target)"),
    "in the step": (
        "@tf.function\ndef both(x, y):\n    step(x, y)\n    follow(model, target)",
        "both(x, y)",
    ),
    "seldom": (COMPILED, "step(x, y)\n    if number % 12 == 0:\n        follow(model, target)"),
    "else passed over": (COMPILED, "step(x, y)\n    if number % 12:\n        continue\n    follow(model, target)"),
    "once, first": (f"{COMPILED}\nfollow(model, target)", "step(x, y)"),
    "one of them": (COMPILED, "step(x, y)\n    target.weights[0].assign(model.weights[0])"),
    "beside no step": ("", "follow(model, target) if number == 9 else None"),
}

PART_OF_STEP: Final = {  # it runs line by line, and all of it is to be compiled
    "in the function of a step line by line": (
        "def step(x, y):\n    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum((model(x) - y) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
        "    follow(model, target)",
        "step(x, y)",
    ),
    "passed what a step in the loop computes": (
        "def perturb(gradients):\n    for a, b in zip(model.trainable_variables, gradients):\n        a.assign_add(b)",
        "with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum((model(x) - y) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    perturb(gradients)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))",
    ),
    "beside a step in the loop": (
        "",
        "with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum((model(x) - y) ** 2)\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
        "    for a, b in zip(target.weights, model.weights):\n        a.assign(b)",
    ),
}


def _program(name: str) -> str:
    before, inside = (ONE_BY_ONE | OTHERWISE | PART_OF_STEP)[name]
    return PROGRAM.format(before=before, inside=inside)


@pytest.mark.parametrize("name", [*ONE_BY_ONE, *OTHERWISE, *PART_OF_STEP])
def test_what_is_assigned_to_at_each_step(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_program(name), encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings(target="tpu")).findings]
    assert ("XLA523" in found) == (name in ONE_BY_ONE)
    assert "XLA523" not in [one.code for one in check([tmp_path], Settings()).findings]


@pytest.mark.compiler
@pytest.mark.parametrize("name", [*ONE_BY_ONE, *OTHERWISE])
def test_the_host_starts_as_many_assignments(name: str) -> None:
    from tensorflow.python.framework import op_callbacks  # type: ignore[import-untyped]

    started: Counter[str] = Counter()

    def count(op_type: str, *_: object, graph: object = None, **__: object) -> None:
        if graph is None:
            started[str(op_type)] += 1

    prepared, loop = _program(name).split("\nfor number", 1)
    namespace: dict[str, object] = {}
    exec(prepared, namespace)
    started.clear()
    op_callbacks.add_op_callback(count)
    try:
        exec(f"for number{loop}", namespace)
    finally:
        op_callbacks.remove_op_callback(count)
    many = sum(number for what, number in started.items() if "Assign" in what) >= 4 * 24
    assert many == (name in ONE_BY_ONE)
