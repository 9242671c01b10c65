"""Functions that a program keeps by their names, or hands to a model, are those that XLA compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.scripts import HEAD, MODEL
from xlalint.linter.run import check
from xlalint.settings.config import Settings

LOSSES = """\
def hardest(y_true, y_pred):
    losses = tf.reshape(tf.square(y_true - y_pred), [-1])
    count = tf.cast(tf.reduce_sum(losses), tf.int32)
    return tf.reduce_mean(tf.sort(losses)[:count])

{decorator}
def squared(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred))

"""
FACTORY = """\
TABLE = {}

def register(name):
    def put(function):
        TABLE[name] = function
        return function
    return put

"""
BY_NAME = """\
TABLE = {}

def register(function):
    TABLE[function.__name__] = function
    return function

"""
CLASS = """\
class Registry:
    def __init__(self):
        self.kept = {}

    def register(self, name):
        def put(function):
            self.kept[name] = function
            return function
        return put

    def get(self, name):
        return self.kept[name]

TABLE = Registry()

"""
SETTING = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--loss", default="hardest")
name = parser.parse_args().loss
"""
CHOICE = "def choose(name):\n    return TABLE[name]\n\n"
TRAINER = """\
class Trainer(keras.Model):
    def __init__(self, measure):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.measure = measure

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.measure(y, self(x))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}

"""
DATA = "x, y = tf.ones([64, 4]), tf.ones([64, 1])\n"


def _compiled(table: str, decorator: str, before: str, loss: str) -> str:
    losses = f"{decorator.format('hardest')}\n{LOSSES.format(decorator=decorator.format('squared'))}"
    return (
        f"{HEAD}{MODEL}{DATA}{table}{losses}{before}model.compile('sgd', {loss}, jit_compile=True)\nmodel.fit(x, y)\n"
    )


def _found(text: str, folder: Path) -> set[tuple[str, str]]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return {(one.code, str(one.severity)) for one in check([folder], Settings()).findings if one.code == "XLA205"}


@pytest.mark.parametrize(
    ("table", "decorator", "before", "loss"),
    [
        (FACTORY, "@register('{}')", "", "TABLE['{}']"),
        (FACTORY, "@register('{}')", "", "TABLE.get('{}')"),
        (FACTORY, "@register('{}')", CHOICE, "choose('{}')"),
        (FACTORY, "@register(name='{}')", "chosen = TABLE['{}']\n", "loss=chosen"),
        (BY_NAME, "@register", "", "TABLE['{}']"),
        (CLASS, "@TABLE.register('{}')", "", "TABLE.get('{}')"),
    ],
)
def test_what_a_program_registers_is_what_it_takes(
    table: str, decorator: str, before: str, loss: str, tmp_path: Path
) -> None:
    hazard, other = (
        _compiled(table, decorator, before.format(name), loss.format(name)) for name in ("hardest", "squared")
    )
    assert _found(hazard, tmp_path) == {("XLA205", "warning")}
    assert {severity for _, severity in _found(other, tmp_path)} <= {"info"}


def test_a_setting_chooses(tmp_path: Path) -> None:
    assert _found(_compiled(FACTORY, "@register('{}')", SETTING, "TABLE[name]"), tmp_path) == {("XLA205", "warning")}


@pytest.mark.parametrize(
    "given",
    ["hardest", "{'hard': hardest}['hard']", "functools.partial(hardest)", "measure=hardest"],
)
def test_the_steps_of_a_model_call_what_it_is_created_with(given: str, tmp_path: Path) -> None:
    losses = LOSSES.format(decorator="")
    made = f"trainer = Trainer({given})\ntrainer.compile('sgd', jit_compile=True)\ntrainer.fit(x, y)\n"
    text = f"import functools\n{HEAD}{DATA}{losses}{TRAINER}{made}"
    assert _found(text, tmp_path) == {("XLA205", "warning")}
    assert not _found(text.replace(given, "squared"), tmp_path)


def test_so_they_do_what_it_is_compiled_with(tmp_path: Path) -> None:
    trainer = TRAINER.replace("(self, measure)", "(self)").replace("        self.measure = measure\n", "")
    keeps = "    def compile(self, measure, **kwargs):\n        super().compile(**kwargs)\n"
    keeps += "        self.measure = measure\n\n"
    made = "trainer = Trainer()\ntrainer.compile(hardest, optimizer='sgd', jit_compile=True)\ntrainer.fit(x, y)\n"
    text = f"{HEAD}{DATA}{LOSSES.format(decorator='')}{trainer.rstrip()}\n\n{keeps}{made}"
    assert _found(text, tmp_path) == {("XLA205", "warning")}
    assert not _found(text.replace("compile(hardest", "compile(squared"), tmp_path)
