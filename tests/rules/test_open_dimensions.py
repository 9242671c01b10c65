"""Dimensions that a graph does not know: of a batch that it takes of a dataset, and of what is declared (XLA209)."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Final

import pytest

from xlalint.linter.run import check
from xlalint.settings.config import Settings

PROGRAM: Final = """\
import tensorflow as tf

rows = tf.ones([10, 2, 3])
data = tf.data.Dataset.from_tensor_slices(rows).batch(4)
even = tf.data.Dataset.from_tensor_slices(rows).batch(4, drop_remainder=True)
pairs = tf.data.Dataset.from_tensor_slices((rows, rows)).batch(4)
named = tf.data.Dataset.from_tensor_slices({{"x": rows}}).batch(4)
strategy = tf.distribute.MirroredStrategy(["CPU:0"])
spec = tf.TensorSpec([None, 2, 3], tf.float32)

def flat(x):
    return tf.reshape(x, [x.shape[0], 6])

{program}
"""
FAILS: Final = {
    "a loop in the graph": "@tf.function\ndef f(data):\n    for x in data:\n        flat(x)\n\nf(data)",
    "of pairs": "@tf.function\ndef f():\n    for x, y in pairs:\n        tf.zeros([y.shape[0], 2])\n\nf()",
    "by name": "@tf.function\ndef f():\n    for batch in named:\n        flat(batch['x'])\n\nf()",
    "the next one": "@tf.function\ndef f(batches):\n    return flat(next(batches))\n\nf(iter(data))",
    "of a compiled function": "@tf.function\ndef f():\n"
    "    for x in data:\n        tf.function(flat, jit_compile=True)(x)\n\nf()",
    "run by a strategy": "@tf.function\ndef f(batches):\n    strategy.run(flat, args=(next(batches),))\n\n"
    "f(iter(strategy.experimental_distribute_dataset(data)))",
    "mapped": "@tf.function\ndef f():\n    for x in data.map(lambda x: x * 2.0):\n        flat(x)\n\nf()",
    "a signature": "f = tf.function(flat, jit_compile=True, input_signature=[spec])\nf(rows)",
    "of a decorator": "@tf.function(input_signature=[spec])\ndef f(x):\n    return range(x.shape[0] * 2)\n\nf(rows)",
    "of a method": "class Net(tf.Module):\n    @tf.function(input_signature=(spec,))\n    def __call__(self, x):\n"
    "        rows, columns, _ = x.shape\n        return tf.zeros([rows, columns])\n\nNet()(rows)",
}
WORKS: Final = {
    "a loop in Python": "f = tf.function(flat, jit_compile=True)\nfor x in data:\n    f(x)",
    "distributed, in Python": "@tf.function\ndef f(x):\n    strategy.run(flat, args=(x,))\n\n"
    "for x in strategy.experimental_distribute_dataset(data):\n    f(x)",
    "without a last one": "@tf.function\ndef f():\n    for x in even:\n        flat(x)\n\nf()",
    "another dimension": "@tf.function\ndef f():\n"
    "    for x in data:\n        tf.zeros([x.shape[1], x.shape[-1]])\n\nf()",
    "asked for": "@tf.function\ndef f():\n    for x in data:\n        n = x.shape[0]\n        if n is None:\n"
    "            n = tf.shape(x)[0]\n        tf.zeros([n])\n\nf()",
    "said": "@tf.function\ndef f():\n"
    "    for x in data.take(2):\n        x.set_shape([4, 2, 3])\n        flat(x)\n\nf()",
    "ensured": "@tf.function\ndef f():\n    for x in data.take(2):\n        flat(tf.ensure_shape(x, [4, 2, 3]))\n\nf()",
    "a row": "@tf.function\ndef f():\n    for x in data:\n        tf.zeros([x[0].shape[0]])\n\nf()",
    "turned": "@tf.function\ndef f():\n"
    "    for x in data:\n        tf.zeros([tf.transpose(x, [1, 0, 2]).shape[0]])\n\nf()",
    "each row": "@tf.function\ndef f():\n"
    "    for x in data:\n        for row in x:\n            tf.zeros([row.shape[0]])\n\nf()",
    "mapped row by row": "@tf.function\ndef f():\n    for x in data:\n"
    "        tf.map_fn(lambda row: tf.zeros([row.shape[0]]), x)\n\nf()",
    "summed up": "@tf.function\ndef f():\n    for x in data:\n        tf.zeros([tf.reduce_sum(x, 0).shape[0]])\n\nf()",
    "any": "@tf.function\ndef f():\n    for x in data:\n        tf.ensure_shape(x, [x.shape[0], 2, 3])\n\nf()",
    "a signature of numbers": "f = tf.function(flat, input_signature=[tf.TensorSpec([10, 2, 3])])\nf(rows)",
    "no signature": "f = tf.function(flat, input_signature=None)\nf(rows)",
    "another parameter": "@tf.function(input_signature=[spec, tf.TensorSpec([4])])\ndef f(x, y):\n"
    "    return tf.zeros([y.shape[0]]) + tf.reduce_sum(x)\n\nf(rows, tf.ones([4]))",
}


def _program(name: str) -> str:
    return PROGRAM.format(program=(FAILS | WORKS)[name])


@pytest.mark.parametrize("name", [*FAILS, *WORKS])
def test_a_dimension_that_a_graph_does_not_know(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_program(name), encoding="utf-8")
    found = [one.code for one in check([tmp_path], Settings(target="tpu")).findings]
    assert found.count("XLA209") == (name in FAILS)


@pytest.mark.compiler
@pytest.mark.parametrize("name", FAILS)
def test_its_use_fails(name: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match="None"):
        _run(name, tmp_path)


@pytest.mark.compiler
@pytest.mark.parametrize("name", WORKS)
def test_others_work(name: str, tmp_path: Path) -> None:
    _run(name, tmp_path)


def _run(name: str, folder: Path) -> None:
    """Run a program from a file: AutoGraph converts nothing of which it does not find the source."""
    file = folder / "program.py"
    file.write_text(_program(name), encoding="utf-8")
    runpy.run_path(str(file))
