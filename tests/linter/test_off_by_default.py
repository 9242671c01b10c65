"""What stands behind what a function returns by default is for those who set it otherwise: it is information."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.findings.findings import Severity
from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--pool_size", type=int, default={default})
parser.add_argument("--augment", action="store_true")
options = parser.parse_args()

class Pool:
    def __init__(self, size):
        self.size = size

    def query(self, images):
        {test}
        return self.keep(images[images > 0.5])

    def keep(self, images):
        return images

pool = Pool(options.pool_size)

@tf.function(jit_compile=True)
def step(x):
    return tf.reduce_sum(pool.query(x))

step(tf.ones([4]))
"""
BY_CLASS: Final = """\
class BaseOptions:
    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.initialized = False

    def initialize(self):
        self.parser.add_argument("--name", default="run")
        self.parser.add_argument("--augment", action="store_true")
        self.initialized = True

    def parse(self):
        if not self.initialized:
            self.initialize()
        self.options = self.parser.parse_args()
        return self.options

class TrainOptions(BaseOptions):
    def initialize(self):
        BaseOptions.initialize(self)
        self.parser.add_argument("--pool_size", type=int, default={default})

options = TrainOptions().parse()
"""
PASSED_ON: Final = "if {}:\n            return images"
TESTS: Final = {
    "off": (0, PASSED_ON.format("self.size == 0"), True),
    "on": (50, PASSED_ON.format("self.size == 0"), False),
    "off, the other way round": (0, PASSED_ON.format("not self.size > 0"), True),
    "off by its truth": (0, PASSED_ON.format("not self.size"), True),
    "on by its truth": (1, PASSED_ON.format("not self.size"), False),
    "a flag that is off": (0, PASSED_ON.format("not options.augment"), True),
    "a flag that is on": (0, PASSED_ON.format("options.augment"), False),
    "another result": (0, "if self.size == 0:\n            return images * 2.0", False),
    "what was changed": (0, "images = images * 2.0\n        " + PASSED_ON.format("self.size == 0"), False),
    "an alternative": (
        0,
        PASSED_ON.format("self.size == 0") + "\n        else:\n            images = images * 2.0",
        False,
    ),
    "what is no setting": (0, PASSED_ON.format("len(self.size) == 0"), False),
    "nothing": (0, "pass", False),
}


@pytest.mark.parametrize("by_class", [False, True], ids=["a parser", "a class of options"])
@pytest.mark.parametrize("target", [None, "tpu"])
@pytest.mark.parametrize(("default", "test", "off"), TESTS.values(), ids=TESTS)
def test_what_nobody_asks_for_is_information(
    default: int, test: str, off: bool, target: str | None, by_class: bool, tmp_path: Path
) -> None:
    start, end = PROGRAM.index("parser ="), PROGRAM.index("\nclass Pool")
    program = f"{PROGRAM[:start]}{BY_CLASS}{PROGRAM[end:]}" if by_class else PROGRAM
    (tmp_path / "m.py").write_text(program.format(default=default, test=test), encoding="utf-8")
    (found,) = (one for one in check([tmp_path], Settings(target=target)).findings if one.code == "XLA201")
    assert found.context is not None
    assert (found.severity is Severity.INFO) is off
    assert ("by default this function returns what it is passed" in found.context.shown) is off
