"""Losses made by a factory and compiled elsewhere."""

import tensorflow as tf


# case: keras vision.compiled:detector_loss(f32[6, 4], f32[6, 4])
def build_loss(weight, ignore=-1.0):
    def loss(y_true, y_pred):
        used = tf.reduce_any(tf.not_equal(y_true, ignore), axis=-1)
        error = tf.reduce_sum(tf.abs(y_true - y_pred), axis=-1)
        return weight * tf.reduce_mean(error[used])  # hazard: XLA201 named

    return loss


# case: keras vision.compiled:smooth_loss(f32[6, 4], f32[6, 4])
def build_smooth_loss(weight, power=1):
    def loss(y_true, y_pred):
        error = tf.reduce_sum(tf.abs(y_true - y_pred), axis=-1)
        if power > 1 and weight != 0:
            error = error**power
        return weight * tf.reduce_mean(error)

    return loss
