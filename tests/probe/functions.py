"""Functions for the commands that probe: one of each kind."""

from typing import Final

FUNCTIONS: Final = """\
import tensorflow as tf


# xlalint: probe(x: f32[6], n: i32[])
@tf.function(jit_compile=True)
def size(x, n):
    return tf.reduce_sum(x[:n])


# xlalint: probe(x: f32[6])
@tf.function(jit_compile=True, autograph=False)
def step(x):
    if tf.reduce_sum(x) > 10.0:
        x = x / 2.0
    return x


# xlalint: probe(x: f32[6])
@tf.function(jit_compile=True)
def fine(x):
    return x * 2.0
"""
