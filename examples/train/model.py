"""A model that labels every step of a sequence, and its loss."""

import keras
import tensorflow as tf

from ops import prepare

IGNORED = -1


class Smooth(keras.layers.Layer):
    """Mixes every step with the mean of its sequence."""

    def __init__(self, strength=0.5, **kwargs):
        super().__init__(**kwargs)
        self.strength = strength

    def build(self, input_shape):
        self.gain = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="gain")

    def call(self, features):
        if self.strength > 0:
            mean = tf.reduce_sum(features, axis=1, keepdims=True) / 12.0
            features = (1.0 - self.strength) * features + self.strength * mean
        return features * self.gain


class Tagger(keras.Model):
    """Padded features (batch, steps, channels) to logits (batch, steps, classes)."""

    def __init__(self, classes, **kwargs):
        super().__init__(**kwargs)
        self.smooth = Smooth()
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.logits = keras.layers.Dense(classes)

    def call(self, features):
        steps = features.shape[1]
        logits = self.logits(self.hidden(self.smooth(prepare(features))))
        return tf.pad(logits, [[0, 0], [0, steps - tf.shape(logits)[1]], [0, 0]])


def masked_loss(labels, logits):
    """The mean cross-entropy of the steps that have a label."""
    mask = labels != IGNORED
    labels, logits = labels[mask], logits[mask]
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels, tf.int32), logits)
    return tf.reduce_mean(loss)
