"""Methods that nobody calls, of a class whose others run in input pipelines, or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

CLASS: Final = """\
import tensorflow as tf

class Augmentation:
    def __init__(self, most):
        self.most = most

    def flip(self, image):
        return tf.image.random_flip_left_right(image)

    def shift(self, image):
        by = tf.random.uniform([], 0, self.most, tf.int32)
        if by > 2:
            image = tf.roll(image, 2, 1)
        return image

def prepared(data):
    augmentation = Augmentation(8)
    return data.map(lambda image: augmentation.flip(image)).batch(8, drop_remainder=True)
"""
IN_STEP: Final = """
augmentation = Augmentation(4)

@tf.function
def step(image):
    return augmentation.flip(image)

step(tf.ones([8, 8, 3]))
"""


@pytest.mark.parametrize(("more", "found"), [("", False), (IN_STEP, True)], ids=["pipeline", "step"])
def test_uncalled_method(tmp_path: Path, more: str, found: bool) -> None:
    (tmp_path / "m.py").write_text(CLASS + more, encoding="utf-8")
    findings = check([tmp_path], Settings(target="tpu")).findings
    assert [finding.span.line for finding in findings if finding.code == "XLA101"] == [12] * found


PARSER: Final = """\
import tensorflow as tf

class Parser:
    def __init__(self, mode):
        if mode == "train":
            self.parse = self.parse_train
        else:
            self.parse = self.parse_test

    def __call__(self, image):
        return self.parse(image)

    def parse_train(self, image):
        return self.parse_all(image, 2.0)

    def parse_test(self, image):
        return self.parse_all(image, 1.0)

    def parse_all(self, image, scale):
        if tf.reduce_sum(image) > scale:
            image = image / scale
        return image
"""
TRAINING: Final = """\
import tensorflow as tf
from parsing import Parser

tf.data.Dataset.from_tensor_slices(tf.ones([8, 4])).map(Parser("train")).batch(4)
"""
SHOWING: Final = "from parsing import Parser\n\nprint(Parser)\n"


@pytest.mark.parametrize("names", [("train.py",), ("train.py", "show.py")])
def test_method_that_no_program_calls_beside_one_that_a_pipeline_runs(tmp_path: Path, names: tuple[str, ...]) -> None:
    (tmp_path / "parsing.py").write_text(PARSER, encoding="utf-8")
    for name in names:
        (tmp_path / name).write_text({"train.py": TRAINING, "show.py": SHOWING}[name], encoding="utf-8")
    assert not check([tmp_path], Settings(target="tpu")).findings


def test_method_of_a_class_that_no_pipeline_runs(tmp_path: Path) -> None:
    (tmp_path / "parsing.py").write_text(PARSER, encoding="utf-8")
    (tmp_path / "show.py").write_text(SHOWING, encoding="utf-8")
    assert {one.code for one in check([tmp_path], Settings(target="tpu")).findings} == {"XLA101"}
