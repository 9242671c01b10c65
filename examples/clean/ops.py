"""Helpers for batches of padded sequences. Padding is all zeros, and stays: shapes do not depend on data."""

import tensorflow as tf


def normalise(features):
    """Divided by the largest value where that is large."""
    peak = tf.reduce_max(tf.abs(features))
    return features / tf.where(peak > 3.0, peak, 1.0)


def prepare(features):
    """What the model works on."""
    return normalise(tf.cast(features, tf.float32))
