"""Losses and metrics as people write them for Keras 3: AutoGraph converts none of this."""

import functools

import keras
import tensorflow as tf
from keras import ops

IGNORED = -1.0


# case: MaskedCrossEntropy(f32[6], f32[6])
class MaskedCrossEntropy(keras.losses.Loss):
    def call(self, y_true, y_pred):
        keep = y_true >= 0
        error = tf.boolean_mask(tf.square(y_true - y_pred), keep)  # hazard: XLA201 named
        return tf.reduce_mean(error)


# case: WeightedCrossEntropy(f32[6], f32[6])
class WeightedCrossEntropy(keras.losses.Loss):
    def call(self, y_true, y_pred):
        keep = tf.cast(y_true >= 0, y_pred.dtype)
        return tf.reduce_sum(tf.square(y_true - y_pred) * keep) / tf.maximum(tf.reduce_sum(keep), 1.0)


# case: keras masked_mae(f32[6], f32[6])
def valid_positions(labels):
    return tf.not_equal(labels, IGNORED)


def keep_valid(labels, predictions):
    valid = valid_positions(labels)
    return labels[valid], predictions[valid]  # hazard: XLA201 named, XLA201 named


def masked_mae(y_true, y_pred):
    labels, predictions = keep_valid(y_true, y_pred)
    return tf.reduce_mean(tf.abs(labels - predictions))


mae_model = keras.Sequential([keras.layers.Dense(1)])
mae_model.compile(loss=masked_mae, optimizer="sgd")


# case: keras huber_or_zero(f32[6], f32[6])
def huber_or_zero(y_true, y_pred):
    error = tf.reduce_mean(tf.abs(y_true - y_pred))
    if error < 0.01:  # hazard: XLA101 fails
        return tf.zeros_like(error)
    return error


# case: keras huber_or_mean(f32[6], f32[6])
def huber_or_mean(y_true, y_pred, delta=1.0):
    error = tf.abs(y_true - y_pred)
    if delta is None:
        return tf.reduce_mean(error)
    if error.shape.rank > 1:
        error = tf.reduce_mean(error, axis=-1)
    return tf.reduce_mean(tf.where(error < delta, 0.5 * error**2, delta * (error - 0.5 * delta)))


huber_model = keras.Sequential([keras.layers.Dense(1)])
huber_model.compile(
    optimizer="adam", loss={"low": huber_or_zero, "high": huber_or_mean}, metrics=["mae"], jit_compile=True
)


# case: keras hard_negatives(f32[6], f32[6])
def count_positives(y_true):
    return tf.reduce_sum(tf.cast(y_true > 0.0, tf.int32))


def hardest(losses, amount):
    return tf.math.top_k(losses, k=amount).values  # hazard: XLA205 recompiles


def hard_negatives(y_true, y_pred):
    losses = tf.abs(y_true - y_pred)
    return tf.reduce_mean(hardest(losses, count_positives(y_true)))


# case: keras fixed_hard_negatives(f32[6], f32[6])
def fixed_hardest(losses, amount):
    return tf.math.top_k(losses, k=amount).values


