"""Frame operations; what is wrong with them depends on who calls."""

import tensorflow as tf


# case: speech.model:Recogniser(f32[4, 3])
def voiced(frames, threshold):
    return tf.boolean_mask(frames, tf.reduce_sum(frames, axis=1) > threshold)  # hazard: XLA201 named


def loud_enough(frames):
    return tf.reduce_mean(tf.abs(frames)) > 0.01


# case: speech.stream:Streamer(f32[4, 3])
def head(frames, amount):
    return frames[:amount]  # hazard: XLA205 recompiles


# case: speech.stream:FixedStreamer(f32[4, 3])
def tail(frames, amount):
    return frames[amount:]


# case: speech.stream:decode_stream(f32[4, 3])
def active(frames):
    return tf.where(tf.reduce_max(frames, axis=1) > 0)  # hazard: XLA203 named


# case: not run: only called with Python numbers
def frame_count(seconds, rate):
    if seconds * rate > 1000:
        return 1000
    return int(seconds * rate)


def energy_frames(frames, seconds=1.0, rate=3.0):
    return frames[: frame_count(seconds, rate)]
