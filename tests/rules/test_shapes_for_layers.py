"""Shapes that layers pass to each other beside their data: sizes, whatever the annotation of a parameter says."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf


class Split(tf.keras.layers.Layer):
    def call(self, value: tf.Tensor, shapes: tf.Tensor) -> tf.Tensor:
        return tf.concat(tf.split(value, shapes[:, 0] * shapes[:, 1], axis=1), 1)


class Levels(tf.keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.parts = [Split() for _ in range(3)]

    def call(self, value: tf.Tensor, shapes: tf.Tensor) -> tf.Tensor:
        for part in self.parts:
            value = part(value, shapes=shapes)
        return value


class Net(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.levels = Levels()

    def call(self, pyramid: list[tf.Tensor]) -> tf.Tensor:
        shapes, flat = [], []
        for level in range(2):
            x = pyramid[level]
            height, width = tf.shape(x)[1], tf.shape(x)[2]
            shapes.append(PASSED)
            flat.append(tf.reshape(x, [tf.shape(x)[0], height * width, 8]))
        return self.levels(tf.concat(flat, 1), shapes=tf.stack(shapes))


net = Net()


@tf.function(jit_compile=True)
def step(large, small):
    return net([large, small])
"""
SIZES: Final = "tf.stack([height, width])"
VALUES: Final = 'tf.cast(tf.stack([x[0, 0, 0, 0] + float(level), 1.0]), "int32")'


def test_sizes_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM.replace("PASSED", SIZES), encoding="utf-8")
    assert [one.code for one in check([tmp_path], Settings()).findings if one.code == "XLA205"] == []


def test_data_are_data(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM.replace("PASSED", VALUES), encoding="utf-8")
    assert [one.span.line for one in check([tmp_path], Settings()).findings if one.code == "XLA205"] == [6]


@pytest.mark.compiler
def test_the_compiler_takes_the_sizes() -> None:
    tf: Any = importlib.import_module("tensorflow")
    namespace: dict[str, Any] = {}
    exec(PROGRAM.replace("PASSED", SIZES), namespace)
    step, large, small = namespace["step"], tf.ones([2, 4, 4, 8]), tf.ones([2, 2, 2, 8])
    assert step(large, small).shape == (2, 20, 8)
    step(large * 2.0, small * 3.0)
    assert step.experimental_get_tracing_count() == 1
