"""Loops on the host around steps and models: what they read in each iteration, however it is written."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Final

import pytest

from xlalint.findings.findings import Finding, Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

SETUP: Final = """\
import logging
import mlflow
import numpy as np
import tensorflow as tf
import wandb
from absl import logging as log
from tqdm import tqdm

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
mean = tf.keras.metrics.Mean()
count = tf.Variable(0, dtype=tf.int64)
data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 3]), tf.ones([64, 1]))).batch(32)
losses, history, held = [], {"loss": []}, {}
values, bar = np.zeros([64, 1]), tqdm(data)
progress = tf.keras.utils.Progbar(64)
saved = tf.train.Checkpoint(step=tf.Variable(0), model=model)
best = np.inf

class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += float(value)

meter = Meter()

def show(step, **values):
    print(step, " ".join("%s=%.3f" % (name, value) for name, value in values.items()))

"""
STEP: Final = """\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

"""
LOOP: Final = """\
for number, (x, y) in enumerate(data):
    loss = step(x, y)
"""


def found(folder: Path, text: str, code: str) -> list[Finding]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return [one for one in check([folder], Settings(target="tpu")).findings if one.code == code]


@pytest.mark.parametrize("decorator", ["", "@tf.function\n"])
@pytest.mark.parametrize(
    "read",
    [
        "losses.append(loss.numpy())",
        "losses.append(float(loss))",
        'history["loss"].append(np.mean(loss))',
        'print("%4.2f" % loss)',
        'print("Step %d Loss %.4f" % (number, loss), end="")',
        'print("loss {:.4f}".format(loss))',
        'print(f"loss {loss:.4f}")',
        'print("loss", loss)',
        'text = str(loss) + "\\n"',
        "tf.print(loss)",
        "if loss < best:\n    best = loss",
        "best = min(best, float(loss))",
        "if count % 100 == 0:\n    number += 1",
        "mean(loss)\nvalue = mean.result().numpy()",
        "meter.update(loss)",
        "show(number, loss=loss)",
        "assert not tf.math.is_nan(loss)",
        "if np.isnan(loss):\n    break",
        "with open('log') as file:\n    file.write(f'{loss}')",
        "y = y * loss\nprint(y.numpy())",
        "values[number] = loss",
        "values[number] += loss",
        "values[number, 0] = tf.reduce_sum(x)",
        "bar.set_postfix(loss=loss)",
        "bar.set_postfix({'loss': loss})",
        "logging.info('loss %s', loss)",
        "logging.getLogger('train').warning('loss %s', loss)",
        "log.info('%d: %f', number, loss)",
        "print(tf.keras.backend.get_value(loss))",
        "print(tf.keras.backend.eval(loss))",
        "wandb.log({'loss': loss, 'step': number}, step=number)",
        "mlflow.log_metric('loss', loss, number)",
        "mlflow.log_metrics(metrics={'loss': loss}, step=number)",
        "for name, value in {'loss': loss, 'rate': 0.1}.items():\n    held[name] = float(value)",
        "made = {'loss': loss}\nfor value in made.values():\n    losses.append(value.numpy())",
        "for name, value in zip(['loss'], [loss]):\n    print(value.numpy())",
        "if int(saved.step) % 10 == 0:\n    number += 1",
        "if saved.step.numpy() % 10 == 0:\n    number += 1",
    ],
)
def test_a_read_in_each_iteration_is_found(tmp_path: Path, read: str, decorator: str) -> None:
    [one] = found(tmp_path, SETUP + decorator + STEP + LOOP + indent(read, "    "), "XLA516")
    assert one.severity is Severity.WARNING
    assert one.notes


@pytest.mark.parametrize(
    "read",
    [
        "if number % 100 == 0:\n    print(float(loss))",
        "number % 100 or print(float(loss))",
        "print(float(loss)) if number % 100 == 0 else None",
        "if number % 100:\n    continue\nprint(float(loss))",
        "losses.append(loss)",
        "mean.update_state(loss)",
        "print(number, x.shape, loss.dtype, len(x), number / 7)",
        "show = lambda: float(loss)",
        "if number > 7:\n    break",
        "print(y.numpy(), float(x))",
        "print(number, y)",
        "values[number] = y",
        "values[number] = x.shape[0]",
        "held[number] = loss",
        "bar.set_postfix(number=number)",
        "logging.info('%d', number)",
        "logging.debug('%s', loss)",
        "if number % 100 == 0:\n    values[number] = loss\n    bar.set_postfix(loss=loss)",
        "progress.update(number, [('loss', loss)])",
        "saved.step.assign_add(1)",
        "wandb.log({'step': number})",
        "wandb.log({'loss': loss}) if number % 100 == 0 else None",
        "if number % 100 == 0:\n    for name, value in {'loss': loss}.items():\n        print(value.numpy())",
        "for row in y:\n    print(row.numpy())",
        "for left, right in zip(x, y):\n    print(left.numpy(), float(right))",
    ],
)
def test_what_is_not_read_in_each_iteration_is_not(tmp_path: Path, read: str) -> None:
    behind = "\nprint(float(loss), losses)\n"
    assert found(tmp_path, SETUP + "@tf.function\n" + STEP + LOOP + indent(read, "    ") + behind, "XLA516") == []


@pytest.mark.parametrize(("strategy", "count"), [("TPUStrategy()", 1), ("MirroredStrategy()", 0)])
def test_a_strategy_for_tpus_shows_that_a_tpu_is_meant(tmp_path: Path, strategy: str, count: int) -> None:
    distributed = f"""
