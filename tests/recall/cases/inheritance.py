"""Hooks, mixins, base classes and `super()`."""

import abc

import keras
import tensorflow as tf


# case: MaskedPooling(f32[4, 3])
class Pooling(keras.layers.Layer, abc.ABC):
    """The base class owns `call`; the hazard stands in the subclass."""

    def call(self, states):
        return tf.reduce_mean(self.select(states), axis=0)

    @abc.abstractmethod
    def select(self, states):
        """The rows to pool."""


class MaskedPooling(Pooling):
    def select(self, states):
        return tf.boolean_mask(states, states[:, 0] > 0)  # hazard: XLA201 named


# case: PlainPooling(f32[4, 3])
class PlainPooling(Pooling):
    def select(self, states):
        return states[:2]


# case: ThresholdGate(f32[4, 3])
class GateMixin:
    threshold = 0.5

    def is_open(self, states):
        return tf.reduce_mean(states) > self.threshold

    def has_threshold(self):
        return self.threshold > 0


class ThresholdGate(GateMixin, keras.layers.Layer):
    def call(self, states):
        if self.has_threshold():
            states = states * 2.0
        if self.is_open(states):  # hazard: XLA101 fails
            return states
        return -states


# case: SmoothGate(f32[4, 3])
class SmoothGate(GateMixin, keras.layers.Layer):
    def call(self, states):
        if self.has_threshold():
            states = states * 2.0
        return tf.where(self.is_open(states), states, -states)


# case: DeepEncoder(f32[4, 3])
class Encoder(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.depth = 2
        self.trim = None

    def call(self, states, training=None):
        for _ in range(self.depth):
            states = self.block(states)
        return self.finish(states)

    def block(self, states):
        return tf.nn.relu(states)

    def finish(self, states):
        if self.trim is not None:
            return states[: self.trim]
        return states


class DeepEncoder(Encoder):
    def block(self, states):
        states = super().block(states)
        length = tf.math.count_nonzero(states[:, 0], dtype=tf.int32)
        padded = tf.pad(states, [[0, length], [0, 0]])  # hazard: XLA205 recompiles
        return padded[:4]


# case: ShallowEncoder(f32[4, 3])
class ShallowEncoder(Encoder):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.trim = 3
        self.depth = 1

    def block(self, states):
        states = super().block(states)
        return tf.pad(states, [[0, self.trim], [0, 0]])[:4]


# case: ParentCall(f32[4, 3])
class CheckedLayer(keras.layers.Layer):
    def call(self, states):
        assert tf.reduce_all(states < 100.0)  # hazard: XLA105 fails
        return states


class ParentCall(CheckedLayer):
    def call(self, states):
        return super().call(states) * 2.0


# case: ParentCallClean(f32[4, 3])
class UncheckedLayer(keras.layers.Layer):
    def call(self, states):
        assert states.shape.rank == 2, states
        return states


class ParentCallClean(UncheckedLayer):
    def call(self, states):
        return super().call(states) * 2.0


# case: TypedHead(f32[4, 3])
class Head:
    @classmethod
    def strongest(cls, scores):
        return tf.argmax(tf.reduce_sum(scores, axis=1))

    @staticmethod
    def pick(scores, index):
        return scores[index]  # hazard: XLA206 recompiles


class TypedHead(keras.layers.Layer):
    def call(self, scores):
        return Head.pick(scores, Head.strongest(scores))


# case: TypedHeadClean(f32[4, 3])
class StaticHead:
    index = 1

    @classmethod
    def strongest(cls):
        return cls.index

    @staticmethod
    def pick(scores, index):
        return scores[index]


class TypedHeadClean(keras.layers.Layer):
    def call(self, scores):
        return StaticHead.pick(scores, StaticHead.strongest())


# case: callable_object(f32[4])
class Warmup:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, step):
        if tf.reduce_max(step) > self.steps:  # hazard: XLA101 named
            return step * 0.0 + 1.0
        return step / self.steps


warmup = Warmup(3.0)


@tf.function(jit_compile=True)
def callable_object(step):
    return warmup(step)


# case: callable_object_clean(f32[4])
class LinearWarmup:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, step):
        if self.steps <= 0:
            return tf.ones_like(step)
        return tf.minimum(step / self.steps, 1.0)


linear_warmup = LinearWarmup(3.0)


@tf.function(jit_compile=True)
def callable_object_clean(step):
    return linear_warmup(step)


# case: Nested(f32[4, 3])
class Inner(keras.layers.Layer):
    def call(self, states):
        return tf.reduce_sum(tf.gather(states, tf.where(states[:, 0] > 0)))  # hazard: XLA203 named


class Nested(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Inner()

    def call(self, states):
        return states * self.inner(states)


# case: NestedClean(f32[4, 3])
class InnerClean(keras.layers.Layer):
    def call(self, states):
        return tf.reduce_sum(tf.where(states[:, :1] > 0, states, 0.0))


class NestedClean(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.blocks = [InnerClean() for _ in range(2)]

    def call(self, states):
        for block in self.blocks:
            states = states * block(states)
        return states


# case: StopEarly(f32[4, 3])
class StopEarly(keras.layers.Layer):
    """Layers in a list, and a tensor that ends the loop over them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.blocks = [keras.layers.ReLU() for _ in range(3)]

    def call(self, states):
        for block in self.blocks:
            states = block(states) * 0.5
            if tf.reduce_max(states) < 0.1:  # hazard: XLA101 fails
                break
        return states


# case: DropBlocks(f32[4, 3])
class DropBlocks(keras.layers.Layer):
    def __init__(self, stop_after=2, **kwargs):
        super().__init__(**kwargs)
        self.stop_after = stop_after
        self.blocks = [keras.layers.ReLU() for _ in range(3)]

    def call(self, states, training=False):
        for index, block in enumerate(self.blocks):
            states = block(states) * 0.5
            if not training and index >= self.stop_after:
                break
        return states
