"""Normalisation and preprocessing: assertions, host reads, NumPy in the middle of tensors."""

import math

import keras
import numpy as np
import tensorflow as tf
from keras import layers


# case: standardise(f32[4, 3])
def deviation(values):
    return np.sqrt(tf.math.reduce_variance(values))  # hazard: XLA106 fails


def centred(values):
    return values - tf.reduce_mean(values)


@tf.function(jit_compile=True)
def standardise(values):
    return centred(values) / deviation(values)


# case: standardise_tensor(f32[4, 3])
def scale_of(values):
    return tf.sqrt(tf.math.reduce_variance(values)) + np.sqrt(float(np.prod(values.shape)))


@tf.function(jit_compile=True)
def standardise_tensor(values):
    return centred(values) / scale_of(values) * np.ones((4, 3), "float32")


# case: check_range(f32[4])
def ensure_finite(values):
    assert tf.reduce_all(tf.math.is_finite(values))  # hazard: XLA105 fails
    return values


@tf.function(jit_compile=True)
def check_range(values):
    return ensure_finite(values) * 2.0


# case: check_rank(f32[4])
def ensure_vector(values):
    assert values.shape.rank == 1
    assert len(values.shape) == 1 and values.dtype.is_floating
    return values


@tf.function(jit_compile=True)
def check_rank(values):
    return ensure_vector(values) * 2.0


# case: report(f32[4])
@tf.function(jit_compile=True)
def report(values):
    mean = tf.reduce_mean(values).numpy()  # hazard: XLA106 fails
    return values - mean


# case: report_name(f32[4])
@tf.function(jit_compile=True)
def report_name(values):
    label = f"{values.shape} {values}"
    print(label, values)
    return values - tf.reduce_mean(values)


# case: RunningNorm(f32[4, 3])
class RunningNorm(layers.Layer):
    """The state of a layer decides."""

    def build(self, input_shape):
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False, name="seen")

    def call(self, values):
        if self.seen > 0:  # hazard: XLA101 fails
            values = values * 0.5
        return values


