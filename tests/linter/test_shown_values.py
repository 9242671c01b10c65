"""Text that a loop of training makes in each iteration: of what a step returns, and of objects that hold it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import logging
import tensorflow as tf
from tqdm import tqdm

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
data = tf.data.Dataset.from_tensors((tf.ones([8, 3]), tf.ones([8, 1]))).repeat(300)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

class Meter:
    def __init__(self, name, form=":.3f"):
        self.name, self.form = name, form
        self.sum, self.count, self.mean = 0.0, 0, 0.0

    def update(self, value):
        self.sum += value
        self.count += 1
        self.mean = self.sum / self.count

    def get(self):
        if self.count == 0:
            return 0
        return self.sum, self.mean

    def SHOWN(self):
        return TEXT

class Board:
    def __init__(self, *meters):
        self.meters = meters

    def show(self, number):
        print("\\t".join([str(number), *(str(meter) for meter in self.meters)]))

meter, bar, parts = Meter("loss"), tqdm(data), []
board = Board(meter)
for number, (x, y) in enumerate(bar):
"""
MEAN: Final = 'f"{self.name} {self.mean:.3f}"'
JOINED: Final = '("{name} {mean" + self.form + "}").format(**self.__dict__)'


def _found(folder: Path, lines: str, shown: str = "__str__", text: str = MEAN) -> list[str]:
    program = PROGRAM.replace("SHOWN", shown).replace("TEXT", text)
    (folder / "program.py").write_text(
        program + "".join(f"    {line}\n" for line in lines.splitlines()), encoding="utf-8"
    )
    return [one.code for one in check([folder], Settings(target="tpu")).findings if one.code == "XLA516"]


@pytest.mark.parametrize(
    "shows",
    [
        "print(meter)",
        "print('now', str(meter))",
        "bar.set_description(f'{meter}')",
        "bar.set_description('%s' % meter)",
        "print('{}'.format(meter))",
        "logging.info('%s', meter)",
        "bar.set_postfix(mean=meter)",
        "print(*[meter])",
        "board.show(number)",
    ],
)
@pytest.mark.parametrize(("shown", "text"), [("__str__", MEAN), ("__str__", JOINED), ("__repr__", MEAN)])
def test_an_object_that_holds_what_steps_return_reads_it_where_it_is_shown(
    tmp_path: Path, shows: str, shown: str, text: str
) -> None:
    assert _found(tmp_path, f"meter.update(step(x, y))\n{shows}", shown, text) == ["XLA516"]


def test_what_an_object_is_represented_by_reads_it(tmp_path: Path) -> None:
    assert _found(tmp_path, "meter.update(step(x, y))\nparts.append(repr(meter))", "__repr__") == ["XLA516"]


@pytest.mark.parametrize(
    "lines",
    [
        "print(f'{step(x, y)}')",
        "parts.append(f'{step(x, y):.3f}')",
        "logs = {'loss': step(x, y)}\nprint(*logs.values())",
        "losses = [step(x, y) for _ in range(3)]\nprint('{} {} {}'.format(*losses))",
        "meter.update(step(x, y))\nprint('{:.3f} {:.3f}'.format(*meter.get()))",
        "bar.set_postfix(**{'loss': step(x, y)})",
        "form = 'loss: ' + meter.form\nprint(form.format(step(x, y)))",
    ],
)
def test_text_is_made_of_what_a_step_returns(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == ["XLA516"]


@pytest.mark.parametrize(
    "lines",
    [
        "meter.update(step(x, y))",
        "meter.update(step(x, y))\nif number % 100 == 0:\n    print(meter)",
        "step(x, y)\nmeter.update(1.0)\nprint(meter)",
        "step(x, y)\nmeter.update(x.shape[0])\nboard.show(number)",
        "step(x, y)\nprint('{} {}'.format(*x.shape))",
        "step(x, y)\nform = '{' + meter.form + '}'\nprint(form.format(number))",
    ],
)
def test_python_numbers_and_what_is_shown_seldom_are_silent(tmp_path: Path, lines: str) -> None:
    assert _found(tmp_path, lines) == []
