"""Tensors in structures, and what may be either: only what is marked is flagged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.compiler import measure
from xlalint.linter.rule import Compiles

from .marked import MARK, flagged, marked

BLOCKS: Final = """\
import tensorflow as tf

class Block(tf.keras.layers.Layer):
    def call(self, x, training=False):
        return x * 2.0

class Pool(tf.keras.layers.Layer):
    def call(self, x):
        x, size = x
        return tf.reshape(x, size)[:1], size

class Gate(tf.keras.layers.Layer):
    def call(self, x):
        x = x if tf.reduce_sum(x) > 0 else x * 2.0  # flagged
        return x

stages = {"block": Block(), "gate": Gate(), "pool": Pool()}

@tf.function(jit_compile=True, autograph=False)
def f(x):
    size = tuple(tf.unstack(tf.shape(x)))
    for key, stage in stages.items():
        if key.endswith("pool"):
            x, size = stage((x, size), training=True)
        else:
            x = stage(x, training=True)
    return x
"""
SPECS: Final = """\
import tensorflow as tf

class Composite:
    def __init__(self, spec=None):
        self.spec = spec

    def __call__(self, *args):
        if self.spec is None:
            self.spec = tf.nest.map_structure(lambda value: value * 1.0, (args, {}))
        given, named = tf.nest.map_structure(lambda value: value * 2.0, self.spec)
        return tf.add_n(self.added(*given))

    def added(self, first, second):
        low, high = first + second  # flagged
        return [first, second]

@tf.function(jit_compile=True, autograph=False)
def f(x):
    return Composite()(x, x)
"""
OBJECTS: Final = """\
import typing
import tensorflow as tf

class Piece(typing.NamedTuple):
    rank: int
    values: tf.Tensor

@tf.autograph.experimental.do_not_convert
def scalar(piece):
    if piece.rank != 0:
        raise ValueError("no scalar")
    return piece.values

read = tf.keras.layers.Lambda(lambda piece: scalar(piece) * 2.0)

@tf.function(jit_compile=True)
def f(x):
    return scalar(Piece(0, x))
"""
CODE: Final = {
    "layers by their names": BLOCKS,
    "a structure that is made when it is not there": SPECS,
    "an object that a Lambda layer takes": OBJECTS,
}


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_only_what_is_marked_is_flagged(tmp_path: Path, code: str) -> None:
    assert {line for line, _ in flagged(tmp_path, code)} == marked(code)


@pytest.mark.compiler
@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_what_is_not_marked_compiles(code: str) -> None:
    kept = "\n".join(line for line in code.split("\n") if not line.endswith(MARK))
    measured = measure(kept, ("f32[2, 2]",))
    assert measured.matches(Compiles()), measured
