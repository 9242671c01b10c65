"""Branches on ranks and sizes whose sides XLA cannot join: what is asked of Python instead, and what stays."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.rewrites.trial import Program, rewritten

HEAD = """\
import tensorflow as tf


def at_least(x, rank):
    return tf.reshape(x, tf.concat([tf.shape(x), tf.ones([tf.maximum(rank - tf.rank(x), 0)], tf.int32)], 0))


def missing(size, stride):
    return (stride - size % stride) % stride


def scaled(x, rank):
    return x * 2.0


@tf.function(jit_compile=True)
def f(x):
"""

# What a branch tests, and what it tests afterwards.
REFUSED = {
    "returns": "if tf.rank(x) < 3:\n    return x[..., None]\nelse:\n    return x",
    "returns of a function of the file": "if tf.rank(x) < 3:\n    return at_least(x, 3)\nreturn x",
    "two assignments": "if tf.rank(x) == 3:\n    y = x[None]\nelse:\n    y = x\nreturn y",
    "a pair of numbers for each dimension": "if tf.rank(x) == 1:\n    p = tf.constant([[1, 1]])\nelse:\n"
    "    p = tf.constant([[0, 0], [1, 1]])\nreturn tf.pad(x, p)",
}
JOINED = {
    "one rank on both sides": "if tf.rank(x) == 1:\n    return x * 2.0\nreturn x",
    "one rank, by a function of the file": "if tf.rank(x) == 1:\n    return scaled(x, 1)\nreturn x",
    "dimensions that are kept": "if tf.rank(x) == 1:\n    return tf.reduce_sum(x, keepdims=True)\nreturn x",
    "numbers that are only summed": "if tf.rank(x) == 1:\n    p = tf.constant([1])\nelse:\n"
    "    p = tf.constant([1, 2])\nreturn x * tf.cast(tf.reduce_sum(p), tf.float32)",
    "a size that stays": "if tf.shape(x)[0] > 3:\n    x = x * 2.0\nreturn x",
}
PADDED = "n = missing(tf.shape(x)[0], 4)\nif n > 0:\n    x = tf.pad(x, [[0, n]])\nreturn x"
OF_DATA = "n = missing(tf.shape(x)[0], 4) * tf.cast(x[0], tf.int32)\nif n > 0:\n    x = tf.pad(x, [[0, n]])\nreturn x"


def fixed(body: str, rule: str) -> str:
    return rewritten(Program(HEAD + indent(body, "    ") + "\n", (), rule)).code.removeprefix(HEAD)


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_a_rank_that_decides_what_xla_cannot_join_is_asked_of_python(body: str) -> None:
    assert fixed(body, "XLA101") == indent(body.replace("tf.rank(x)", "len(x.shape)"), "    ") + "\n"


@pytest.mark.parametrize("body", JOINED.values(), ids=JOINED.keys())
def test_what_xla_joins_stays(body: str) -> None:
    assert fixed(body, "XLA101") == indent(body, "    ") + "\n" == fixed(body, "XLA108")


def test_sizes_that_decide_on_a_size_are_asked_of_python_where_they_are_computed() -> None:
    assert "missing(x.shape[0], 4)" in fixed(PADDED, "XLA108")
    assert "missing(tf.shape(x)[0], 4)" in fixed(OF_DATA, "XLA108")