strategy = tf.distribute.{strategy}

@tf.function
def run(x, y):
    return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

for x, y in strategy.experimental_distribute_dataset(data):
    loss = run(x, y)
    print(loss.numpy(), float(mean.result()))
"""
    (tmp_path / "train.py").write_text(SETUP + STEP + distributed, encoding="utf-8")
    told = [one.severity for one in check([tmp_path], Settings()).findings if one.code == "XLA516"]
    assert told == [Severity.WARNING] * count


def test_a_loop_has_one_finding_for_all_that_call_it(tmp_path: Path) -> None:
    train = "def train(data):\n" + indent(LOOP + "    print(float(loss), loss.numpy())\n", "    ")
    calls = "for epoch in range(9):\n    train(data)\n    train(data.take(9))\n"
    [one] = found(tmp_path, SETUP + STEP + train + calls, "XLA516")
    assert len(one.notes) == 2


INNER: Final = """\
for x, y in data:
    for _ in range({times}):
        inner = step(x, y)
        {within}
    loss = step(x, y)
    {behind}
"""


@pytest.mark.parametrize(
    ("within", "behind", "lines"),
    [
        ("pass", "print(float(loss))", [0]),
        ("pass", "print(float(inner))", [0]),
        ("losses.append(float(inner))", "print(float(loss))", [0, 1]),
        ("losses.append(float(inner))", "pass", [1]),
        ("pass", "pass", []),
    ],
)
def test_a_step_around_a_loop_of_steps(tmp_path: Path, within: str, behind: str, lines: list[int]) -> None:
    text = SETUP + "@tf.function\n" + STEP
    first = text.count("\n") + 1
    loops = INNER.format(times="len(values)", within=within, behind=behind)
    assert [one.span.line - first for one in found(tmp_path, text + loops, "XLA516")] == lines


def test_what_is_read_once_an_epoch_is_not(tmp_path: Path) -> None:
    epochs = "for epoch in range(9):\n" + indent(LOOP, "    ") + "    print(float(loss))\n"
    assert found(tmp_path, SETUP + "@tf.function\n" + STEP + epochs, "XLA516") == []


SHOWN: Final = "    print(model(x).numpy())\n"


@pytest.mark.parametrize(
    ("loop", "severity"),
    [
        ("for x, y in data:\n" + SHOWN, Severity.WARNING),
        ("for number, (x, y) in enumerate(data):\n    z = x * 2\n    print(model(z).numpy())\n", Severity.WARNING),
        ("shown = {number: model(x) for number, (x, y) in enumerate(data)}\n", Severity.WARNING),
        ("def run(x):\n    return model(x)\n\nfor x, y in data:\n    run(x)\n", Severity.WARNING),
        ("while input():\n    x = np.ones(3)\n" + SHOWN, Severity.INFO),
        ("for x, y in data:\n" + SHOWN + "    break\n", None),
        ("for x, y in enumerate(data.take(5)):\n" + SHOWN, None),
        ("x = tf.ones([1, 3])\nfor number in range(99):\n" + SHOWN, None),
        ("for x, y in data:\n    if y > 1:\n    " + SHOWN, None),
        ("for net in (model, model):\n    net(tf.ones([1, 3]))\n", None),
        ("run = tf.function(model)\nfor x, y in data:\n    run(x)\n", None),
        ("def joined(rows):\n    return tf.keras.layers.Concatenate(1)([model(row) for row in rows])\n", None),
        (
            "def joined(rows):\n    return tf.concat([model(row) for row in rows], 1)\n\njoined(data)\n",
            Severity.WARNING,
        ),
    ],
)
def test_a_model_that_is_called_for_each_input(tmp_path: Path, loop: str, severity: Severity | None) -> None:
    assert [one.severity for one in found(tmp_path, SETUP + loop, "XLA517")] == ([] if severity is None else [severity])


COMPILED_RUN: Final = "@tf.function\ndef run(x):\n    mean.update_state(model(x))\n    return model(x)\n\n"


@pytest.mark.parametrize(
    ("loop", "severity"),
    [
        ("for x, y in data:\n    run(x)\n    print('%.3f' % mean.result())\n", Severity.WARNING),
        ("def evaluate(data):\n    for x, y in data:\n        print(run(x))\n\nevaluate(data)\n", Severity.WARNING),
        ("for x, y in data:\n    run(x)\n    print(mean.result().numpy())\n", Severity.WARNING),
        ("for x, y in data:\n    losses.append(run(x).numpy())\n", Severity.INFO),
        ("for x, y in data:\n    losses.append(run(x).numpy())\n    print('%.3f' % mean.result())\n", Severity.INFO),
        ("def one(x):\n    run(x)\n    print(mean.result())\n\nfor x, y in data:\n    one(x)\n", Severity.WARNING),
        # What it is passed is no batch: a call may be a whole epoch.
        (
            "def one(n):\n    run(tf.ones([1, 3]))\n    print(n, mean.result())\n\nfor n in range(99):\n    one(n)\n",
            None,
        ),
        ("for x, y in data:\n    run(x)\nprint(float(mean.result()))\n", None),
        ("for n, (x, y) in enumerate(data):\n    run(x)\n    if n % 50 == 0:\n        print(mean.result())\n", None),
        ("x = tf.ones([1, 3])\nfor number in range(99):\n    print(run(x))\n", None),
        ("for x, y in data.take(5):\n    print(run(x))\n", None),
        ("for x, y in data:\n    run(x)\n    print(x.numpy())\n", None),
        ("for x, y in data:\n    run(x)\n    print(model(x).numpy())\n", None),  # which is XLA517
    ],
)
def test_a_compiled_function_that_is_called_for_each_input(
    tmp_path: Path, loop: str, severity: Severity | None
) -> None:
    told = found(tmp_path, SETUP + COMPILED_RUN + loop, "XLA516")
    assert [one.severity for one in told] == ([] if severity is None else [severity])


RUN: Final = "def run(x):\n    return model(x)\n\n"


@pytest.mark.parametrize(
    ("loops", "lines"),
    [
        ("for x, y in data:\n    z = model(x)\n    for _ in range(40):\n        z = model(z + x)\n", [1]),
        ("for x, y in data:\n    model(x)\n    shown = [model(one) for one in x]\n", [1]),
        ("for x, y in data:\n    model(x)\n    for one in x:\n        model.predict(one)\n", [1, 3]),
        ("for x, y in data:\n    model(x)\nfor x, y in data:\n    model(x)\n", [1, 3]),
        (RUN + "for x, y in data:\n    run(x)\nshown = [run(x) for x, y in data]\n", [4]),
        (RUN + "while input():\n    x = np.ones(3)\n    run(x)\nfor x, y in data:\n    run(x)\n", [7]),
        (RUN + "for x, y in data:\n    run(x)\nfor x, y in data:\n    run(x)\n    model(x)\n", [6]),
        (
            "def run(z):\n    for _ in range(40):\n        z = model(z)\n    return z\n\n"
            "for x, y in data:\n    model(x)\n    run(x)\n",
            [6],
        ),
    ],
)
def test_loops_of_one_cause_have_one_finding(tmp_path: Path, loops: str, lines: list[int]) -> None:
    told = found(tmp_path, SETUP + loops, "XLA517")
    assert [one.span.line - SETUP.count("\n") for one in told] == lines
    assert {one.severity for one in told} == {Severity.WARNING}


MODELS: Final = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

critic = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
critic.compile("adam", "mse")
noise = keras.Input((8,))
generator = keras.Model(noise, keras.layers.Dense(3)(noise))
critic.trainable = False
both = keras.Model(noise, critic(generator(noise)))
both.compile("adam", "mse")
real, ones = np.ones((640, 3)), np.ones((640, 1))

def fake(model, count):
    return model.predict(np.random.normal(size=(count, 8)), verbose=0)

"""
TRAINED: Final = "    both.train_on_batch(np.ones((8, 8)), np.ones((8, 1)))\n"


