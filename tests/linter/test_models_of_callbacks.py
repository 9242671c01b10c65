"""Callbacks that ask the model that Keras gives them, picture by picture, wherever they are created."""

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
from elsewhere import build, callbacks

class Own(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.score = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.score(x)

    @tf.function
    def predict(self, x):
        return self.score(x)

class Look(tf.keras.callbacks.Callback):
    def __init__(self, pictures):
        super().__init__()
        self.pictures = pictures

    def one(self, picture):
        return ASK

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 10 == 0:
            for picture in self.pictures:
                print(self.one(picture))

pictures = np.ones((64, 8, 8, 3))
model = MODEL
model.compile("sgd", "mse")
model.fit(pictures, pictures, callbacks=CALLBACKS)
"""
LINES: Final = "self.model(picture[None]).numpy()"
PREDICTS: Final = "self.model.predict(picture[None])"


@pytest.mark.parametrize("callbacks", ["[Look(pictures)]", "callbacks()", "[callbacks()]"])
@pytest.mark.parametrize(
    ("model", "ask", "expected"),
    [
        ("build()", LINES, {"XLA517"}),
        ("build()", PREDICTS, {"XLA517"}),
        ("Own()", LINES, {"XLA517"}),
        ("Own()", f"{PREDICTS}.numpy()", {"XLA516"}),  # it is compiled, and waited for each time
        ("Own()", f"self.predict({LINES})", set()),  # a callback predicts nothing
    ],
)
def test_it_is_told(model: str, ask: str, callbacks: str, expected: set[str], tmp_path: Path) -> None:
    program = PROGRAM.replace("ASK", ask).replace("MODEL", model).replace("CALLBACKS", callbacks)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    found = [one for one in check([tmp_path], Settings(target="tpu")).findings if one.code in ("XLA516", "XLA517")]
    assert {one.code for one in found if one.severity is Severity.WARNING} >= expected


def test_other_attributes_are_not_known(tmp_path: Path) -> None:
    program = PROGRAM.replace("ASK", "self.other(picture[None]).numpy()").replace("MODEL", "build()")
    (tmp_path / "program.py").write_text(program.replace("CALLBACKS", "callbacks()"), encoding="utf-8")
    assert "XLA517" not in [one.code for one in check([tmp_path], Settings(target="tpu")).findings]


LATER: Final = """\
import numpy as np
import tensorflow as tf
from elsewhere import build, callbacks

class Look(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.pictures = None

    def take(self, pictures):
        self.pictures = pictures

    def on_epoch_end(self, epoch, logs=None):
        if self.pictures is not None:
            for picture in self.pictures:
                print(self.model.predict(picture[None]))

pictures = np.ones((64, 8, 8, 3))
model = build()
model.compile("sgd", "mse")
alone = Look()
given = callbacks()
for each in given:
    if ASKED:
        each.take(pictures)
model.fit(pictures, pictures, callbacks=[alone])
model.fit(pictures, pictures, callbacks=given)
"""


@pytest.mark.parametrize(("asked", "expected"), [("isinstance(each, Look)", True), ("isinstance(each, str)", False)])
def test_what_is_asked_for_is_of_its_class(asked: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LATER.replace("ASKED", asked), encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    assert ("XLA517" in [one.code for one in findings]) == expected
