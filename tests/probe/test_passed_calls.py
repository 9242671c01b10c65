"""What a project calls things with in files that are not imported, and what a file does only as a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.probe.process import Limits, Worker
from xlalint.probe.protocol import Plan
from xlalint.probe.targets import Targets

from .driver import Driver

pytestmark = pytest.mark.compiler

_PROGRAM = """\
import tensorflow as tf

class Stack:
    def __init__(self, code, sizes):
        if code != 3571 or sizes != (3, 5):
            raise LookupError("not these")
        self.sizes = sizes

    def __call__(self, x):
        if x.shape != (*self.sizes, 7):
            raise LookupError("not this")
        return tf.reduce_sum(x, -1)

    def scaled(self, x, rate):
        return tf.concat([x, x], 2) * rate * self.sizes[0]
"""
_MAIN = """
if __name__ == "__main__":
    WIDTH, code = 7, 3571
    stack = Stack(code, sizes=(3, 5))
    y = stack(tf.random.normal([3, 5, WIDTH]))
"""
_OTHER = """\
import sys

import tensorflow as tf

from program import Stack

WIDTH = 7
stack = Stack(3571, sizes=(3, 5))
print(stack(tf.ones([3, 5, WIDTH])))
sys.exit("it must not run")
"""
_IN_A_METHOD = """\
import sys
from program import Stack

class Trainer:
    def __init__(self, code=3571):
        self.stack = Stack(code, (3, 5))

    def step(self):
        return self.stack(tf.ones((3, 5, 7)))

sys.exit("it must not run")
"""


@pytest.mark.parametrize("where", ["itself", "another", "a-method"])
def test_an_object_is_made_and_called_as_there(worker: Worker, tmp_path: Path, where: str) -> None:
    (tmp_path / "README.md").write_text("A project.\n")
    (tmp_path / "program.py").write_text(_PROGRAM + (_MAIN if where == "itself" else ""))
    if where != "itself":
        (tmp_path / "run.py").write_text(_OTHER if where == "another" else _IN_A_METHOD)
    outcome = worker.ask(Targets().at(tmp_path / "program.py", "Stack"), Plan(drive_only=True), Limits())
    assert outcome.not_run is None, outcome
    assert outcome.how == "Stack(code: 3571, sizes: (3, 5)), called with x: f32[3, 5, 7]"
    method = worker.ask(Targets().at(tmp_path / "program.py", "Stack.scaled"), Plan(drive_only=True), Limits())
    assert method.not_run is None, method
    assert method.how.startswith("Stack(code: 3571, sizes: (3, 5)).scaled with x: f32[4, 4, 4]")


_WRAPPED = """\
import keras
import tensorflow as tf

class Wrapped(keras.layers.Layer):
    def __init__(self, layer):
        super().__init__()
        if not isinstance(layer, keras.layers.Layer):
            raise ValueError("no layer")
        self.layer, self.scale = layer, 1.0

    def build(self, shape):
        if not self.layer.built:
            self.layer.build(shape)
            self.gain = self.add_weight(shape=(3,), initializer="ones")

    def call(self, x):
        return self.layer(x) * self.gain

    def scaled(self, x):
        scale, self.scale = self.scale * 2.0, None
        y = self.layer(x) * scale
        self.scale = scale
        return y

def network():
    return Wrapped(keras.layers.Conv2D(3, 2))

def cropped(data):
    height = tf.cast(tf.shape(data["image"])[0], tf.float32)
    box = data["box"] * tf.stack([height, height, height, height])
    top = tf.cast(box[0] * 0.0, tf.int32)
    return tf.image.crop_to_bounding_box(data["image"], top, 0, 2, 2) * tf.reduce_sum(box)
"""


@pytest.mark.parametrize("name", ["Wrapped", "Wrapped.scaled"])
def test_each_call_has_a_layer_that_none_has_changed_before(driver: Driver, tmp_path: Path, name: str) -> None:
    (tmp_path / "program.py").write_text(_WRAPPED)
    found = driver(name, str(tmp_path / "program.py"))
    assert "layer: <Conv2D []>" in found.get("how", ""), found
    assert found["inputs"][0].count(",") == 3  # four dimensions, which the layer asks for


def test_one_element_may_be_of_a_row_of_a_dictionary(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_WRAPPED)
    found = driver("cropped", str(tmp_path / "program.py"))
    assert found["inputs"] == ["data: {'image': f32[8, 8, 3], 'box': f32[4]}"]
