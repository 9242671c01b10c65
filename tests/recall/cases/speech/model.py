"""The recogniser."""

import keras
import tensorflow as tf

from . import ops
from .layers import Frontend


# case: speech.model:Recogniser(f32[4, 3])
class Recogniser(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.frontend = Frontend()

    def call(self, frames):
        return self.summarise(self.frontend(frames)) * tf.reduce_mean(frames)

    def summarise(self, frames):
        return tf.reduce_mean(ops.voiced(frames, 0.0))


# case: speech.model:GatedRecogniser(f32[4, 3])
class GatedRecogniser(keras.Model):
    def call(self, frames):
        if ops.loud_enough(frames):  # hazard: XLA101 fails
            return frames
        return tf.zeros_like(frames)


# case: speech.model:StaticRecogniser(f32[4, 3])
class StaticRecogniser(keras.Model):
    def call(self, frames):
        if ops.frame_count(1.0, 3.0) > 2:
            frames = ops.energy_frames(frames)
        return frames