def fixed_hard_negatives(y_true, y_pred):
    losses = tf.abs(y_true - y_pred)
    return tf.reduce_mean(fixed_hardest(losses, losses.shape[0] // 2))


ranking_model = keras.Sequential([keras.layers.Dense(1)])
ranking_model.compile(optimizer="sgd", loss=hard_negatives, metrics=[fixed_hard_negatives])


# case: Recall(f32[6], f32[6])
class Recall(keras.metrics.Metric):
    def __init__(self, name="recall", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        positive = y_true > 0
        found = tf.reduce_sum(tf.cast(positive & (y_pred > 0), tf.float32))
        total = tf.reduce_sum(tf.cast(positive, tf.float32))
        if total == 0:  # hazard: XLA101 fails
            return
        self.hits.assign_add(found)
        self.seen.assign_add(total)

    def result(self):
        return self.hits / (self.seen + 1e-6)


# case: SafeRecall(f32[6], f32[6])
class SafeRecall(keras.metrics.Metric):
    def __init__(self, name="safe_recall", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        positive = y_true > 0
        if sample_weight is not None:
            y_pred = y_pred * sample_weight
        self.hits.assign_add(tf.reduce_sum(tf.cast(positive & (y_pred > 0), tf.float32)))
        self.seen.assign_add(tf.reduce_sum(tf.cast(positive, tf.float32)))

    def result(self):
        return tf.math.divide_no_nan(self.hits.value, self.seen.value)


# case: ContrastiveLoss(f32[6], f32[6])
class ContrastiveLoss(keras.losses.Loss):
    def __init__(self, margin=1.0, **kwargs):
        super().__init__(**kwargs)
        self.margin = margin

    def call(self, y_true, y_pred):
        similar = self._pairs(y_true, y_pred)
        return tf.reduce_mean(tf.square(similar)) + self.margin

    def _pairs(self, y_true, y_pred):
        where_same = tf.where(y_true > 0)  # hazard: XLA203 named
        return tf.gather_nd(y_pred, where_same)


# case: MarginLoss(f32[6], f32[6])
class MarginLoss(keras.losses.Loss):
    def __init__(self, margin=1.0, **kwargs):
        super().__init__(**kwargs)
        self.margin = margin

    def call(self, y_true, y_pred):
        if self.margin > 0.5:
            y_pred = y_pred - self.margin
        return tf.reduce_mean(tf.where(y_true > 0, tf.square(y_pred), tf.zeros_like(y_pred)))


# case: BalancedLoss(f32[6], f32[6])
class BalancedLoss(keras.losses.Loss):
    def call(self, y_true, y_pred):
        positives = ops.sum(ops.cast(y_true > 0, "float32"))
        weight = 2.0 if positives > 3.0 else 1.0  # hazard: XLA101 fails
        return weight * ops.mean(ops.abs(y_true - y_pred))


# case: SoftBalancedLoss(f32[6], f32[6])
class SoftBalancedLoss(keras.losses.Loss):
    def call(self, y_true, y_pred):
        positives = ops.sum(ops.cast(y_true > 0, "float32"))
        weight = ops.where(positives > 3.0, 2.0, 1.0)
        return weight * ops.mean(ops.abs(y_true - y_pred))


# case: keras clipped_loss(f32[6], f32[6])
def clip_to(limit, y_true, y_pred):
    error = tf.abs(y_true - y_pred)
    largest = float(tf.reduce_max(error))  # hazard: XLA106 fails
    return tf.reduce_mean(error) * min(limit, largest)


clipped_loss = functools.partial(clip_to, 3.0)
clipped_model = keras.Sequential([keras.layers.Dense(1)])
clipped_model.compile("sgd", clipped_loss)


# case: keras scaled_loss(f32[6], f32[6])
def scale_by(limit, y_true, y_pred):
    error = tf.abs(y_true - y_pred)
    return tf.reduce_mean(error) * min(limit, float(error.shape[0]))


scaled_loss = functools.partial(scale_by, 3.0)
scaled_model = keras.Sequential([keras.layers.Dense(1)])
scaled_model.compile("sgd", scaled_loss)


# case: keras dice(f32[4, 3], f32[4, 3])
def per_class(y_true, y_pred):
    for truth, prediction in zip(tf.transpose(y_true), tf.transpose(y_pred)):  # hazard: XLA103 fails, XLA103 fails
        yield tf.reduce_sum(truth * prediction)


def dice(y_true, y_pred):
    return tf.add_n(list(per_class(y_true, y_pred)))


# case: keras static_dice(f32[4, 3], f32[4, 3])
def static_per_class(y_true, y_pred):
    for truth, prediction in zip(tf.unstack(y_true, axis=1), tf.unstack(y_pred, axis=1)):
        yield tf.reduce_sum(truth * prediction)


def static_dice(y_true, y_pred):
    return tf.add_n(list(static_per_class(y_true, y_pred)))


segmentation = keras.Sequential([keras.layers.Dense(3)])
segmentation.compile(loss=[dice, static_dice], optimizer="sgd")


# case: keras focal.loss(f32[6], f32[6])
class Focal:
    """A plain object whose bound method is the loss."""

    def __init__(self, gamma):
        self.gamma = gamma

    def loss(self, y_true, y_pred):
        hard = tf.reduce_any(y_pred < 0)
        assert hard, "nothing to learn from"  # hazard: XLA105 fails
        return tf.reduce_mean(tf.abs(y_true - y_pred) ** self.gamma)


focal = Focal(2.0)
focal_model = keras.Sequential([keras.layers.Dense(1)])
focal_model.compile(optimizer="sgd", loss=focal.loss)


# case: keras checked.loss(f32[6], f32[6])
class Checked:
    def __init__(self, gamma):
        self.gamma = gamma

    def loss(self, y_true, y_pred):
        assert self.gamma > 0
        assert y_pred.shape[0] == y_true.shape[0]
        assert y_pred.dtype == tf.float32
        return tf.reduce_mean(tf.abs(y_true - y_pred) ** self.gamma)


checked = Checked(2.0)
checked_model = keras.Sequential([keras.layers.Dense(1)])
checked_model.compile(optimizer="sgd", loss=checked.loss)
