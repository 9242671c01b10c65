"""Attention layers: masks that are attributes, closures and helpers several calls away."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers


# case: CausalAttention(f32[2, 4, 3])
class CausalAttention(layers.Layer):
    """The mask is made in one method and used in another."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.visible = None

    def remember(self, scores):
        self.visible = scores > 0

    def call(self, scores):
        self.remember(scores)
        kept = scores[self.visible]  # hazard: XLA201 named
        return scores * tf.reduce_mean(kept)


# case: TriangularAttention(f32[2, 4, 3])
class TriangularAttention(layers.Layer):
    """A mask that `build` makes with NumPy has a constant number of true elements."""

    def build(self, input_shape):
        self.rows = np.tril(np.ones((input_shape[-2], input_shape[-1]), bool))

    def call(self, scores):
        flat = tf.reshape(scores, [tf.shape(scores)[0], -1])
        kept = tf.gather(flat, np.flatnonzero(self.rows), axis=1)
        return tf.reduce_mean(kept, axis=1)


# case: SparseAttention(f32[4, 4])
def top_scores(scores, keep):
    return tf.nn.top_k(scores, keep)[0]  # hazard: XLA205 recompiles


def prune(scores, keep):
    lowest = tf.reduce_min(top_scores(scores, keep), axis=-1, keepdims=True)
    return tf.where(scores < lowest, tf.zeros_like(scores), scores)


def attend(scores, lengths):
    return prune(scores, tf.reduce_max(lengths))


class SparseAttention(layers.Layer):
    def call(self, scores):
        lengths = tf.reduce_sum(tf.cast(scores > 0, tf.int32), axis=-1)
        return attend(scores, tf.maximum(lengths, 1))


# case: FixedSparseAttention(f32[4, 4])
def fixed_top_scores(scores, keep):
    return tf.nn.top_k(scores, keep)[0]


def fixed_prune(scores, keep):
    lowest = tf.reduce_min(fixed_top_scores(scores, keep), axis=-1, keepdims=True)
    return tf.where(scores < lowest, tf.zeros_like(scores), scores)


class FixedSparseAttention(layers.Layer):
    def __init__(self, keep=2, **kwargs):
        super().__init__(**kwargs)
        self.keep = keep

    def call(self, scores):
        return fixed_prune(scores, min(self.keep, scores.shape[-1]))


# case: PaddingAttention(f32[4, 3])
class PaddingAttention(layers.Layer):
    def compute_mask_of(self, states):
        return tf.reduce_any(tf.not_equal(states, 0.0), axis=-1)

    def call(self, states, mask=None):
        if mask is None:
            mask = self.compute_mask_of(states)
        if not tf.reduce_all(mask):  # hazard: XLA101 fails
            states = states * tf.cast(mask, states.dtype)[:, None]
        return states


# case: PlainPaddingAttention(f32[4, 3])
class PlainPaddingAttention(layers.Layer):
    def call(self, states, mask=None, training=False):
        if mask is None:
            mask = tf.reduce_any(tf.not_equal(states, 0.0), axis=-1)
        if training:
            states = tf.nn.dropout(states, 0.1)
        if states.shape[-1] == 3 and len(states.shape) == 2:
            states = states * tf.cast(mask, states.dtype)[:, None]
        return states


# case: WindowAttention(f32[6, 3])
class WindowAttention(layers.Layer):
    def window_start(self, states):
        return tf.cast(tf.reduce_sum(states) > 0, tf.int32)

    def call(self, states):
        start = self.window_start(states)
        window = states[start : start + 2]  # hazard: XLA206 recompiles
        return tf.reduce_mean(window, axis=0)


# case: StaticWindowAttention(f32[6, 3])
class StaticWindowAttention(layers.Layer):
    width = 2

    def call(self, states):
        start = states.shape[0] // 2
        window = states[start : start + self.width]
        last = states[-1]
        return tf.reduce_mean(window, axis=0) + last


# case: LengthMask(f32[4, 3])
class LengthMask(layers.Layer):
    def call(self, states):
        lengths = tf.reduce_sum(tf.cast(states > 0, tf.int32), axis=1)
        mask = make_mask(lengths)
        return tf.reduce_sum(tf.cast(mask, tf.float32))


def make_mask(lengths, size=None):
    if size is None:
        return tf.sequence_mask(lengths)  # hazard: XLA205 recompiles
    return tf.sequence_mask(lengths, maxlen=size)