@pytest.mark.parametrize(
    ("loop", "notes"),
    [
        ("for number in range(9000):\n" + TRAINED, 1),
        ("for number in range(9000):\n    made = fake(generator, 8)\n" + TRAINED, 2),
        ("for number in range(9000):\n    made = generator.predict_on_batch(real)\n" + TRAINED, 2),
        ("for number in range(9000):\n    value = critic.test_on_batch(real, ones)\n" + TRAINED, 2),
        ("for number in range(9000):\n    if number % 50 == 0:\n        fake(generator, 8)\n" + TRAINED, 1),
        ("for epoch in range(90):\n    for number in range(90):\n    " + TRAINED + "    fake(generator, 8)\n", 1),
        ("for batch in tf.data.Dataset.range(90).batch(8):\n    generator.predict(batch)\n" + TRAINED, 2),
        ("for epoch in range(90):\n    both.fit(real, ones)\n    fake(generator, 8)\n", 0),
        ("for number in range(9000):\n    if input():\n        continue\n    fake(generator, 8)\n", 0),
    ],
)
def test_what_keras_returns_in_a_loop_that_trains(tmp_path: Path, loop: str, notes: int) -> None:
    told = found(tmp_path, MODELS + loop, "XLA516")
    assert [(len(one.notes), one.severity) for one in told] == ([(notes, Severity.WARNING)] if notes else [])
