"""Source that the tests of the command line, the engine and the cache share."""

from __future__ import annotations

from typing import Final

HAZARD: Final = """\
import tensorflow as tf


@tf.function(jit_compile=True, autograph=False)
def step(x):
    if tf.reduce_sum(x) > 10.0:
        x = x / 2.0
    return x
"""
"""One error: XLA101 at line 6, columns 8 to 31."""

FIXABLE: Final = """\
import tensorflow as tf


@tf.function(jit_compile=True, autograph=False)
def step(x):
    m = tf.reduce_sum(x) > 10.0
    return tf.cast(not m, x.dtype)
"""
"""One finding, XLA104 in the last line, with a safe fix."""

FIXED: Final = FIXABLE.replace("not m", "tf.logical_not(m)")