# case: BoundedLengthMask(f32[4, 3])
class BoundedLengthMask(layers.Layer):
    def call(self, states):
        lengths = tf.reduce_sum(tf.cast(states > 0, tf.int32), axis=1)
        mask = bounded_mask(lengths, size=states.shape[1])
        return states * tf.cast(mask, tf.float32)


def bounded_mask(lengths, size=None):
    if size is None:
        size = 128
    return tf.sequence_mask(lengths, maxlen=size)


# case: GatedHeads(f32[4, 3])
class GatedHeads(layers.Layer):
    """A closure over a tensor decides."""

    def call(self, heads):
        open_gate = tf.reduce_mean(heads) > 0

        def gate(head):
            return head * 2.0 if open_gate else head  # hazard: XLA101 fails

        return tf.stack([gate(head) for head in tf.unstack(heads)])


# case: SelectedHeads(f32[4, 3])
class SelectedHeads(layers.Layer):
    def call(self, heads):
        open_gate = tf.reduce_mean(heads) > 0

        def gate(head):
            return tf.where(open_gate, head * 2.0, head)

        return tf.stack([gate(head) for head in tf.unstack(heads)])


# case: HeadLoop(f32[4, 3])
class HeadLoop(layers.Layer):
    def call(self, heads):
        total = tf.zeros([3])
        for head in self.split_heads(heads):  # hazard: XLA103 fails
            total += tf.nn.softmax(head)
        return total

    def split_heads(self, heads):
        return tf.transpose(tf.transpose(heads))


# case: UnstackedHeadLoop(f32[4, 3])
class UnstackedHeadLoop(layers.Layer):
    def call(self, heads):
        total = tf.zeros([3])
        for head in self.split_heads(heads):
            total += tf.nn.softmax(head)
        for index in range(heads.shape[0]):
            total += heads[index]
        return total

    def split_heads(self, heads):
        return tf.unstack(heads)


# case: RelativeBias(f32[4, 4])
class RelativeBias(layers.Layer):
    def build(self, input_shape):
        self.table = self.add_weight(shape=(8, 4), initializer="ones", name="table")

    def call(self, scores):
        offset = tf.argmax(tf.reduce_sum(scores, axis=1), output_type=tf.int32)
        return scores + self.row(offset)

    def row(self, offset):
        return tf.convert_to_tensor(self.table)[offset]  # hazard: XLA206 recompiles


# case: GatheredBias(f32[4, 4])
class GatheredBias(layers.Layer):
    def build(self, input_shape):
        self.table = self.add_weight(shape=(8, 4), initializer="ones", name="table")

    def call(self, scores):
        offset = tf.argmax(tf.reduce_sum(scores, axis=1), output_type=tf.int32)
        return scores + self.row(offset)

    def row(self, offset):
        return tf.gather(tf.convert_to_tensor(self.table), offset)


# case: Router(f32[4, 3])
class Router(layers.Layer):
    """Conditions and Python's own `and`."""

    def call(self, tokens):
        load = tf.reduce_sum(tokens)
        peak = tf.reduce_max(tokens)
        overloaded = load > 1.0 and peak > 0.5  # hazard: XLA104 fails
        return tokens * tf.cast(overloaded, tf.float32)


# case: LogicalRouter(f32[4, 3])
class LogicalRouter(layers.Layer):
    use_peak = True

    def call(self, tokens):
        load = tf.reduce_sum(tokens)
        peak = tf.reduce_max(tokens)
        overloaded = tf.logical_and(load > 1.0, peak > 0.5) | (load < -3.0)
        scale = self.use_peak and tokens.shape[0] > 2
        return tokens * tf.cast(overloaded, tf.float32) * float(scale)


# case: ExpertChoice(f32[4, 3])
class ExpertChoice(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.experts = [layers.Dense(3, kernel_initializer="ones") for _ in range(3)]

    def call(self, tokens):
        choice = tf.argmax(tf.reduce_sum(tokens, axis=0))
        return self.experts[choice](tokens)  # hazard: XLA106 fails


# case: WeightedExperts(f32[4, 3])
class WeightedExperts(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.experts = [layers.Dense(3, kernel_initializer="ones") for _ in range(3)]

    def call(self, tokens):
        weights = tf.unstack(tf.nn.softmax(tf.reduce_sum(tokens, axis=0)))
        return tf.add_n([weight * expert(tokens) for weight, expert in zip(weights, self.experts)])
