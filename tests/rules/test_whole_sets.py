"""Whole sets of examples, of which nobody knows how many there are: most of them leave a smaller last batch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.rules.scripts import HEAD, JIT, MODEL, Script, deserved, one
from xlalint.linter.run import check
from xlalint.settings.config import Settings

LAST: Final = "XLA302"
GENERATED: Final = f"""{HEAD}{JIT}
def rows():
    for row in np.load("rows.npy"):
        yield row

data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([4]))
data = data.batch(32).prefetch(2)
"""
BATCHED: Final = (LAST, "data = data.batch(32)")
# How many batches are taken, and whether these may be all.
TAKEN: Final = {"10000": True, "1000": True, "count": False, "10": False, "-1": True}
FILE: Final = 'rows = np.loadtxt("rows.csv", delimiter=",")\nx, y = rows[:, :4], rows[:, 4:]\n'
# What a program does with the rows of a file, and the lines that are told.
USED: Final = {
    "measured": ("model.evaluate(x, y)\n", 1),
    "measured and predicted": ("model.evaluate(x, y)\nmodel.predict(x)\n", 2),
    "trained and predicted": ("model.fit(x, y)\nmodel.predict(x)\n", 2),
    "validated and predicted": ("model.fit(data, validation_data=(x, y))\nmodel.predict(x)\n", 1),
    "predicted": ("model.predict(x)\n", 0),
    "one by one": ("model.evaluate(x, y, batch_size=1)\n", 0),
    "predicted one by one": ("model.evaluate(x, y)\nmodel.predict(x, batch_size=1)\n", 1),
    "another name": ("model.evaluate(x, y)\nmodel.predict(z)\n", 1),
}
FOLDS: Final = """\
from sklearn.model_selection import KFold
for train, test in KFold(5).split(x):
    a, b = x[y[:, 0] == test[0]], y[y[:, 0] == test[0]]
    model.evaluate(a, b)
    model.predict(a)
"""
# What a function makes of what it is passed, and whether the model has many rows to predict.
MADE: Final = {
    "filled": ("array = np.zeros((len(rows), 4))\n    for n, row in enumerate(rows):\n        array[n] = row", True),
    "a list": ("array = np.array([row * 2 for row in rows])", False),
    "one": ("array = np.array([rows])", False),
    "expanded": ("array = np.expand_dims(rows, 0)", False),
    "with an axis": ("array = rows[np.newaxis]", False),
    "empty": ("array = np.zeros((1, 4))", False),
    "whole batches": ("array = np.zeros((len(rows) // 32 * 32, 4))", False),
}
CALLBACK: Final = f"""{HEAD}
class Measured(keras.callbacks.Callback):
    def __init__(self, rows, model=None):
        super().__init__()
        self.data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows))
        self.data = self.data.padded_batch(32)
        self.other = model

    def on_epoch_end(self, epoch, logs=None):
        print({{model}}.predict(self.data))
"""


@pytest.mark.parametrize(("number", "told"), TAKEN.items())
def test_batches_that_are_taken_may_be_all(number: str, told: bool, tmp_path: Path) -> None:
    loop = f"def train(count):\n    for x in data.take({number}):\n        step(x)\n\ntrain(len(open('n').read()))\n"
    deserved(one(f"{GENERATED}{loop}", *((BATCHED,) if told else ())), tmp_path)


@pytest.mark.parametrize("name", USED)
def test_rows_of_a_file_are_many_where_they_have_targets(name: str, tmp_path: Path) -> None:
    body, told = USED[name]
    lines = [line for line in body.splitlines() if "validation" not in line][:told]
    deserved(one(f"{HEAD}{MODEL}{FILE}{body}", *((LAST, line) for line in lines)), tmp_path)


def test_rows_of_another_number_each_time_are_no_set(tmp_path: Path) -> None:
    found = (("XLA308", "model.evaluate(a, b)"),)
    deserved(one(f"{HEAD}{MODEL}{FILE}{FOLDS}", *found), tmp_path)


@pytest.mark.parametrize("name", MADE)
def test_an_array_has_as_many_rows_as_are_counted(name: str, tmp_path: Path) -> None:
    body, told = MADE[name]
    text = f"{HEAD}{MODEL}def scores(rows):\n    {body}\n    return model.predict(array)\n\nscores(open('x'))\n"
    deserved(one(text, *(((LAST, "return model.predict(array)"),) if told else ())), tmp_path)


@pytest.mark.parametrize(("model", "told"), {"self.model": True, "self.other": False}.items())
def test_a_callback_has_the_model_that_keras_gives_it(model: str, told: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CALLBACK.format(model=model), encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert [(each.code, each.span.line) for each in found] == ([("XLA303", 10)] if told else [])


@pytest.mark.parametrize("made", ['json.loads("[1, 2]")', "tokenizer.encode(text)", "[1, 2]"])
@pytest.mark.parametrize("shape", ["np.array([ids])", "tf.constant([ids])"])
def test_a_list_that_another_library_makes_gets_longer(made: str, shape: str, tmp_path: Path) -> None:
    loop = f"for _ in range(5):\n        step({shape})\n        ids.append(3)\n"
    head = f"{HEAD}import json\nfrom tokens import tokenizer\n{JIT}\n"
    text = f"{head}def run(text):\n    ids = {made}\n    {loop}\nrun('a')\n"
    deserved(Script({"train.py": text}, (("XLA308", "step("),)), tmp_path)


@pytest.mark.parametrize(
    ("image", "told"),
    {
        "tf.io.decode_png(tf.io.read_file(path))[None]": True,
        "tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), [9, 9])[None]": False,
    }.items(),
)
@pytest.mark.parametrize("called", ["saved", 'saved.signatures["serving_default"]', "detect"])
def test_pictures_of_their_own_size_reach_a_graph_that_was_saved(
    called: str, image: str, told: bool, tmp_path: Path
) -> None:
    head = f'{HEAD}import sys\nsaved = tf.saved_model.load("model")\ndetect = saved.signatures["serving_default"]\n'
    (tmp_path / "run.py").write_text(f"{head}for path in sys.argv[1:]:\n    {called}({image})\n", encoding="utf-8")
    found = check([tmp_path], Settings(target="tpu")).findings
    assert [each.code for each in found if each.code.startswith("XLA3")] == (["XLA308"] if told else [])
