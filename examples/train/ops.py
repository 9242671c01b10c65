"""Helpers for batches of padded sequences. Padding is all zeros."""

import tensorflow as tf


def lengths(features):
    """How many steps of each sequence are not padding."""
    used = tf.reduce_any(features != 0.0, axis=-1)
    return tf.reduce_sum(tf.cast(used, tf.int32), axis=-1)


def trim(features):
    """Cut off the steps that are padding in the whole batch."""
    longest = tf.reduce_max(lengths(features))
    return features[:, :longest]


def normalise(features):
    """Trimmed, and divided by the largest value where that is large."""
    features = trim(features)
    if tf.reduce_max(tf.abs(features)) > 3.0:
        features = features / tf.reduce_max(tf.abs(features))
    return features


def prepare(features):
    """What the model works on."""
    return normalise(tf.cast(features, tf.float32))
