"""Masks that are as wide as the longest of some lengths: as wide as what they are multiplied by."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.rewrites.trial import Program, rewritten

HEAD = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x, y, lengths: tf.Tensor):
"""

# What is written, and the size that the mask gets.
WIDE = {
    "a mask of rows": ("mask = tf.cast(tf.sequence_mask(lengths), x.dtype)\nreturn x * mask", "tf.shape(x)[-1]"),
    "the longest, by name": (
        "longest = tf.reduce_max(lengths)\nmask = tf.sequence_mask(lengths, longest, tf.float32)\nx *= mask\nreturn x",
        "tf.shape(x)[-1]",
    ),
    "a dimension before the width": (
        "mask = tf.sequence_mask(lengths, dtype=tf.float32)\nmask = tf.expand_dims(mask, 1)\nreturn x * mask",
        "tf.shape(x)[-1]",
    ),
    "a dimension behind the width": (
        "mask = tf.sequence_mask(lengths, dtype=tf.float32)[..., None]\nreturn tf.reduce_sum(x * mask)",
        "tf.shape(x)[-2]",
    ),
    "what is multiplied first": (
        "m = tf.sequence_mask(lengths, dtype=tf.float32)[:, tf.newaxis, :]\nx = x + y\ny = y * m\nreturn x * m",
        "tf.shape(y)[-1]",
    ),
}
KEPT = {
    "returned": "mask = tf.sequence_mask(lengths)\nreturn mask",
    "another length": "mask = tf.sequence_mask(lengths, tf.reduce_max(lengths) + 1, tf.float32)\nreturn x * mask",
    "what is bound anew before": "mask = tf.sequence_mask(lengths, dtype=tf.float32)\nx = x[0]\nreturn x * mask",
    "what is made later": "mask = tf.sequence_mask(lengths, dtype=tf.float32)\nz = x + 1.0\nreturn z * mask",
    "summed before": "m = tf.sequence_mask(lengths, dtype=tf.float32)\nm = tf.reduce_sum(m, 1)\nreturn x * m",
    "one position": "mask = tf.sequence_mask(lengths, dtype=tf.float32)[:, 0]\nreturn x * mask",
}


def fixed(body: str) -> str:
    return rewritten(Program(HEAD + indent(body, "    ") + "\n", (), "XLA205")).code.removeprefix(HEAD)


@pytest.mark.parametrize(("body", "size"), WIDE.values(), ids=WIDE.keys())
def test_a_mask_is_as_wide_as_what_it_is_multiplied_by(body: str, size: str) -> None:
    assert f"tf.sequence_mask(lengths, {size}" in fixed(body)


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT.keys())
def test_a_mask_whose_width_nothing_tells_stays(body: str) -> None:
    assert fixed(body) == indent(body, "    ") + "\n"
