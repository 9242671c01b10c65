"""Tensors that were made before the trace: Python can read them in it, and XLA gets them as arguments."""

import numpy as np
import tensorflow as tf

KEEP = tf.constant([True, False, True, True])
LIMIT = tf.constant(2)
FLAG = tf.constant(True)
ARRAY = np.array([True, False, True, True])


class Settings:
    keep = tf.constant([True, False, True, True])
    double = tf.constant(True)


# case: of_the_module(f32[4])
def of_the_module(x):
    return tf.reduce_mean(x[KEEP])  # hazard: XLA201 named


# case: counts_the_padding(f32[4])
def counts_the_padding(x):
    return tf.reduce_sum(tf.ones_like(tf.boolean_mask(x, KEEP)))  # hazard: XLA201 diverges


# case: made_of_it(f32[4])
def made_of_it(x):
    kept = tf.logical_not(KEEP)
    return tf.reduce_sum(tf.ones_like(x[kept]))  # hazard: XLA201 diverges


# case: its_positions(f32[4])
def its_positions(x):
    return tf.reduce_mean(tf.gather(x, tf.where(KEEP)[:, 0]))  # hazard: XLA203 named


# case: of_a_class(f32[4])
def of_a_class(x):
    return tf.reduce_sum(tf.ones_like(x[Settings.keep]))  # hazard: XLA201 diverges


# case: Selecting(f32[4])
class Selecting(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.keep = tf.constant([True, False, True, True])
        self.least = tf.range(4)

    def call(self, x):
        first = tf.reduce_mean(x[self.keep])  # hazard: XLA201 named
        return first + tf.reduce_mean(x[self.least > 1])  # hazard: XLA201 named


# case: folded(f32[4])
def folded(x):
    kept = tf.constant([True, False, True, True])
    return tf.reduce_sum(tf.ones_like(x[kept])) + tf.reduce_sum(x[ARRAY]) + tf.reduce_sum(x[KEEP.numpy()])


# case: sizes(f32[4])
def sizes(x):
    return x[:LIMIT] + tf.zeros([LIMIT]) + tf.cast(tf.range(LIMIT), tf.float32)


# case: read_by_python(f32[4])
@tf.function(jit_compile=True, autograph=False)
def read_by_python(x):
    assert FLAG
    if FLAG:
        x = x + 1.0
    if not FLAG or not Settings.double:
        x = x * 2.0
    for _ in range(LIMIT):
        x = x - float(LIMIT)
    return tf.stack([part for part in tf.unstack(x) if FLAG]) + LIMIT.numpy()


# case: computed_while_tracing(f32[4])
@tf.function(jit_compile=True, autograph=False)
def computed_while_tracing(x):
    if LIMIT > 1:  # hazard: XLA101 fails
        x = x + 1.0
    return x


# case: negated_while_tracing(f32[4])
@tf.function(jit_compile=True, autograph=False)
def negated_while_tracing(x):
    if -LIMIT:  # hazard: XLA101 fails
        x = x + 1.0
    return x


# case: passed(f32[4])
def passed(x):
    return inner(x, KEEP)


@tf.function(jit_compile=True)
def inner(x, mask):
    return tf.reduce_mean(x[mask])  # hazard: XLA201 named


# case: Switched(f32[4, 3])
class Switched(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.double = tf.constant(True)

    def call(self, x):
        if self.double:
            x = x * 2.0
        return x * 3.0 if self.double and x.shape[0] else x
