"""Objectives, of which a setting names one."""

import tensorflow as tf


# case: not run: a setting says which of these is compiled
def squared(error):
    return tf.reduce_mean(error**2)


def distinct(error):
    return tf.reduce_sum(tf.unique_with_counts(error)[0])  # hazard: XLA202 fails