# case: ConfiguredNorm(f32[4, 3])
class ConfiguredNorm(layers.Layer):
    def __init__(self, epsilon=1e-3, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.axis = axis
        self.built_axes = None

    def build(self, input_shape):
        self.width = input_shape[self.axis]
        if self.width > 2:
            self.built_axes = [self.axis]

    def call(self, values):
        if self.epsilon > 0 and self.width == 3:
            values = values + self.epsilon
        if self.built_axes:
            values = values - tf.reduce_mean(values, axis=self.built_axes, keepdims=True)
        return values


# case: BatchSized(f32[4, 3])
class BatchSized(layers.Layer):
    def call(self, values):
        rows = len(values)  # hazard: XLA106 fails
        return values / float(rows)


# case: ShapeSized(f32[4, 3])
class ShapeSized(layers.Layer):
    def call(self, values):
        rows = values.shape[0]
        batch = tf.shape(values)[0]
        return values / float(rows) + tf.zeros([batch, 3])


# case: EdgeCase(f32[4, 3])
class EdgeCase(layers.Layer):
    """A size is a tensor too: what AutoGraph would convert, Keras does not."""

    def call(self, values):
        rows = tf.shape(values)[0]
        if rows > 2:  # hazard: XLA101 fails
            values = values[:2]
        return values


# case: StaticEdgeCase(f32[4, 3])
class StaticEdgeCase(layers.Layer):
    def call(self, values):
        rows = values.shape[0]
        if rows is not None and rows > 2:
            values = values[:2]
        return values


# case: convert_edge(f32[4, 3])
@tf.function(jit_compile=True)
def convert_edge(values):
    rows = tf.shape(values)[0]
    if rows > 2:
        values = values * 2.0
    for _ in tf.range(3):
        values = values + 1.0
    return values


# case: whiten(f32[4, 3])
def is_degenerate(values):
    spread = tf.math.reduce_std(values)
    return spread < 1e-3


@tf.function(jit_compile=True)
def whiten(values):
    return values if is_degenerate(values) else centred(values)  # hazard: XLA101 named


# case: whiten_static(f32[4, 3])
def is_single(values):
    return values.shape[0] == 1


@tf.function(jit_compile=True)
def whiten_static(values):
    return values if is_single(values) else centred(values)


# case: rescale(f32[4])
@tf.function(jit_compile=True)
def rescale(values):
    peak = tf.reduce_max(tf.abs(values))
    return values * math.exp(-int(peak))  # hazard: XLA106 fails, XLA106 named


# case: rescale_tensor(f32[4])
@tf.function(jit_compile=True)
def rescale_tensor(values):
    peak = tf.reduce_max(tf.abs(values))
    return values * tf.exp(-tf.floor(peak)) * math.exp(-int(values.shape[0]))


# case: clip_outliers(f32[6])
@tf.function(jit_compile=True)
def clip_outliers(values):
    limit = 2.0 * tf.math.reduce_std(values)
    if (peak := tf.reduce_max(values)) > limit:  # hazard: XLA101 fails
        values = values * limit / peak
    return values


# case: clip_outliers_where(f32[6])
@tf.function(jit_compile=True)
def clip_outliers_where(values):
    limit = 2.0 * tf.math.reduce_std(values)
    if (size := values.shape[0]) > 4:
        values = values * float(size)
    return tf.minimum(values, limit)


# case: by_mode(f32[4])
@tf.function(jit_compile=True)
def by_mode(values):
    mode = tf.cast(tf.reduce_sum(values) > 0, tf.int32)
    if mode in [1, 2]:  # hazard: XLA104 fails
        values = values * 2.0
    return values


# case: by_name(f32[4])
@tf.function(jit_compile=True)
def by_name(values, mode="sum"):
    if mode in ("sum", "mean"):
        values = values * 2.0
    return values


# case: quantile(f32[6])
@tf.function(jit_compile=True)
def quantile(values):
    values = tf.abs(values)
    return max(values) - min(values)  # hazard: XLA103 fails, XLA103 fails


# case: quantile_reduce(f32[6])
@tf.function(jit_compile=True)
def quantile_reduce(values):
    return tf.reduce_max(values) - tf.reduce_min(values) + max(values.shape)


# case: rank_split(f32[4, 3])
@tf.function(jit_compile=True)
def rank_split(values):
    if tf.reduce_sum(values) > 0:  # hazard: XLA108|XLA101 fails
        row = values[0]
    else:
        row = values
    return tf.reduce_sum(row)


# case: rank_kept(f32[4, 3])
@tf.function(jit_compile=True)
def rank_kept(values):
    if values.shape[0] > 3:
        row = values[0]
    else:
        row = values
    return tf.reduce_sum(row)


# case: dtype_split(f32[4, 3])
@tf.function(jit_compile=True)
def dtype_split(values):
    if tf.reduce_max(values) > 1:  # hazard: XLA108|XLA101 fails
        counts = tf.cast(values, tf.int32)
    else:
        counts = values
    return tf.cast(counts, tf.float32)


# case: dtype_kept(f32[4, 3])
@tf.function(jit_compile=True)
def dtype_kept(values):
    counts = tf.cast(values, tf.int32)
    if values.dtype == tf.float32:
        counts = tf.cast(counts, tf.float32)
    return counts


# case: one_sided(f32[4, 3])
def shrink(values):
    if tf.reduce_max(values) > 1:  # hazard: XLA108 fails
        return values * 0.5


@tf.function(jit_compile=True)
def one_sided(values):
    return shrink(values)


# case: both_sides(f32[4, 3])
def shrink_always(values):
    scale = tf.where(tf.reduce_max(values) > 1, 0.5, 1.0)
    return values * scale


@tf.function(jit_compile=True)
def both_sides(values):
    return shrink_always(values)


# case: optional_scale(f32[4, 3])
@tf.function(jit_compile=True)
def optional_scale(values):
    scale = None
    if tf.reduce_max(values) > 1:  # hazard: XLA108 fails
        scale = tf.reduce_max(values)
    return values if scale is None else values / scale


# case: given_scale(f32[4, 3])
@tf.function(jit_compile=True)
def given_scale(values, scale=None):
    if scale is None:
        scale = tf.reduce_max(values)
    return values if scale is None else values / scale
