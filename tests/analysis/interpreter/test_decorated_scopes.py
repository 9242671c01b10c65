"""Whose scope a decorator enters around what it calls: a TPU's, where the last batch is compiled once more."""

from __future__ import annotations

from typing import Final

import pytest

from tests.programs.scopes import IN_SCOPE_OF
from tests.programs.tpu import MIRRORED, VM
from xlalint import lint_source
from xlalint.linter.rule import Severity
from xlalint.settings.config import Settings

PROGRAM: Final = """
{begun}

def scoped(function):
    def inner(*args):
        with strategy.scope():
            return function(*args)
    return inner

def scoped_by_object(method):
    def inner(self, *args):
        with self.kept.scope():
            return method(self, *args)
    return inner

{in_scope_of}
class Scoped:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        with strategy.scope():
            return self.function(*args)

def plain(function):
    def inner(*args):
        return function(*args)
    return inner

class Trainer:
    def __init__(self):
        self.kept = strategy

    {method}
    def build(self):
        return make()

{function}
def make():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model

rows = tf.data.TFRecordDataset("gs://bucket/rows").map(lambda row: tf.io.decode_raw(row, tf.float32))
Trainer().build().fit(rows.batch(8))
"""


@pytest.mark.parametrize(
    ("method", "function", "known"),
    [
        ("", "@scoped", True),
        ("@scoped", "", True),
        ("@scoped_by_object", "", True),
        ("", "@in_scope_of(strategy)", True),
        ("", "@in_scope_of(one=strategy)", True),
        ("", "@Scoped", True),
        ("@plain", "@plain", False),
        ("", "@in_scope_of(unknown)", False),
    ],
)
def test_a_decorator_enters_the_scope(method: str, function: str, known: bool) -> None:
    for begun, of_tpu in ((VM, True), (MIRRORED, False)):
        text = PROGRAM.format(begun=begun, in_scope_of=IN_SCOPE_OF, method=method, function=function)
        found = [one.severity for one in lint_source(text, settings=Settings()).findings if one.code == "XLA302"]
        assert (found == [Severity.WARNING]) is (known and of_tpu)
