"""Command lines that a class builds option by option, as programs for images often do: what their options are by
default is known."""

from __future__ import annotations

from typing import Final

import pytest

from tests.programs.tpu import NODE
from xlalint import lint_source
from xlalint.settings.config import Settings

PROGRAM: Final = f"""{NODE}
import argparse

class BaseOptions:
    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.initialized = False

    def initialize(self):
        self.parser.add_argument("--name", default="run")
        self.parser.add_argument("--size", type=int, default=3)
        self.parser.add_argument("--size_of_test", type=int, default=4)
        self.parser.add_argument("--records", default="{{base}}/train.tfrecord")
        self.initialized = True

    def parse(self):
        if not self.initialized:
            self.initialize()
        self.options = self.parser.parse_args()
        self.options.is_train = self.is_train
        return self.options

class TrainOptions(BaseOptions):
    def initialize(self):
        BaseOptions.initialize(self)
        self.parser.add_argument("--more", default="{{own}}/more.tfrecord")
        self.is_train = True

options = TrainOptions().parse()
data = tf.data.TFRecordDataset(options.{{read}})
"""


@pytest.mark.parametrize("read", ["records", "more"])
@pytest.mark.parametrize("folder", ["data", "gs://bucket"])
def test_an_option_is_what_it_is_by_default(read: str, folder: str) -> None:
    other = {"data": "gs://bucket", "gs://bucket": "data"}[folder]
    base, own = (folder, other) if read == "records" else (other, folder)
    found = lint_source(PROGRAM.format(base=base, own=own, read=read), settings=Settings()).findings
    assert [one.code for one in found] == ["XLA504"] * (folder == "data")
    assert all(f"`--{read}`" in one.message for one in found)
